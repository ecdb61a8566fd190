"""Arguments, the stack's name and failures: one line each that names the way out, and never a traceback."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from botocore.exceptions import ClientError, NoCredentialsError

from herald.adapters.cloudformation import NoSuchStack, Parts
from herald.bootstrap import Platform
from herald.ops.commands import COMMANDS, main, parser
from herald.ports import Unavailable

RESOURCES = {"Tasks": "tasks", "Bodies": "bodies", "Doorbells": "https://sqs/doorbells.fifo", "TaskWorker": "arn:x"}


def parts(**resources: str) -> Parts:
    return Parts("arn:stack", {}, {**RESOURCES, **resources}, {})


def run(*words: str, environ: dict[str, str] | None = None, found: Any = None) -> int:
    platform = Platform({}, aws=SimpleNamespace(), clock=mock.Mock(), ids=mock.Mock())  # type: ignore[arg-type]
    answer = {"side_effect": found} if isinstance(found, Exception) else {"return_value": found or parts()}
    with mock.patch.object(Platform, "parts", **answer):
        return main(words, environ or {}, platform)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["tasks", "--stack=s", "--state=bla"], "Argument --state: 'bla' is none of submitted, working, completed,"),
        (["webhooks", "--stack=s", "--state=dead"], "Argument --state: 'dead' is none of active, failing, paused,"),
        (["replay", "t/c", "--stack=s", "--from=-1"], "Argument --from: '-1' isn't the number of a log entry, like 4."),
        (["tasks", "--stack=s", "--limit=0"], "Argument --limit: '0' isn't a number of rows."),
        (["pause", "--stack=s"], "The following arguments are required: WEBHOOK."),
        (["explode"], "Argument COMMAND: invalid choice: 'explode'"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*words)
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert said.err.startswith(told)
    assert said.err.count("\n") == 1
    assert "--help" in said.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["tasks"], "Name the stack: --stack NAME, or the variable HERALD_STACK."),
        (["tasks", "--stack=s", "--context=c"], "A context is its owner's: give --owner as well."),
        (["tasks", "--stack=s", "--tenant=c"], "A tenant alone lists nothing: give --owner as well."),
        (["webhooks", "--stack=s", "--tenant=c"], "A tenant alone names nobody: give --owner as well."),
        (["task", "t", "--stack=s", "--tenant=c"], "--tenant is a part of whose task it is: give --owner as well."),
        (
            ["tasks", "--stack=s", "--stuck", "--owner=o"],
            "--stuck looks at the open tasks of all owners: give it without --owner and --state.",
        ),
    ],
)
def test_what_is_missing_is_told_in_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*words) == 2
    assert capsys.readouterr().err == told + "\n"


def test_the_stack_may_be_named_by_the_environment() -> None:
    seen: list[str] = []

    def found(_: Platform, stack: str) -> Parts:
        seen.append(stack)
        raise NoSuchStack(stack)

    with mock.patch.object(Platform, "parts", found):
        platform = Platform({}, aws=SimpleNamespace(), clock=mock.Mock(), ids=mock.Mock())  # type: ignore[arg-type]
        for words in (["tasks"], ["tasks", "--stack=other"], ["tasks", "--stack", "third"]):
            assert main(words, {"HERALD_STACK": "mine"}, platform) == 2
    assert seen == ["mine", "other", "third"]


def test_a_stack_that_isnt_there_or_isnt_heralds_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("tasks", "--stack=s", found=NoSuchStack("s")) == 2
    assert run("tasks", "--stack=s", found=parts(TaskWorker="", Tasks="")) == 2
    assert capsys.readouterr().err == (
        "There is no stack s in this account and region: set AWS_REGION, or name another.\n"
        "Stack s has no Tasks, TaskWorker: it isn't one of Herald's.\n"
    )


DENIED = ClientError({"Error": {"Code": "AccessDenied", "Message": "not you"}}, "ListStackResources")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Unavailable("DescribeStacks: Throttling"), "DescribeStacks: Throttling"),
        (DENIED, "An error occurred (AccessDenied) when calling the ListStackResources operation: not you"),
        (NoCredentialsError(), "Unable to locate credentials"),
        (KeyboardInterrupt(), ""),
    ],
)
def test_what_aws_says_is_told_without_a_traceback(
    error: BaseException, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with mock.patch.object(Platform, "parts", side_effect=error):
        platform = Platform({}, aws=SimpleNamespace(), clock=mock.Mock(), ids=mock.Mock())  # type: ignore[arg-type]
        assert main(["tasks", "--stack=s"], {}, platform) == 1
    first = capsys.readouterr().err.splitlines()[0]
    assert first == (f"AWS failed or refused: {told}" if told else "")


def test_each_command_takes_a_stack_and_answers_in_json() -> None:
    (commands,) = [each for each in parser()._actions if each.dest == "command"]
    choices: Any = commands.choices
    assert set(choices) == set(COMMANDS)
    for name, told in choices.items():
        options = {option for action in told._actions for option in action.option_strings}
        assert {"--stack", "--json"} <= options, name


def test_help_says_what_the_exit_codes_mean(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"], {})
    told = capsys.readouterr().out
    assert "3  not done yet: it says what is left" in told
    assert json.dumps(sorted(COMMANDS)) == json.dumps(sorted(name for name in COMMANDS if f"    {name}" in told))
