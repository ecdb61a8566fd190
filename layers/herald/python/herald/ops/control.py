"""``pause``, ``resume``, ``replay``, ``skip``: what an operator does to a webhook, and what follows from it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from herald.delivery.control import Change, Gone, Refused
from herald.ops import arguments, webhooks
from herald.ops.answer import Answer, Wrong
from herald.ops.stack import Stack
from herald.ops.text import many, moment
from herald.records import Webhook, WebhookState

REST = frozenset({WebhookState.PAUSED, WebhookState.DISABLED})
Act = Callable[[argparse.Namespace, Stack, Webhook], Change]
Say = Callable[[Change], str]


def _first(webhook: Webhook) -> int:
    """The number of what is sent next, or waits."""
    return webhook.snapshot if webhook.snapshot_due else webhook.cursor + 1


def _paused(change: Change) -> str:
    after = change.after
    if change.before == after:
        return f"is {after.state} already; nothing was changed"
    return f"is paused: entries from #{_first(after)} on wait in the log"


def _resumed(change: Change) -> str:
    if change.before == change.after:
        return "is active already; it was only rung for"
    until = ", and called failing until all of it has arrived" if change.after.state is WebhookState.FAILING else ""
    return f"is resumed: what waits is sent now, from #{_first(change.after)} on, with the whole schedule ahead{until}"


def _replayed(change: Change) -> str:
    if change.before == change.after:
        return "would send that next anyway; nothing was changed"
    begins = "its first notification" if change.repeats_snapshot else f"#{change.after.cursor + 1}"
    return f"goes back: it is sent everything again from {begins} on, under the webhook-ids that the receiver knows"


def _skipped(change: Change) -> str:
    passed = len(change.passed_over)
    if not passed:
        return (
            f"waits for nothing: a snapshot of the task as it is comes next, then what follows #{change.after.cursor}"
        )
    return (
        f"passes over {many(passed, 'log entry', 'log entries')}: a snapshot of the task as it is comes next,"
        f" then what follows #{change.after.cursor}. Take it back: replay {webhooks.name(change.after)}"
        f" --from {change.before.cursor + 1}"
    )


COMMANDS: dict[str, tuple[str, str, Act, Say]] = {
    "pause": (
        "send a webhook nothing until it is resumed",
        "Its entries wait in the log, as long as the task is kept.",
        lambda _, stack, webhook: stack.control.pause(webhook),
        _paused,
    ),
    "resume": (
        "send a paused, disabled or failing webhook what waits for it",
        "It goes on at its cursor, in order, with the whole schedule ahead.",
        lambda _, stack, webhook: stack.control.resume(webhook),
        _resumed,
    ),
    "replay": (
        "send a webhook again what it has had",
        "Receivers know repeated notifications by their webhook-id.",
        lambda told, stack, webhook: stack.control.replay(webhook, told.number),
        _replayed,
    ),
    "skip": (
        "pass over everything that waits for a webhook",
        "A snapshot of the task as it is comes next; what is passed over may still be replayed.",
        lambda _, stack, webhook: stack.control.skip(webhook),
        _skipped,
    ),
}


def add(name: str) -> Callable[[Any], None]:
    """What adds the command of this name."""

    def adding(commands: Any) -> None:
        text, more, _, _ = COMMANDS[name]
        told = arguments.command(commands, name, text, more)
        arguments.a_webhook(told)
        if name == "replay":
            told.add_argument(
                "--from",
                dest="number",
                type=arguments.number,
                default=0,
                metavar="NUMBER",
                help="the log number to begin with; else its first notification",
            )

    return adding


def run(name: str) -> Callable[[argparse.Namespace, Stack], Answer]:
    """What runs the command of this name."""

    def running(told: argparse.Namespace, stack: Stack) -> Answer:
        _, _, act, say = COMMANDS[name]
        webhook = stack.webhook(told.webhook, told)
        try:
            change = act(told, stack, webhook)
        except Gone as error:
            raise Wrong(
                f"{webhooks.name(webhook)}: {error}. See what there is: webhooks {webhook.ref.task_id}"
            ) from None
        except Refused as error:
            raise Wrong(f"{webhooks.name(webhook)}: {error}.") from None
        lines = [f"{webhooks.name(webhook)} {say(change)}.", *_follows(change)]
        return Answer(_as_data(change), lines)

    return running


def _follows(change: Change) -> list[str]:
    """What else an operator should know."""
    after, told = change.after, []
    if after.state in REST and change.before.state is after.state and change.before != after:
        told.append(f"It stays {after.state}; to send: resume {webhooks.name(after)}")
    if change.hidden_until:
        told.append(f"A doorbell of its last failure may hold it back until {moment(change.hidden_until)}.")
    if change.before != after and change.expires_early:
        told.append(
            f"Its task is kept only until {moment(after.expires_second * 1000)}, before the schedule would end."
        )
    return told


def _as_data(change: Change) -> dict[str, Any]:
    after = asdict(change.after)
    return {
        "webhook": f"{change.after.ref.task_id}/{change.after.config_id}",
        "changed": change.before != change.after,
        "rung": change.rung,
        "before": {"state": change.before.state.value, "cursor": change.before.cursor},
        "after": {name: after[name] for name in ("state", "cursor", "snapshot_due", "reason")},
        "repeats": len(change.repeats),
        "passedOver": len(change.passed_over),
        "expiresEarly": change.expires_early,
    }
