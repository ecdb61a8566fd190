"""The operator's commands and what they need: arguments, a deployed stack, and somebody to talk to."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from herald.adapters.aws import FAILURES
from herald.adapters.dynamodb.items import UNREADABLE
from herald.bootstrap import Platform
from herald.ops import control, dead_letters, erase, rotate_keys, task, tasks, turns, unreadable, webhooks
from herald.ops.answer import FAILED, WRONG, Answer, Wrong
from herald.ops.arguments import Parser
from herald.ops.stack import Stack
from herald.ports import Unavailable

Add = Callable[[Any], None]
Run = Callable[[argparse.Namespace, Platform], int]

CODES = """\
exit codes:
  0  done
  1  AWS failed or refused; the same command may be given again
  2  wrong arguments, or there is nothing of that name
  3  not done yet: it says what is left
"""


def _answering(run: Callable[[argparse.Namespace, Stack], Answer]) -> Run:
    """A command that answers all at once, in lines or in JSON."""

    def running(told: argparse.Namespace, platform: Platform) -> int:
        stack = Stack.find(told.stack, platform)
        try:
            answer = run(told, stack)
        except UNREADABLE:
            if not (complaint := _complaint(told, stack)):
                raise
            raise Wrong(complaint) from None
        print(json.dumps(answer.data, indent=2) if told.json else "\n".join(answer.lines))
        for note in answer.notes:
            print(note, file=sys.stderr)
        return answer.code

    return running


def _complaint(told: argparse.Namespace, stack: Stack) -> str:
    """What of the task that a command is about can't be read."""
    named: str = getattr(told, "task", "") or getattr(told, "webhook", "")
    return stack.complaint(stack.task(named.partition("/")[0], told)) if named else ""


COMMANDS: dict[str, tuple[Add, Run]] = {
    "tasks": (tasks.add, _answering(tasks.run)),
    "task": (task.add, _answering(task.run)),
    "webhooks": (webhooks.add_webhooks, _answering(webhooks.run_webhooks)),
    "attempts": (webhooks.add_attempts, _answering(webhooks.run_attempts)),
    **{name: (control.add(name), _answering(control.run(name))) for name in control.COMMANDS},
    "restart": (turns.add_restart, _answering(turns.run_restart)),
    "fail": (turns.add_fail, _answering(turns.run_fail)),
    "drain-dead-letters": (dead_letters.add, _answering(dead_letters.run)),
    "remove-unreadable": (unreadable.add, _answering(unreadable.run)),
    "rotate-keys": (rotate_keys.add, _answering(rotate_keys.run)),
    "erase": (erase.arguments, erase.run),
}
"""Each command's arguments, and what runs it; it returns the process's exit code."""


def parser() -> argparse.ArgumentParser:
    """What understands the commands and their arguments."""
    made = Parser(
        prog="herald.ops",
        description="Commands for a deployed Herald stack; docs/operations.md says which one mends what.",
        epilog=CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    for add, _ in COMMANDS.values():
        add(commands)
    return made


def main(words: Sequence[str], environ: Mapping[str, str], platform: Platform | None = None) -> int:
    """Run a command; the process's exit code, one of ``CODES``. A stack that isn't named is that of HERALD_STACK."""
    told = parser().parse_args(_with_stack(words, environ.get("HERALD_STACK", "")))
    try:
        return COMMANDS[told.command][1](told, platform or Platform(environ))
    except Wrong as error:
        print(error, file=sys.stderr)
        return WRONG
    except (Unavailable, *FAILURES) as error:
        print(f"AWS failed or refused: {error}\nThe same command goes on where this one stopped.", file=sys.stderr)
    except KeyboardInterrupt:
        print("\nStopped. Run the same command to go on.", file=sys.stderr)
    return FAILED


def _with_stack(words: Sequence[str], stack: str) -> list[str]:
    if not stack or not words or any(word.split("=")[0] == "--stack" for word in words):
        return list(words)
    return [*words, f"--stack={stack}"]
