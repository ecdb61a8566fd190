"""``drain-dead-letters``: what was given up is shown, put right where that is still needed, and taken out.

Nothing that lies there is the only copy of anything: the table has it, and sweep makes up for it by and by. So putting
right is doing at once what sweep would do, and what is settled is deleted. What can't be settled stays.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from herald.adapters.dynamodb import keys
from herald.adapters.dynamodb.items import UNREADABLE
from herald.adapters.sqs import doorbell_from_body
from herald.ops import arguments
from herald.ops.answer import DONE, NOT_YET, Answer
from herald.ops.stack import Stack
from herald.ops.text import many, safe, stamp, when
from herald.ports import Ring
from herald.records import Doorbell, TaskRef, WebhookState

if TYPE_CHECKING:
    from herald.adapters.dead_letters import Letter

START, RINGERS = "StartWorkerFunction", "RingWebhooksFunction"
MENDS = frozenset({WebhookState.ACTIVE, WebhookState.FAILING})


def add(commands: Any) -> None:
    told = arguments.command(
        commands,
        "drain-dead-letters",
        "show what was given up, put it right, and delete what is settled",
        "What can't be put right stays, and the exit code is 3.",
    )
    told.add_argument("--dry-run", action="store_true", help="show it, and change nothing")
    told.add_argument("--discard", default="", metavar="ID", help="delete this message, whatever it is")
    arguments.limit(told, 1000)


@dataclass(frozen=True, slots=True)
class Found:
    """What a letter is: in words, and what puts it right, which says what was done.

    ``mend`` raises ``Unsettled`` where something has to be done by hand first. ``look`` changes nothing, and says more.
    """

    what: str
    mend: Callable[[], str]
    look: Callable[[], str] = str


class Unsettled(Exception):
    """It can't be put right by this command; the text says what can be done."""


def run(told: argparse.Namespace, stack: Stack) -> Answer:
    lines: list[str] = []
    data: list[dict[str, Any]] = []
    for name, queue in stack.dead_letters().items():
        rows: list[str] = []
        kept: list[Letter] = []
        for letter in queue.take(told.limit):
            found = _what(letter, stack)
            settled, text = False, ""
            if letter.id == told.discard:
                settled, text = not told.dry_run, "discarded" if not told.dry_run else "would be discarded"
            elif told.dry_run:
                text = found.look()
            elif not told.discard:
                settled, text = _mended(found)
            if settled:
                queue.delete(letter)
            else:
                kept.append(letter)
            rows += [f"  {when(letter.sent_at, stack.now)}  {letter.id}", f"    {found.what}"]
            rows += [f"    {'' if settled or told.dry_run else 'stays: '}{text}"] if text else []
            why = {each: safe(value, 200) for each, value in letter.why.items()}
            rows += [f"    {each}: {value}" for each, value in why.items()]
            data.append(
                {
                    "queue": name,
                    "id": letter.id,
                    "sentAt": stamp(letter.sent_at),
                    "what": found.what,
                    "why": why,
                    "done": text,
                    "settled": settled,
                }
            )
        for letter in kept:
            queue.put_back(letter)
        lines += [f"{name}: {len([row for row in data if row['queue'] == name]) or 'empty'}", *rows]
    left = sum(not row["settled"] for row in data)
    if data:
        lines.append(_total(len(data), left, dry=told.dry_run))
    return Answer({"letters": data}, lines, NOT_YET if left and not told.dry_run else DONE)


def _total(count: int, left: int, *, dry: bool) -> str:
    if dry:
        return "Nothing was changed: this was a dry run."
    settled = f"{many(count - left, 'letter')} settled and deleted"
    return (
        f"{settled}; {left} left. Delete one all the same: drain-dead-letters --discard ID" if left else f"{settled}."
    )


def _mended(found: Found) -> tuple[bool, str]:
    try:
        return True, found.mend()
    except Unsettled as reason:
        return False, str(reason)


def _what(letter: Letter, stack: Stack) -> Found:
    try:
        told = json.loads(letter.body)
    except ValueError:
        told = None
    if isinstance(told, dict):
        for make in (_doorbell, _records, _event):
            if (found := make(told, letter, stack)) is not None:
                return found
    return Found("a message that isn't one of Herald's", _unknown)


def _unknown() -> str:
    raise Unsettled("nothing is known of it")


# ---- a doorbell that was received too often ----


def _doorbell(_: Mapping[str, Any], letter: Letter, stack: Stack) -> Found | None:
    try:
        doorbell = doorbell_from_body(letter.body)
    except ValueError:
        return None
    name = f"{doorbell.ref.task_id}/{safe(doorbell.config_id)}"
    return Found(f"a doorbell of webhook {name}", lambda: _ring(doorbell, name, stack))


def _ring(doorbell: Doorbell, name: str, stack: Stack) -> str:
    webhook = stack.webhooks.get(doorbell.ref, doorbell.config_id)
    if webhook is None or webhook.key != doorbell.key:
        return "the webhook is gone: nothing is owed"
    if webhook.state not in MENDS:
        return f"the webhook is {webhook.state}: it rings when it is resumed (resume {name})"
    stack.doorbells.ring([Ring(doorbell, f"{doorbell.key}-{stack.platform.ids.token()}")])
    return f"rung again; the webhook is {webhook.state}"


# ---- stream records that a reader gave up on ----


