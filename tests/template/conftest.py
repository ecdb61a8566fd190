"""The template as it is written, and as SAM's own translator hands it to CloudFormation."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).resolve().parents[2]

Template = dict[str, Any]
PACKAGED = ("CodeUri", "ContentUri", "DefinitionUri")  # what `sam package` replaces by addresses in a bucket


class NoManagedPolicies:
    """The account's list of managed policies: SAM must not ask for any."""

    def load(self) -> dict[str, str]:
        return {}


@pytest.fixture(scope="session")
def text() -> str:
    return (ROOT / "template.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def template(text: str) -> Template:
    """template.yaml, parsed."""
    parsed: Template = yaml_parse(text)
    return parsed


@pytest.fixture(scope="session")
def resources(text: str) -> dict[str, Any]:
    """Logical id -> resource, as CloudFormation gets it."""
    source = yaml_parse(text)
    for resource in source["Resources"].values():
        for name in PACKAGED:
            if name in resource.get("Properties", {}):
                resource["Properties"][name] = f"s3://packaged/{resource['Properties'][name]}"
    logging.getLogger("samtranslator").setLevel(logging.ERROR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        found: dict[str, Any] = transform(source, {}, NoManagedPolicies())["Resources"]
    return found


@pytest.fixture(scope="session")
def of_type(resources: dict[str, Any]) -> Callable[[str], dict[str, Any]]:
    """of_type("AWS::Lambda::Function"): logical id -> properties."""

    def select(kind: str) -> dict[str, Any]:
        return {name: row["Properties"] for name, row in resources.items() if row["Type"] == kind}

    return select


def walk(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value in a nested structure, with its dotted path."""
    yield path, node
    if isinstance(node, dict):
        for key, value in node.items():
            yield from walk(value, f"{path}.{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from walk(value, f"{path}[{index}]")


@pytest.fixture(scope="session")
def values() -> Callable[[Any], Iterator[tuple[str, Any]]]:
    return walk
