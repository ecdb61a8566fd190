"""What `make invoke` asks for, and what a function in a container is told."""

from __future__ import annotations

import tomllib

import pytest
from local import invoke
from local.environments import ROOT
from local.stack import Place
from local.terminal import LocalError


def test_a_function_and_an_event_are_taken_as_they_are_named() -> None:
    event = "events/01-api-agent-card.json"
    assert invoke._asked({"FUNCTION": "ApiFunction", "EVENT": event}) == ("ApiFunction", event)


def test_the_usual_place_needs_no_more_than_the_documented_command() -> None:
    command = invoke._command(Place(ROOT / ".local", 4566), "SweepFunction", "events/12-sweep-schedule.json")
    assert command[0].endswith("sam")
    assert command[1:] == [
        "local",
        "invoke",
        "SweepFunction",
        "--config-env",
        "local",
        "--event",
        "events/12-sweep-schedule.json",
    ]


def test_another_place_is_named() -> None:
    command = invoke._command(Place(ROOT / "there", 4566), "SweepFunction", "events/12-sweep-schedule.json")
    there = str(ROOT / "there")
    assert command[-4:] == [
        "--template",
        f"{there}/container-build/template.yaml",
        "--env-vars",
        f"{there}/invoke.json",
    ]


def test_samconfig_names_the_files_of_the_usual_place() -> None:
    told = tomllib.loads((ROOT / "samconfig.toml").read_text())["local"]["local_invoke"]["parameters"]
    place = Place(ROOT / ".local", 4566)
    assert ROOT / told["template_file"] == place.container_build / "template.yaml"
    assert ROOT / told["env_vars"] == place.variables


def test_addresses_that_a_function_calls_are_the_door_and_the_samples_issuer_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(invoke, "DOOR", "172.17.0.1")
    deployed = {
        "AWS_ENDPOINT_URL": "http://localhost:4777",
        "HERALD_QUEUE_URL": "http://localhost:4777/000000000000/bells.fifo",
        "HERALD_PUBLIC_URL": "http://localhost:4777/_aws/execute-api/{apiId}/{stage}",
        "HERALD_AUTH_MODE": "none",
    }
    assert invoke._inside(deployed, "http://localhost:4777") == {
        "AWS_ENDPOINT_URL": "http://172.17.0.1:4777",
        "HERALD_QUEUE_URL": "http://172.17.0.1:4777/000000000000/bells.fifo",
        "HERALD_PUBLIC_URL": "http://localhost:4777/_aws/execute-api/{apiId}/{stage}",
        "HERALD_AUTH_MODE": "jwt",
    }
    authorize = {"HERALD_JWKS_URL": "", "HERALD_OIDC_ISSUER": "http://localhost:4777/_issuer"}
    assert invoke._inside(authorize, "http://localhost:4777") == {
        "HERALD_JWKS_URL": "http://172.17.0.1:4777/_issuer/samples.json",
        "HERALD_OIDC_ISSUER": "https://issuer.example.com",
    }


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({}, "make invoke FUNCTION=ApiFunction EVENT=events/01-api-agent-card.json"),
        ({"FUNCTION": "ApiFunction"}, "make invoke FUNCTION=ApiFunction EVENT="),
        ({"FUNCTION": "ApiFunction", "EVENT": "events/no.json"}, "EVENT=events/no.json isn't there"),
    ],
)
def test_what_is_missing_is_said_with_an_example(environment: dict[str, str], complaint: str) -> None:
    with pytest.raises(LocalError, match=complaint):
        invoke._asked(environment)
