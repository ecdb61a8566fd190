"""``tasks``: an owner's or a context's, the newest status first; or the open ones of all owners, what is due first."""

from __future__ import annotations

import argparse
from heapq import nlargest
from typing import Any

from herald.adapters.dynamodb.items import UNREADABLE
from herald.ops import arguments, turns
from herald.ops.answer import Answer, Wrong
from herald.ops.headers import as_data, name
from herald.ops.stack import Stack
from herald.ops.text import age, moment, safe, stamp, table
from herald.ports import Listing
from herald.protocol.states import TERMINAL
from herald.records import Caller, Header, Listed, Position

FOREVER = 253_402_300_799_999  # ms since 1970: all that is due at any time
PAGE = 100


def add(commands: Any) -> None:
    told = arguments.command(
        commands,
        "tasks",
        "tasks: open ones of all owners, what is due first; or an owner's, the newest status first",
        "Without --owner open tasks are read from the due index, one read unit each; another --state without --owner"
        " reads the whole index of tasks, 400 bytes each.",
    )
    arguments.whose(told)
    told.add_argument("--context", default="", help="a context of the owner's")
    told.add_argument("--state", type=arguments.task_states, default=frozenset(), help="comma list: working,failed …")
    told.add_argument("--stuck", action="store_true", help="open ones whose execution is over or missing")
    arguments.limit(told, 20)


def run(told: argparse.Namespace, stack: Stack) -> Answer:
    if told.context and not told.owner:
        raise Wrong("A context is its owner's: give --owner as well.")
    if told.tenant and not told.owner:
        raise Wrong("A tenant alone lists nothing: give --owner as well.")
    if told.stuck and (told.owner or told.state):
        raise Wrong("--stuck looks at the open tasks of all owners: give it without --owner and --state.")
    if told.owner:
        return _listed(_of_owner(told, stack), stack)
    if told.state & TERMINAL:
        return _of_all(told, stack)
    return _open(told, stack)


def _of_owner(told: argparse.Namespace, stack: Stack) -> list[Listed]:
    listing = Listing(Caller(told.tenant, told.owner), told.context, told.state)
    found: list[Listed] = []
    after: Position | None = None
    while len(found) < told.limit:
        page = stack.index.page(listing, after, PAGE)
        found += page.entries
        if page.beyond is None:
            break
        after = page.beyond
    return found[: told.limit]


def _of_all(told: argparse.Namespace, stack: Stack) -> Answer:
    stack.tell("Reading the index of all tasks, about 400 bytes each; --owner would spare that.")
    found = stack.survey.tasks(told.state, stack.now // 1000)
    return _listed(nlargest(told.limit, found, key=lambda each: each.position), stack)


def _listed(found: list[Listed], stack: Stack) -> Answer:
    now = stack.now
    rows = [
        [
            each.ref.task_id,
            name(each.state),
            moment(each.position.status_at),
            age(each.position.status_at, now),
            *_owner(each.ref),
        ]
        for each in found
    ]
    data = [
        {
            "task": each.ref.task_id,
            "owner": each.ref.owner,
            "tenant": each.ref.tenant,
            "state": each.state.value,
            "statusAt": stamp(each.position.status_at),
            "expiresAt": stamp(each.expires_second * 1000),
        }
        for each in found
    ]
    lines = table(["TASK", "STATE", "SINCE", "AGE", "OWNER", "TENANT"], rows)
    return Answer({"tasks": data}, lines or ["No such task."])


def _open(told: argparse.Namespace, stack: Stack) -> Answer:
    """Open tasks by the due index; what is overdue, and so most likely stuck, stands first."""
    found: list[Header] = []
    for due in (due for due in stack.due.due(FOREVER) if due.config_id is None):
        try:
            header = stack.log.header(due.ref)
        except UNREADABLE:
            stack.tell(f"The header of task {due.ref.task_id} can't be read. See: task {due.ref.task_id}")
            continue
        if header is not None and not header.terminal and _wanted(told, header, stack):
            found.append(header)
        if len(found) == told.limit:
            break
    now = stack.now
    rows = [
        [
            each.ref.task_id,
            name(each.state),
            age(each.status_at, now),
            _due(each.due_at, now),
            *_owner(each.ref),
        ]
        for each in found
    ]
    lines = table(["TASK", "STATE", "SINCE", "DUE", "OWNER", "TENANT"], rows)
    full = len(found) == told.limit
    notes = [f"The first {told.limit} by what is due; --limit shows more."] if full else []
    return Answer(
        {"tasks": [as_data(each) for each in found]},
        lines or [f"No task is {'stuck' if told.stuck else 'open'}."],
        notes=notes,
    )


def _wanted(told: argparse.Namespace, header: Header, stack: Stack) -> bool:
    if not told.stuck:
        return not told.state or header.state in told.state
    if header.interrupted:
        return False
    return bool(turns.stuck(header, stack.executions.of(header.ref, header.turn, header.opened_at), stack.now))


def _due(at: int | None, now: int) -> str:
    return f"overdue for {age(at, now).removesuffix(' ago')}" if at and at < now else age(at, now)


def _owner(ref: Any) -> tuple[str, str]:
    return safe(ref.owner), safe(ref.tenant) or "-"
