"""``rotate-keys``: new keys for webhooks' signatures and seals, without a delivery that a receiver would refuse."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from herald.ops.answer import DONE, NOT_YET, Answer, Wrong
from herald.ops.arguments import command
from herald.ops.rotation import SEALING, Report, Rotation, Step
from herald.ops.stack import Stack
from herald.ops.text import moment, stamp, when
from herald.records import Webhook

SECRETS = {"signing": "SigningSecret", SEALING: "SealingSecret"}  # by their names in the template
SHOWN = 10  # webhooks that are listed at most

CODES = {Step.STARTED: DONE, Step.FINISHED: DONE, Step.WAITING: NOT_YET, Step.RESEALING: NOT_YET}


def add(commands: Any) -> None:
    told = command(
        commands,
        "rotate-keys",
        "make new keys for webhooks' signatures and seals, or finish what an earlier call began",
        "The first call makes new versions of the signing and the sealing secret; a second one, a day and two hours "
        "later, sees that nothing needs the former versions, and lets go of them. Receivers notice nothing.",
    )
    told.add_argument("--only", choices=sorted(SECRETS), default="", help="rotate one of the two secrets")
    told.add_argument("--dry-run", action="store_true", help="tell how things stand, and change nothing")
    told.add_argument("--leave", action="store_true", help="finish although some webhooks can't be sealed anew")


def run(told: argparse.Namespace, stack: Stack) -> Answer:
    """What was done; exit code 3 when it is too early, or not all is sealed anew yet."""
    wanted = {name: resource for name, resource in SECRETS.items() if told.only in ("", name)}
    if missing := [resource for resource in wanted.values() if not stack.resources.get(resource)]:
        raise Wrong(f"Stack {stack.name} has no {', '.join(missing)}: it isn't one of Herald's.")
    rotation = Rotation(
        {name: stack.platform.rotatable(stack.resources[resource]) for name, resource in wanted.items()},
        stack.platform.every_webhook(stack.table),
        stack.webhooks,
        stack.doorbells,
        stack.platform.clock,
        stack.platform.ids,
    )
    report = rotation.look() if told.dry_run else rotation.go_on(leave=told.leave)
    code = DONE if told.dry_run else CODES[report.step]
    return Answer(_as_json(report), list(_lines(report, told, stack.now)), code)


def _lines(report: Report, told: argparse.Namespace, now: int) -> Iterator[str]:
    yield _HEADLINES[report.step] if not told.dry_run else "Nothing was changed: this was a dry run."
    for name, state in report.secrets.items():
        yield f"  {name}: version {state.current.version_id}, made {when(state.current.created_at, now)}"
        if schedule := report.schedules.get(name):
            if name != SEALING:
                yield f"    the new keys are published, and sign from {when(schedule.signs_at, now)}"
                yield f"    the former keys sign until {when(schedule.alone_at, now)}"
            yield f"    to be finished from {when(schedule.over_at, now)}"
    if report.resealed:
        yield f"  webhooks sealed anew: {report.resealed}"
    yield from _listed("webhooks still sealed by a former version", report.left)
    yield from _listed("webhooks disabled for good, for nothing opens their secrets", report.unreadable)
    if report.schedules and report.step is not Step.RESEALING:
        over = max(each.over_at for each in report.schedules.values())
        yield f"Run the same command after {moment(over)} to finish."
    if report.step is Step.RESEALING:
        yield "Run the same command again. The log of send_webhooks says why some stay; --leave lets them be."


_HEADLINES = {
    Step.STARTED: "New versions are made. Receivers notice nothing.",
    Step.WAITING: "A rotation is under way, and it is too early to finish it. Nothing was changed.",
    Step.RESEALING: "Not finished: some webhooks are still sealed by a former version. Their senders have been rung.",
    Step.FINISHED: "Finished: nothing needs a former version any more. The next call begins a new rotation.",
}


def _listed(what: str, webhooks: tuple[Webhook, ...]) -> Iterator[str]:
    if webhooks:
        yield f"  {what}: {len(webhooks)}"
    yield from (f"    {one.ref.task_id}/{one.config_id} ({one.state})" for one in webhooks[:SHOWN])


def _as_json(report: Report) -> dict[str, Any]:
    def webhooks(found: tuple[Webhook, ...]) -> list[dict[str, str]]:
        return [{"configId": one.config_id, "taskId": one.ref.task_id, "state": one.state.value} for one in found]

    return {
        "step": report.step.value,
        "secrets": {
            name: {
                "version": state.current.version_id,
                "madeAt": stamp(state.current.created_at),
                "previousVersion": state.previous.version_id if state.previous else None,
                **({"finishFrom": stamp(report.schedules[name].over_at)} if state.previous else {}),
            }
            for name, state in report.secrets.items()
        },
        "resealed": report.resealed,
        "left": webhooks(report.left),
        "unreadable": webhooks(report.unreadable),
    }
