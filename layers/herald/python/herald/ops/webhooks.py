"""``webhooks`` and ``attempts``: where deliveries stand, and why they fail."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from herald.adapters.dynamodb.items import UNREADABLE
from herald.delivery import message
from herald.ops import arguments
from herald.ops.answer import Answer, Wrong
from herald.ops.stack import Stack
from herald.ops.tasks import FOREVER
from herald.ops.text import address, age, duration, either, many, moment, safe, stamp, table, when
from herald.records import Attempt, Caller, TaskRef, Webhook, WebhookState

LOOKS = 2_000  # webhooks of the due index that are read at most, in search of failing ones
WAITING = 1_000  # log entries that are counted at most
UNWELL = frozenset({WebhookState.FAILING, WebhookState.PAUSED, WebhookState.DISABLED})
HEAD = 60  # characters of a receiver's answer in the table; --json has all that is kept


def add_webhooks(commands: Any) -> None:
    told = arguments.command(
        commands,
        "webhooks",
        "webhooks of a task; without one, those of the stack that fail, are paused or disabled",
        "Of the stack, those at rest are listed by an index of their own; failing ones are looked for among the"
        f" {LOOKS:,} that are due soonest, a read unit or two each.",
    )
    told.add_argument("task", metavar="TASK", nargs="?", default="", help="a task's id")
    arguments.whose(told)
    told.add_argument(
        "--state", type=arguments.webhook_states, default=frozenset(), help="comma list: failing,paused,disabled,active"
    )
    arguments.limit(told, 50)


def add_attempts(commands: Any) -> None:
    told = arguments.command(
        commands, "attempts", "failed attempts at a webhook, the newest first", "They are kept for 30 days."
    )
    arguments.a_webhook(told)
    arguments.limit(told, 50)


@dataclass(frozen=True, slots=True)
class Standing:
    """A webhook against its task's log: ``end`` is the log's last number, ``waiting`` what is still to be sent."""

    webhook: Webhook
    end: int
    waiting: int

    @property
    def counted(self) -> str:
        return f"{self.waiting}+" if self.end - self.webhook.cursor >= WAITING else str(self.waiting)


def run_webhooks(told: argparse.Namespace, stack: Stack) -> Answer:
    if told.tenant and not told.owner:
        raise Wrong("A tenant alone names nobody: give --owner as well.")
    looked = _Looked()
    if told.task:
        found: Iterable[Webhook] = _of([stack.task(told.task, told)], stack)
        wanted = told.state or frozenset(WebhookState)
    elif told.owner:
        found = _of(dict.fromkeys(stack.remains.tasks_of(Caller(told.tenant, told.owner))), stack)
        wanted = told.state or UNWELL
    else:
        wanted = told.state or UNWELL
        found = _of_the_stack(stack, wanted, looked)
    picked = list(islice((webhook for webhook in found if webhook.state in wanted), told.limit))
    standings = [standing(webhook, stack) for webhook in picked]
    notes = [f"The first {told.limit}; --limit shows more."] if len(picked) == told.limit else []
    if looked.cut:
        notes.append(f"Looked at the {LOOKS:,} webhooks that are due soonest; name a task or an owner for others.")
    nothing = "It has no webhook." if told.task else f"No webhook is {either(sorted(wanted))}."
    lines = rows(standings, stack.now) or [nothing]
    return Answer({"webhooks": [as_data(each) for each in standings]}, lines, notes=notes)


@dataclass(slots=True)
class _Looked:
    cut: bool = False


def _of(refs: Iterable[TaskRef], stack: Stack) -> Iterator[Webhook]:
    """Webhooks of these tasks; what can't be read is told, and holds up no other."""
    for ref in refs:
        found, complaint = stack.webhooks_of(ref)
        if complaint:
            stack.tell(complaint)
        yield from found


def _of_the_stack(stack: Stack, wanted: frozenset[WebhookState], looked: _Looked) -> Iterator[Webhook]:
    """Webhooks by the due index: those at rest, then the others, the soonest first."""
    resting = stack.due.resting() if wanted - {WebhookState.ACTIVE, WebhookState.FAILING} else ()
    working: Iterable[Any] = ()
    if wanted & {WebhookState.ACTIVE, WebhookState.FAILING}:
        working = (due for due in stack.due.due(FOREVER) if due.config_id is not None)
    for count, due in enumerate(chain(resting, working)):
        if count >= LOOKS:
            looked.cut = True
            return
        try:
            webhook = stack.webhooks.get(due.ref, due.config_id or "")
        except UNREADABLE:
            stack.tell(f"{due.ref.task_id}/{safe(due.config_id or '')} can't be read. See: task {due.ref.task_id}")
            continue
        if webhook is not None:
            yield webhook


def standing(webhook: Webhook, stack: Stack) -> Standing:
    """One query of the log after the cursor."""
    entries = stack.log.read(webhook.ref, after=webhook.cursor, limit=WAITING, artifacts=False)
    end = entries[-1].number if entries else webhook.cursor
    return Standing(webhook, end, webhook.snapshot_due + sum(entry.kind in message.SENT for entry in entries))


