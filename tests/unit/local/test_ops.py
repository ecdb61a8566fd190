"""How the operator's commands get their words and their stack from make and from a shell."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from local import ops
from local.terminal import LocalError

LOCAL = ("herald-local", {"AWS_ENDPOINT_URL": "http://localhost:4566"})


def ran(command: list[str], **environment: str) -> tuple[list[str], dict[str, str]]:
    """The words that herald.ops gets, and its environment."""
    called: list[Any] = []

    def run(arguments: list[str], **how: Any) -> SimpleNamespace:
        called.append((arguments, how["env"]))
        return SimpleNamespace(returncode=3)

    with (
        mock.patch.dict("os.environ", environment, clear=True),
        mock.patch.object(ops, "local_stack", return_value=LOCAL),
        mock.patch.object(subprocess, "run", run),
    ):
        assert ops.main(command) == 3
    ((words, found),) = called
    assert words[:3] == [sys.executable, "-m", "herald.ops"]
    return words[3:], found


def test_a_command_is_taken_as_it_is_typed() -> None:
    words, environment = ran(["task", "t", "--owner", "https://login.example.com#alice smith"])
    assert words == ["task", "t", "--owner", "https://login.example.com#alice smith"]
    assert environment["HERALD_STACK"] == "herald-local"
    assert environment["AWS_ENDPOINT_URL"] == "http://localhost:4566"


def test_a_command_is_taken_from_args() -> None:
    words, environment = ran([], ARGS="tasks --owner 'a b#c'", STACK="herald", AWS_PROFILE="mine")
    assert words == ["tasks", "--owner", "a b#c"]
    assert (environment["HERALD_STACK"], environment["AWS_PROFILE"]) == ("herald", "mine")


def test_nothing_typed_is_a_question_for_help() -> None:
    assert ran([])[0] == ["--help"]


def test_an_open_quote_is_told() -> None:
    with pytest.raises(LocalError, match=r"ARGS can't be read: No closing quotation\."):
        ops.typed({"ARGS": "task 'x"})


def test_verbs_of_make_take_their_words_from_variables() -> None:
    assert ran(["erase"], TASK="t", DRY_RUN="1", STACK="s")[0] == ["erase", "--stack=s", "--task=t", "--dry-run"]
    assert ran(["erase", "--task=u"], TASK="t", STACK="s")[0] == ["erase", "--task=u"]


def test_credentials_of_an_account_never_go_to_the_local_stack() -> None:
    _, environment = ran(["tasks"], AWS_PROFILE="mine", AWS_SESSION_TOKEN="x", HOME="/home/me")
    assert "AWS_PROFILE" not in environment
    assert "AWS_SESSION_TOKEN" not in environment
    assert environment["HOME"] == "/home/me"
