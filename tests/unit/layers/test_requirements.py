"""The layers carry, and a build installs, what the lock says; nothing that Lambda brings or only tests need."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from layers.export_requirements import CARD_TARGET, ROOT, TARGET, export, export_for_cards


def test_the_layers_requirements_are_those_of_the_lock() -> None:
    assert TARGET.read_text(encoding="utf-8") == export(), "run: make lock (or python -m layers.export_requirements)"


def test_what_checks_a_card_in_a_build_is_that_of_the_lock() -> None:
    text = CARD_TARGET.read_text(encoding="utf-8")
    assert text == export_for_cards(), "run: make lock (or python -m layers.export_requirements)"
    names = set(re.findall(r"^([a-z-]+)==", text, flags=re.MULTILINE))
    assert {"pydantic", "pydantic-core", "pyyaml", "typing-extensions"} <= names


@pytest.mark.parametrize("target", [TARGET, CARD_TARGET])
def test_every_requirement_is_pinned_by_hash(target: Path) -> None:
    text = target.read_text(encoding="utf-8")
    pins = re.findall(r"^[a-z].*$", text, flags=re.MULTILINE)
    assert pins
    assert all("==" in pin for pin in pins)
    assert all("--hash=sha256:" in block for block in re.split(r"\n(?=[a-z])", text)[1:])


def test_neither_boto3_nor_a_test_tool_is_among_them() -> None:
    names = set(re.findall(r"^([a-z0-9-]+)==", TARGET.read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert {"cryptography", "fastapi", "pydantic-core", "starlette", "urllib3"} <= names
    assert not names & {"boto3", "botocore", "a2a-sdk", "moto", "pytest", "httpx", "rich"}


def test_the_agent_layers_requirements_are_pinned_by_hash_if_there_are_any() -> None:
    text = (ROOT / "layers/agent/requirements.txt").read_text(encoding="utf-8")
    wanted = [line for line in text.splitlines() if line.strip() and not line.startswith(("#", " "))]
    assert all("==" in line for line in wanted)
    assert not wanted or "--hash=sha256:" in text