def _records(told: Mapping[str, Any], _: Letter, stack: Stack) -> Found | None:
    info = told.get("DDBStreamBatchInfo")
    if not isinstance(info, Mapping) or not info.keys() >= PLACE:
        return None
    arn = str(told.get("requestContext", {}).get("functionArn", ""))
    readers = [
        name for name in (START, RINGERS) if f":function:{stack.resources.get(name)}" in f"{arn}:".replace(":$", "::")
    ]
    readers = readers or [START, RINGERS]
    reason = str(told.get("requestContext", {}).get("condition", "given up"))
    who = " or ".join(_SHORT[name] for name in readers)
    what = f"{many(int(info.get('batchSize', 1)), 'stream record')} that {who} gave up on ({safe(reason, 40)})"
    return Found(what, lambda: _read_again(info, readers, stack), lambda: _whose(info, stack))


_SHORT = {START: "start_worker", RINGERS: "ring_webhooks"}


PLACE = {"streamArn", "shardId", "startSequenceNumber", "endSequenceNumber"}
TOO_OLD = "the stream has it no more: sweep has looked at everything since"


def _partitions(info: Mapping[str, Any], stack: Stack) -> list[str] | None:
    """The keys of the records, each once; None when the stream has them no more."""
    first, last = str(info["startSequenceNumber"]), str(info["endSequenceNumber"])
    found = stack.platform.stream_records(str(info["streamArn"]), str(info["shardId"]), first, last)
    return None if found is None else list(dict.fromkeys(record["dynamodb"]["Keys"]["pk"]["S"] for record in found))


def _whose(info: Mapping[str, Any], stack: Stack) -> str:
    """Which tasks the records are of, and what of these can't be read."""
    told: list[str] = []
    found = _partitions(info, stack)
    if found is None:
        return TOO_OLD
    for partition in found:
        try:
            ref = keys.ref_from_pk(partition)
        except ValueError:
            told.append(f"{safe(partition, 80)} is no task's key")
        else:
            told.append(stack.complaint(ref) or f"of task {ref.task_id}")
    return "; ".join(told)


def _read_again(info: Mapping[str, Any], readers: list[str], stack: Stack) -> str:
    found = _partitions(info, stack)
    if found is None:
        return TOO_OLD
    if not found:
        raise Unsettled("the stream shows no record at this place; try again later")
    done: list[str] = []
    stuck: list[str] = []
    for partition in found:
        try:
            ref = keys.ref_from_pk(partition)
        except ValueError:
            done.append(f"{safe(partition, 80)} is no task's key: nothing is owed")
            continue
        try:
            done += [_AGAIN[reader](ref, stack) for reader in readers]
        except UNREADABLE as error:
            stuck.append(stack.complaint(ref) or f"task {ref.task_id} can't be read: {safe(str(error), 80)}")
    if stuck:
        raise Unsettled(f"{'; '.join(stuck)}. Then drain again")
    return "; ".join(done)


def _start(ref: TaskRef, stack: Stack) -> str:
    header = stack.log.header(ref)
    if header is None or header.terminal or header.interrupted or header.run >= 0:
        return f"task {ref.task_id} needs no start"
    if stack.executions.of(ref, header.turn, header.opened_at):
        return f"task {ref.task_id} has been started already"
    stack.executions.start_over(ref, header.turn, header.opened_at, 0)
    return f"task {ref.task_id}: started turn {header.turn}"


def _ring_all(ref: TaskRef, stack: Stack) -> str:
    header = stack.log.header(ref)
    if header is None:
        return f"task {ref.task_id} is gone: nothing is owed"
    entries = stack.log.read(ref, after=header.end, artifacts=False)
    rings = stack.ringer.rings(ref, entries[-1].number if entries else header.end)
    if not rings:
        return f"task {ref.task_id}: no webhook is behind, there was nothing to ring for any more"
    stack.doorbells.ring([Ring(ring.doorbell, f"{ring.dedup}-{stack.platform.ids.token()}") for ring in rings])
    return f"task {ref.task_id}: rang for {many(len(rings), 'webhook')}"


_AGAIN: dict[str, Callable[[TaskRef, Stack], str]] = {START: _start, RINGERS: _ring_all}


# ---- events that EventBridge couldn't hand over ----


def _event(told: Mapping[str, Any], _: Letter, stack: Stack) -> Found | None:
    source, detail = told.get("source"), told.get("detail")
    if source == "aws.events":
        return Found("a call of sweep by its schedule", lambda: "sweep is called every minute: nothing is owed")
    if source == "aws.states" and isinstance(detail, Mapping):
        name = safe(str(detail.get("name", "")))
        what = f"the end of execution {name} ({safe(str(detail.get('status')))})"
        return Found(what, lambda: _end(detail, stack))
    return None


def _end(detail: Mapping[str, Any], stack: Stack) -> str:
    try:
        event = json.loads(detail["input"])
        ref, turn = TaskRef(event["tenant"], event["owner"], event["taskId"]), int(event["turn"])
    except (ValueError, KeyError, TypeError):
        raise Unsettled("its input names no turn") from None
    ended = stack.turns.stopped(ref, turn, timed_out=detail.get("status") == "TIMED_OUT")
    return f"task {ref.task_id} is FAILED now" if ended else f"task {ref.task_id} had ended or gone on: nothing is owed"