def rows(standings: Iterable[Standing], now: int) -> list[str]:
    """The table, and below it why each webhook rests or has failed."""
    found = list(standings)
    cells = [
        [
            name(each.webhook),
            each.webhook.state.value,
            f"{_cursor(each.webhook)}/{each.end}",
            each.counted,
            str(each.webhook.failures),
            _next(each.webhook, now),
            age(each.webhook.last_success_at, now),
            safe(address(each.webhook.url), 60),
        ]
        for each in found
    ]
    headings = ["WEBHOOK", "STATE", "CURSOR/END", "WAITING", "FAILURES", "NEXT ATTEMPT", "LAST SUCCESS", "URL"]
    reasons = [f"{name(each.webhook)}: {safe(each.webhook.reason)}" for each in found if each.webhook.reason]
    return [*table(headings, cells), *([""] if reasons else []), *reasons]


def _cursor(webhook: Webhook) -> str:
    """The log number that is dealt with; "-" while a snapshot of the task is what comes next."""
    return "-" if webhook.snapshot_due else str(webhook.cursor)


def name(webhook: Webhook) -> str:
    """``TASK/CONFIG``, as the commands take it."""
    return f"{webhook.ref.task_id}/{safe(webhook.config_id)}"


def _next(webhook: Webhook, now: int) -> str:
    if webhook.state is WebhookState.FAILING:
        return "now" if webhook.next_attempt_at <= now else age(webhook.next_attempt_at, now)
    return "-"


def as_data(each: Standing) -> dict[str, Any]:
    """A webhook for programs: no secret, sealed or not, and no query of its URL."""
    webhook = each.webhook
    return {
        "webhook": f"{webhook.ref.task_id}/{webhook.config_id}",
        "task": webhook.ref.task_id,
        "config": webhook.config_id,
        "owner": webhook.ref.owner,
        "tenant": webhook.ref.tenant,
        "key": webhook.key,
        "url": address(webhook.url),
        "hasSecrets": bool(webhook.sealed),
        "state": webhook.state.value,
        "reason": webhook.reason,
        "cursor": webhook.cursor,
        "end": each.end,
        "waiting": each.waiting,
        "snapshotDue": webhook.snapshot_due,
        "failures": webhook.failures,
        "nextAttemptAt": stamp(webhook.next_attempt_at),
        "delivered": webhook.delivered,
        "firstSuccessAt": stamp(webhook.first_success_at),
        "lastSuccessAt": stamp(webhook.last_success_at),
        "createdAt": stamp(webhook.created_at),
        "expiresAt": stamp(webhook.expires_second * 1000),
    }


def run_attempts(told: argparse.Namespace, stack: Stack) -> Answer:
    webhook = stack.webhook(told.webhook, told)
    now = stack.now
    found = sorted(stack.webhooks.attempts(webhook), key=lambda each: each.at, reverse=True)[: told.limit]
    cells = [
        [
            moment(each.at),
            age(each.at, now),
            f"#{each.number}",
            str(each.attempt),
            *outcome(each),
            safe(each.head, HEAD) or "-",
        ]
        for each in found
    ]
    here = standing(webhook, stack)
    why = f" ({safe(webhook.reason)})" if webhook.reason else ""
    head = [
        f"{name(webhook)} to {safe(address(webhook.url))}",
        f"{webhook.state}{why}, cursor {_cursor(webhook)} of {here.end}, {many(here.waiting, 'notification')} to send",
        _delivered(webhook, now),
        "",
    ]
    shown = table(["TIME", "AGE", "ENTRY", "ATTEMPT", "OUTCOME", "STATUS", "TOOK", "ANSWER"], cells)
    data = {"webhook": as_data(here), "attempts": [attempt_data(each) for each in found]}
    return Answer(data, [*head, *(shown or ["No attempt has failed in 30 days."])])


def _delivered(webhook: Webhook, now: int) -> str:
    if not webhook.delivered:
        return "nothing delivered yet"
    return f"{webhook.delivered} delivered, the last one {when(webhook.last_success_at, now)}"


def outcome(attempt: Attempt) -> tuple[str, str, str]:
    """How an attempt ended: its class, the status of the answer, how long it took."""
    took = f"{attempt.milliseconds} ms" if attempt.milliseconds < 10_000 else duration(attempt.milliseconds)
    return attempt.outcome, str(attempt.status or "-"), took


def attempt_data(attempt: Attempt) -> dict[str, Any]:
    """An attempt for programs."""
    return {
        "at": stamp(attempt.at),
        "entry": attempt.number,
        "attempt": attempt.attempt,
        "outcome": attempt.outcome,
        "status": attempt.status or None,
        "milliseconds": attempt.milliseconds,
        "head": attempt.head,
    }
