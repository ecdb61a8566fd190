"""Arguments that several commands take, and a parser whose complaints are one line."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from herald.protocol.states import TaskState
from herald.records import WebhookState

_PREFIX = "TASK_STATE_"
STATES = {state.value.removeprefix(_PREFIX).lower().replace("_", "-"): state for state in TaskState}


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and where the arguments are listed."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message[:1].upper()}{message[1:]}. See: {self.prog} --help\n")


def command(commands: Any, name: str, text: str, more: str = "") -> argparse.ArgumentParser:
    """Add a command; ``--stack`` and ``--json`` are understood by each."""
    told: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=f"{text[:1].upper()}{text[1:]}. {more}"
    )
    told.add_argument("--stack", default="", help="the name of the CloudFormation stack; else that of HERALD_STACK")
    told.add_argument("--json", action="store_true", help="print JSON for a program, nothing else")
    return told


def whose(told: argparse.ArgumentParser) -> None:
    """Where a task lies."""
    told.add_argument("--owner", default="", help="its owner, as tasks are stored: then it needn't be looked for")
    told.add_argument("--tenant", default="", help="the owner's tenant, if it has one")


def a_task(told: argparse.ArgumentParser) -> None:
    told.add_argument("task", metavar="TASK", help="the task's id")
    whose(told)


def a_webhook(told: argparse.ArgumentParser) -> None:
    told.add_argument("webhook", metavar="WEBHOOK", help="TASK/CONFIG; TASK alone where it has one webhook only")
    whose(told)


def limit(told: argparse.ArgumentParser, default: int) -> None:
    told.add_argument("--limit", type=_count, default=default, help=f"rows at most; {default} by default")


def task_states(text: str) -> frozenset[TaskState]:
    """``failed,canceled`` or ``TASK_STATE_FAILED``."""
    names = [name.strip().removeprefix(_PREFIX).lower().replace("_", "-") for name in text.split(",")]
    if wrong := [name for name in names if name not in STATES]:
        raise argparse.ArgumentTypeError(f"{wrong[0]!r} is none of {', '.join(STATES)}")
    return frozenset(STATES[name] for name in names)


def webhook_states(text: str) -> frozenset[WebhookState]:
    """``failing,paused``."""
    names = [name.strip().lower() for name in text.split(",")]
    if wrong := [name for name in names if name not in set(WebhookState)]:
        raise argparse.ArgumentTypeError(f"{wrong[0]!r} is none of {', '.join(WebhookState)}")
    return frozenset(WebhookState(name) for name in names)


def number(text: str) -> int:
    """A log number, with or without the # that the tables show."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} isn't the number of a log entry, like 4")
    return int(digits)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} isn't a number of rows")
    return int(text)
