"""``restart`` and ``fail``: a task that doesn't go on is run again, or ended."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from herald.ops import arguments
from herald.ops.answer import Answer, Wrong
from herald.ops.headers import name
from herald.ops.stack import Stack
from herald.ops.text import moment
from herald.records import Header
from herald.upkeep.ending import fail_task

if TYPE_CHECKING:
    from herald.adapters.stepfunctions import Execution

START_MS = 60_000  # within which a turn is started
ENDED = "An operator ended this task."  # what its client reads


def stuck(header: Header, executions: Sequence[Execution], now: int) -> str:
    """Why nothing goes on with a task that should; "" where all is well."""
    if header.terminal or header.interrupted:
        return ""
    if not executions:
        return "nothing runs it" if now > header.opened_at + START_MS else ""
    last = executions[-1]
    return f"its execution is over ({last.status}) and it hasn't ended" if last.over else ""


def add_restart(commands: Any) -> None:
    told = arguments.command(
        commands,
        "restart",
        "run a task's turn again whose execution is over, or was never started",
        "The agent begins the turn anew, or at its last checkpoint, as after a crash.",
    )
    arguments.a_task(told)


def add_fail(commands: Any) -> None:
    told = arguments.command(
        commands,
        "fail",
        "end an open task as FAILED, and stop its execution",
        "Its webhooks are told, as of any end. A task that is to be forgotten is erased instead.",
    )
    arguments.a_task(told)


def run_restart(told: argparse.Namespace, stack: Stack) -> Answer:
    header = _open(told, stack)
    ref, task_id = header.ref, header.ref.task_id
    if header.interrupted:
        raise Wrong(
            f"Task {task_id} waits for its client ({name(header.state)}): nothing to run. To end it: fail {task_id}"
        )
    if header.run >= 0 and header.due_at is not None and header.due_at <= stack.now:
        raise Wrong(
            f"Task {task_id} is past its deadline ({moment(header.due_at)}): sweep would end it. Now: fail {task_id}"
        )
    known = stack.executions.of(ref, header.turn, header.opened_at)
    if known and not known[-1].over:
        raise Wrong(
            f"Task {task_id} is being run ({known[-1].name}): with a second run it would be failed as soon as the"
            f" first one stops. Wait for it, or: fail {task_id}"
        )
    started = stack.executions.start_over(ref, header.turn, header.opened_at, len(known))
    return Answer({"task": task_id, "execution": started}, [f"Started {started}. See how it goes: task {task_id}"])


def run_fail(told: argparse.Namespace, stack: Stack) -> Answer:
    header = _open(told, stack)
    task_id = header.ref.task_id
    if not fail_task(stack.log, stack.platform.clock, stack.platform.ids, header, ENDED):
        raise Wrong(f"Task {task_id} has just gone on by itself. Look again: task {task_id}")
    stopped = []
    for execution in stack.executions.of(header.ref, header.turn, header.opened_at):
        if not execution.over:
            stack.executions.stop(execution, ENDED)
            stopped.append(execution.name)
    told_of = f" Stopped {', '.join(stopped)}." if stopped else ""
    return Answer({"task": task_id, "stopped": stopped}, [f"Task {task_id} is FAILED.{told_of} Its webhooks are told."])


def _open(told: argparse.Namespace, stack: Stack) -> Header:
    header = stack.header(told.task, told)
    if header.terminal:
        raise Wrong(f"Task {told.task} has ended ({name(header.state)}); what has ended stays as it is.")
    return header
