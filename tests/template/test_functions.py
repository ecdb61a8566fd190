"""Each function: who it is, what it is built from, what it is told, where its lines go."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from layers.build import target_from

from herald import settings

ROOT = Path(__file__).resolve().parents[2]

# Function -> its layers. The agent's layer is heavy and may not even import: only those that need it carry it.
LAYERS = {
    "ApiFunction": ["DependenciesLayer", "HeraldLayer", "AgentLayer"],
    "AuthorizeFunction": ["DependenciesLayer", "HeraldLayer"],
    "PublishKeysFunction": ["DependenciesLayer", "HeraldLayer"],
    "StartWorkerFunction": ["DependenciesLayer", "HeraldLayer"],
    "RunAgentFunction": ["DependenciesLayer", "HeraldLayer", "AgentLayer"],
    "RingWebhooksFunction": ["DependenciesLayer", "HeraldLayer"],
    "SendWebhooksFunction": ["DependenciesLayer", "HeraldLayer"],
    "SweepFunction": ["DependenciesLayer", "HeraldLayer"],
}
EVERYBODYS = {"AWS_ENDPOINT_URL"}

Select = Callable[[str], dict[str, Any]]


@pytest.fixture
def functions(of_type: Select) -> dict[str, Any]:
    return of_type("AWS::Lambda::Function")


def folder(function: str) -> str:
    """run_agent for RunAgentFunction."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", function.removesuffix("Function")).lower()


def test_there_are_these_eight_functions(functions: dict[str, Any]) -> None:
    assert set(functions) == set(LAYERS)


@pytest.mark.parametrize("name", LAYERS)
def test_a_function_is_packed_from_its_own_folder(template: dict[str, Any], name: str) -> None:
    resource = template["Resources"][name]
    assert resource["Properties"]["CodeUri"] == f"functions/{folder(name)}/"
    assert resource["Metadata"] == {"SkipBuild": True}
    assert (ROOT / "functions" / folder(name) / "app.py").exists()


@pytest.mark.parametrize("name", LAYERS)
def test_a_function_starts_the_same_way(functions: dict[str, Any], name: str) -> None:
    function = functions[name]
    assert function["Handler"] == "app.handler"
    assert function["TracingConfig"] == {"Mode": "Active"}
    # A layer's id ends in a hash of its content, so that a new version replaces the old.
    assert [re.sub(r"[0-9a-f]{10}$", "", layer["Ref"]) for layer in function["Layers"]] == LAYERS[name]


@pytest.mark.parametrize("name", LAYERS)
def test_a_function_has_a_role_and_a_log_group_of_its_own(
    functions: dict[str, Any], of_type: Select, name: str
) -> None:
    stem = name.removesuffix("Function")
    assert functions[name]["Role"] == {"Fn::GetAtt": [f"{stem}Role", "Arn"]}
    assert functions[name]["LoggingConfig"] == {"LogFormat": "JSON", "LogGroup": {"Ref": f"{stem}Log"}}
    assert of_type("AWS::Logs::LogGroup")[f"{stem}Log"] == {"RetentionInDays": {"Ref": "LogRetention"}}


@pytest.mark.parametrize("name", LAYERS)
def test_a_function_is_told_exactly_what_its_settings_read(functions: dict[str, Any], name: str) -> None:
    model: type[settings.Settings] = getattr(settings, f"{name.removesuffix('Function')}Settings")
    told = set(functions[name]["Environment"]["Variables"]) - EVERYBODYS
    assert told == {settings.variable(field) for field in model.model_fields}


@pytest.mark.parametrize("name", LAYERS)
def test_a_function_can_be_pointed_at_an_emulator(functions: dict[str, Any], name: str) -> None:
    assert functions[name]["Environment"]["Variables"]["AWS_ENDPOINT_URL"] == {"Ref": "EndpointUrl"}


def test_the_defaults_are_python_3_13_on_arm64(template: dict[str, Any]) -> None:
    assert template["Parameters"]["Runtime"]["Default"] == "python3.13"
    assert template["Parameters"]["Architecture"]["Default"] == "arm64"


def test_functions_and_layers_follow_the_same_two_parameters(functions: dict[str, Any], of_type: Select) -> None:
    layers = of_type("AWS::Lambda::LayerVersion")
    assert len(layers) == 3
    for function in functions.values():
        assert function["Runtime"] == {"Ref": "Runtime"}
        assert function["Architectures"] == [{"Ref": "Architecture"}]
    for layer in layers.values():
        assert layer["CompatibleRuntimes"] == [{"Ref": "Runtime"}]
        assert layer["CompatibleArchitectures"] == [{"Ref": "Architecture"}]


def test_layers_are_built_for_the_runtime_that_the_template_names(template: dict[str, Any]) -> None:
    target = target_from({})
    assert f"python{target.version}" == template["Parameters"]["Runtime"]["Default"]
    assert target.architecture == template["Parameters"]["Architecture"]["Default"]


def test_reserved_concurrency_is_only_set_when_asked_for(functions: dict[str, Any]) -> None:
    assert functions["ApiFunction"]["ReservedConcurrentExecutions"] == {
        "Fn::If": ["HasApiReservedConcurrency", {"Ref": "ApiReservedConcurrency"}, {"Ref": "AWS::NoValue"}]
    }


def test_the_api_answers_within_what_the_gateway_waits(functions: dict[str, Any]) -> None:
    assert functions["ApiFunction"]["Timeout"] == 29


def test_the_agent_has_lambdas_whole_time(functions: dict[str, Any]) -> None:
    assert functions["RunAgentFunction"]["Timeout"] == 900
