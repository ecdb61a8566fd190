"""``task``: everything about one task in the order in which it happened."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from herald.ops import arguments, turns, webhooks
from herald.ops.answer import Answer
from herald.ops.headers import as_data, name
from herald.ops.stack import Stack
from herald.ops.text import address, age, duration, moment, safe, size, stamp, table, when
from herald.protocol.states import TaskState
from herald.records import Attempt, Entry, Header, Webhook, WebhookState

if TYPE_CHECKING:
    from herald.adapters.stepfunctions import Execution

OVERDUE_MS = 120_000  # sweep looks every minute
UNOPENABLE = "unreadable"  # how the reason begins of a webhook whose secrets nothing opens
SAID = 300  # characters of what somebody said, in the timeline


def add(commands: Any) -> None:
    told = arguments.command(
        commands,
        "task",
        "one task: its header, and its log, webhooks and failed attempts in one timeline",
        "What clients and agents have said isn't shown unless you ask for it by --bodies.",
    )
    arguments.a_task(told)
    told.add_argument("--bodies", action="store_true", help="show what the entries say: it is the client's, not yours")


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the timeline. ``order`` sorts what happened in the same millisecond."""

    at: int
    order: int
    what: str
    text: str
    data: dict[str, Any]


def run(told: argparse.Namespace, stack: Stack) -> Answer:
    header = stack.header(told.task, told)
    ref, now = header.ref, stack.now
    entries = stack.log.read(ref, artifacts=told.bodies)
    executions = stack.executions.of(ref, header.turn, header.opened_at)
    found, complaint = stack.webhooks_of(ref)
    events = [_entry(entry, bodies=told.bodies) for entry in entries]
    for execution in executions:
        events += _execution(execution)
    for webhook in found:
        events += _webhook(webhook)
        events += [_attempt(webhook, attempt) for attempt in stack.webhooks.attempts(webhook)]
    events.sort(key=lambda event: (event.at, event.order))
    standings = [webhooks.standing(webhook, stack) for webhook in found]
    hints = [*_hints(header, executions, found, now), *filter(None, [complaint])]
    lines = [
        *_head(header, executions, now),
        "",
        *table(["TIME", "AGE", "WHAT", ""], [[moment(e.at), age(e.at, now), e.what, e.text] for e in events]),
        *(["", *webhooks.rows(standings, now)] if standings else []),
        *(["", *hints] if hints else []),
    ]
    data = {
        "task": as_data(header),
        "executions": [_execution_data(each) for each in executions],
        "timeline": [{"at": stamp(event.at), "what": event.what, **event.data} for event in events],
        "webhooks": [webhooks.as_data(each) for each in standings],
        "hints": hints,
    }
    return Answer(data, lines)


def _head(header: Header, executions: Sequence[Execution], now: int) -> list[str]:
    last = executions[-1] if executions else None
    rows = [
        ("owner", f"{safe(header.ref.owner)}{f', tenant {safe(header.ref.tenant)}' if header.ref.tenant else ''}"),
        ("context", safe(header.context_id)),
        ("state", f"{name(header.state)} since {when(header.status_at, now)}"),
        ("turn", f"{header.turn}, opened {when(header.opened_at, now)}; {_run(header)}"),
        ("due", _due(header, now)),
        ("execution", f"{last.status} {last.name}{f' ({safe(last.error)})' if last.error else ''}" if last else "none"),
        ("kept until", moment(header.expires_second * 1000)),
    ]
    return [f"Task {header.ref.task_id}", *(f"  {label:<10}  {text}" for label, text in rows)]


def _run(header: Header) -> str:
    return f"last run #{header.run}" if header.run >= 0 else "not run yet"


def _due(header: Header, now: int) -> str:
    if header.due_at is None:
        return "nothing is left to be done"
    what = "its end, if nobody answers" if header.interrupted else "its deadline"
    if not header.interrupted and header.run < 0:
        what = "to be started again"
    return f"{when(header.due_at, now)}: {what}"


