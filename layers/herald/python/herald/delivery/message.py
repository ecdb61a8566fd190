"""What a notification says: its number and its bytes, made once from the log and equal on every attempt.

The log holds an update as the very text of its StreamResponse (specification section 4.3.3), so that an update is sent
as it is stored. A snapshot is the fold of the log up to its number; the log is never changed, so neither is the fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from herald.log import fold
from herald.protocol import codec
from herald.records import Entry, TaskRef

MAX_BODY = 1_048_576  # bytes; a snapshot above it leaves its history out

SENT = frozenset({"status", "artifact"})


@dataclass(frozen=True, slots=True)
class Notification:
    """One POST to be made: ``{"task":…}``, ``{"statusUpdate":…}`` or ``{"artifactUpdate":…}``."""

    number: int  # of the log entry, or the last one that a snapshot folds
    body: bytes = field(repr=False)
    at: int  # when the entry was stored
    ends_task: bool
    traceparent: str = ""
    mark: str = ""  # of a snapshot that a skip put in between


def is_sent(entry: Entry) -> bool:
    """True for an entry that becomes a notification; a cursor steps over the others."""
    return entry.kind in SENT


def of_entry(entry: Entry) -> Notification:
    """The notification of a status or artifact entry: its stored text, as it is."""
    if not is_sent(entry):
        raise ValueError(f"a {entry.kind} entry is never sent")
    return Notification(
        entry.number, entry.body.encode(), entry.at, ends_task=entry.ends_task, traceparent=entry.traceparent
    )


def of_snapshot(ref: TaskRef, entries: Sequence[Entry], mark: str = "") -> Notification:
    """A webhook's snapshot: the Task as entries ``0 … len(entries) - 1`` make it."""
    task = fold(ref, entries)
    body = codec.dumps({"task": task}).encode()
    if len(body) > MAX_BODY and task.pop("history", None):
        body = codec.dumps({"task": task}).encode()
    last = entries[-1]
    return Notification(
        last.number,
        body,
        last.at,
        ends_task=any(entry.ends_task for entry in entries),
        traceparent=last.traceparent,
        mark=mark,
    )


def message_id(key: str, number: int, mark: str = "") -> str:
    """The ``webhook-id`` of a notification: equal on every attempt, different for every webhook.

    A mark tells the snapshot of a skip from the update that has the same number, and from every other skip's.
    """
    return f"msg_{key}_{mark}_{number:012d}" if mark else f"msg_{key}_{number:012d}"
