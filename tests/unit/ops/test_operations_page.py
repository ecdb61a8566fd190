"""docs/operations.md is all that somebody has at night: each alarm is in it, and each command that it gives exists."""

from __future__ import annotations

import re
import shlex

import pytest

from builders.stack import TEMPLATE, template
from herald.ops.arguments import Parser
from herald.ops.commands import COMMANDS, parser

PAGE = (TEMPLATE.parent / "docs" / "operations.md").read_text(encoding="utf-8")
GIVEN = sorted({found.strip() for found in re.findall(r"(?:^\$ |`|^)ops ([a-z][^`\n]*)", PAGE, re.MULTILINE)})


def section(title: str) -> str:
    """What stands below a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"there is no section {title}"
    return found[1]


def test_each_alarm_has_a_section_that_shows_and_mends_it() -> None:
    resources = template()["Resources"]
    alarms = {name for name, found in resources.items() if found["Type"] == "AWS::CloudWatch::Alarm"}
    told = set(re.findall(r"^### ([A-Z][A-Za-z]+)$", PAGE, re.MULTILINE))
    assert told == alarms
    for alarm in alarms:
        assert "*Shows it:*" in section(alarm), alarm
        assert "*Mends it:*" in section(alarm), alarm


@pytest.mark.parametrize("words", GIVEN)
def test_each_command_of_the_page_can_be_typed(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_: Parser, message: str) -> None:
        raise AssertionError(message)

    monkeypatch.setattr(Parser, "error", wrong)
    line = words.partition("#")[0] if " #" in words else words
    assert parser().parse_args([*shlex.split(line), "--stack=s"]).command in COMMANDS


def test_each_command_is_in_the_list() -> None:
    listed = section("The commands").split("`WEBHOOK` is")[0]
    assert set(re.findall(r"`([a-z-]+)(?: [A-Z\[][^`]*)?`(?:,| \|)", listed)) == set(COMMANDS)


def test_each_log_and_resource_that_the_page_names_is_in_the_template() -> None:
    resources = template()["Resources"]
    named = set(re.findall(r"\blog ([A-Z][A-Za-z]+)", PAGE)) | set(re.findall(r"`([A-Z][A-Za-z]+Log)`", PAGE))
    assert len(named) >= 8
    assert {name for name in named if resources[name]["Type"] != "AWS::Logs::LogGroup"} == set()
    for name in re.findall(r"\$\(part ([A-Z][A-Za-z]+)\)", PAGE):
        function = name.removesuffix("EveryMinute")
        assert name in resources or "EveryMinute" in resources[function]["Properties"]["Events"]
    parameters = template()["Parameters"]
    for name in ("DeliveryConcurrency", "ApiReservedConcurrency", "WebhookTimeout", "TurnTimeout", "AgentMemory"):
        assert f"`{name}`" in PAGE
        assert name in parameters