def _hints(header: Header, executions: Sequence[Execution], found: Sequence[Webhook], now: int) -> list[str]:
    """What looks wrong, and the command that mends it."""
    ref, hints = header.ref, []
    if header.due_at is not None and now > header.due_at + OVERDUE_MS:
        late = duration(now - header.due_at)
        hints.append(f"It has been overdue for {late}: sweep doesn't run, or fails at it. See the log of sweep.")
    if why := turns.stuck(header, executions, now):
        hints.append(f"It is stuck: {why}. Run it again: restart {ref.task_id}   Or end it: fail {ref.task_id}")
    for webhook in found:
        if webhook.state is WebhookState.DISABLED and webhook.reason.startswith(UNOPENABLE):
            hints.append(f"Webhook {safe(webhook.config_id)} can't be used any more: its client must register it anew.")
        elif webhook.state is WebhookState.DISABLED:
            hints.append(
                f"Webhook {safe(webhook.config_id)} is disabled. See why: attempts {webhooks.name(webhook)}"
                f"   Send what waits: resume {webhooks.name(webhook)}"
            )
        elif webhook.state is WebhookState.PAUSED:
            hints.append(
                f"Webhook {safe(webhook.config_id)} is paused. Send what waits: resume {webhooks.name(webhook)}"
            )
    return hints


def _entry(entry: Entry, *, bodies: bool) -> Event:
    length = len(entry.body.encode())
    about = {
        "message": f"from the client{', opens the turn' if entry.opens_turn else ''}",
        "run": "begins" if entry.number == entry.run else f"#{entry.run} stops at a checkpoint",
        "status": f"{name(entry.state) if entry.state else ''}{'' if entry.run >= 0 else ', not by the agent'}",
        "artifact": "",
    }[entry.kind]
    told = size(length) if entry.body else "over 300 KB, in the bucket"
    text = ", ".join(filter(None, [about, told]))
    if bodies or (entry.state is TaskState.FAILED and entry.run < 0):  # Herald's own words, nobody else's
        text += f"  {safe(_said(entry.body), SAID)}"
    data: dict[str, Any] = {
        "number": entry.number,
        "turn": entry.turn,
        "run": entry.run if entry.run >= 0 else None,
        "state": entry.state.value if entry.state else None,
        "bytes": length if entry.body else None,
    }
    if bodies:
        data["body"] = json.loads(entry.body) if entry.body else None
    return Event(entry.at, entry.number * 10, f"#{entry.number} {entry.kind}", text, data)


def _said(body: str) -> str:
    """The texts in a body, which are what a person looks for; all of it where it has none."""
    texts = list(_texts(json.loads(body))) if body else []
    return " / ".join(texts) or body


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value["text"]
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _execution(execution: Execution) -> list[Event]:
    events = [Event(execution.started_at, 1, "execution", f"started {execution.name}", {"started": execution.name})]
    if execution.stopped_at:
        told = f"{execution.status}{f', {safe(execution.error)}' if execution.error else ''}"
        data = {"stopped": execution.name, "status": execution.status, "error": execution.error}
        events.append(Event(execution.stopped_at, 10**9, "execution", told, data))
    return events


def _execution_data(execution: Execution) -> dict[str, Any]:
    return {
        "name": execution.name,
        "status": execution.status,
        "startedAt": stamp(execution.started_at),
        "stoppedAt": stamp(execution.stopped_at),
        "error": execution.error,
    }


def _webhook(webhook: Webhook) -> list[Event]:
    named = f"webhook {safe(webhook.config_id)}"
    config = {"config": webhook.config_id}
    made = f"made at #{webhook.beginning}, to {safe(address(webhook.url), 60)}"
    events = [Event(webhook.created_at, webhook.beginning * 10 + 1, named, made, {**config, "event": "made"})]
    if webhook.first_success_at:
        events.append(
            Event(webhook.first_success_at, 10**9, named, "first success", {**config, "event": "firstSuccess"})
        )
    if webhook.last_success_at > webhook.first_success_at:
        told = f"last success, {webhook.delivered} in all, up to #{webhook.cursor}"
        events.append(Event(webhook.last_success_at, 10**9, named, told, {**config, "event": "lastSuccess"}))
    return events


def _attempt(webhook: Webhook, attempt: Attempt) -> Event:
    outcome, status, took = webhooks.outcome(attempt)
    answered = f", status {status}" if attempt.status else ""
    text = f"#{attempt.number} attempt {attempt.attempt} failed: {outcome}{answered}, {took}"
    data = {"config": webhook.config_id, "event": "attempt", **webhooks.attempt_data(attempt)}
    return Event(attempt.at, attempt.number * 10 + 2, f"webhook {safe(webhook.config_id)}", text, data)
