"""The records that rooms hand to each other: a task's header and log entries, a webhook, its attempts, its doorbells.

All times are UTC. ``*_at`` are whole milliseconds since 1970 unless the name ends in ``_second``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal, NamedTuple, Self
from zlib import crc32

from herald.protocol.states import INTERRUPTED, TERMINAL, TaskState

Kind = Literal["message", "run", "status", "artifact"]

START_WITHIN = 60_000  # ms after which sweep starts a turn that hasn't begun

HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling: both parts come from verified facts, or from the one anonymous owner of a local stack."""

    tenant: str
    owner: str


@dataclass(frozen=True, slots=True)
class TaskRef:
    """Where a task lies. The owner is part of it, so that nobody can reach another owner's task."""

    tenant: str
    owner: str
    task_id: str

    @property
    def caller(self) -> Caller:
        """Whose it is."""
        return Caller(self.tenant, self.owner)


@dataclass(frozen=True, slots=True)
class OriginsInUse:
    """The webhook origins of one owner, like ``https://hooks.example.com``, each with the second it is in use until.

    ``revision`` counts the changes; 0 is the record of an owner who has none.
    """

    owner: Caller
    until: Mapping[str, int] = field(default_factory=dict)
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a task's log, never changed after it is written.

    ``body`` is JSON text. For ``status`` and ``artifact`` it is exactly what goes on the wire, a StreamResponse
    (``{"statusUpdate":…}``, ``{"artifactUpdate":…}``). For ``message`` it is
    ``{"message":…,"metadata":…,"acceptedOutputModes":[…],"extensions":[…]}``, the last three only when the request had
    them. For ``run`` it is ``{}``, or ``{"checkpoint":…}`` where a run ended with one; ``"read":n`` beside it says up
    to which message entry the turn's agent had read what came since.
    """

    number: int
    kind: Kind
    body: str
    at: int
    writer: str  # unique to this entry: an entry found with it was written by whoever made it
    turn: int  # number of the turn's message; of a message that waits: the turn that was going on when it came
    run: int = -1  # number of the run entry it belongs to; -1 outside a run
    state: TaskState | None = None  # of a status entry
    traceparent: str = ""

    @property
    def ends_task(self) -> bool:
        return self.state in TERMINAL

    @property
    def opens_turn(self) -> bool:
        """True for the one entry with which its turn begins: a task's first, then each WORKING outside a run.

        A turn's message may have come long before; its time counts from here.
        """
        return self.number == 0 or (self.state is TaskState.WORKING and self.run < 0)


@dataclass(frozen=True, slots=True)
class Header:
    """The small item that is rewritten when a task's state, turn or run changes."""

    ref: TaskRef
    context_id: str
    state: TaskState
    status_at: int
    status_number: int  # of the last status entry; -1 before the first
    turn: int
    opened_at: int  # when the turn began: ``at`` of the entry that opens it
    run: int  # of the last run entry; -1 before the first of the turn
    end: int  # number of the last entry that this header knows of; artifacts may lie beyond it
    created_at: int
    end_by: int  # a task that is still open then is ended (MaxTaskAge)
    expires_second: int  # past it the task doesn't exist
    due_at: int | None  # when sweep looks at it; None when nothing is left to do
    send_hash: str = ""  # SHA-256 of the message that made it

    @property
    def terminal(self) -> bool:
        return self.state in TERMINAL

    @property
    def interrupted(self) -> bool:
        return self.state in INTERRUPTED

    def with_status(self, entry: Entry, *, due_at: int | None) -> Self:
        """This header after a status entry. A terminal state leaves nothing due."""
        if entry.state is None:
            raise ValueError(f"entry {entry.number} has no state")
        if entry.at < self.status_at:
            raise ValueError(f"entry {entry.number} is from before the status that it follows")
        return replace(
            self,
            state=entry.state,
            status_at=entry.at,
            status_number=entry.number,
            end=entry.number,
            due_at=None if entry.ends_task else due_at,
        )

    def with_turn(self, entry: Entry) -> Self:
        """This header after the status entry that opens a turn, which is to be started soon."""
        opened = self.with_status(entry, due_at=entry.at + START_WITHIN)
        return replace(opened, turn=entry.turn, opened_at=entry.at, run=-1)


class Position(NamedTuple):
    """Where a task stands in a list: by the time of its status, then by its id. It only ever moves up.

    Lists show the newest first, so they go from the greatest position to the least.
    """

    status_at: int
    task_id: str


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of a listing index. It may be behind: the task's log says what its state and position are by now."""

    ref: TaskRef
    position: Position
    state: TaskState
    expires_second: int


@dataclass(frozen=True, slots=True)
class TakenSend:
    """A follow-up message that was taken: the number of its log entry, and the SHA-256 of the message."""

    number: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class Doorbell:
    """What is queued: which webhook to look at. It carries no notification; losing or doubling one is harmless."""

    ref: TaskRef
    config_id: str
    key: str


class WebhookState(StrEnum):
    ACTIVE = "active"
    FAILING = "failing"
    PAUSED = "paused"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Webhook:
    """A push notification config and its cursor. ``cursor`` is the number of the last entry that is dealt with."""

    ref: TaskRef
    config_id: str
    key: str  # 26 random URL-safe characters, new at each creation or replacement
    url: str = field(repr=False)  # its query may hold a secret
    sealed: str = field(repr=False)  # token and authentication, sealed; "" when the client gave neither
    cursor: int
    snapshot: int  # number that its snapshot folds up to: the first notification, or the one that a skip put in between
    snapshot_due: bool
    created_at: int
    expires_second: int
    state: WebhookState = WebhookState.ACTIVE
    reason: str = ""  # why it is disabled or paused
    failures: int = 0  # in a row
    attempt: int = 0  # of the notification in flight; counts on over redeliveries
    next_attempt_at: int = 0
    due_at: int | None = None
    delivered: int = 0
    first_success_at: int = 0
    last_success_at: int = 0
    wire: str = "1.0"
    mark: str = ""  # in the webhook-id of a snapshot that a skip put in between; "" for the first notification
    began: int = -1  # number of the first notification, once a skip has put another snapshot in between

    @property
    def beginning(self) -> int:
        """Number of its first notification, the snapshot that it was made with."""
        return self.snapshot if self.began < 0 else self.began

    @property
    def doorbell(self) -> Doorbell:
        """What is rung for it."""
        return Doorbell(self.ref, self.config_id, self.key)

    @property
    def place(self) -> str:
        """What its sealed secrets are bound to. The URL is part of it: a changed URL is never shown them."""
        ref = self.ref
        return json.dumps([ref.tenant, ref.owner, ref.task_id, self.config_id, self.key, self.url])


def next_look(now: int, key: str) -> int:
    """When sweep next looks at the active webhook of this key: once an hour, at a time within the hour that is its own.

    Rounded, so that moving a cursor rarely writes the due index; and spread, so that sweep never meets all at once.
    """
    own = crc32(key.encode()) % HOUR_MS
    return ((now - own) // HOUR_MS + 1) * HOUR_MS + own


@dataclass(frozen=True, slots=True)
class Attempt:
    """A failed attempt at a webhook."""

    number: int  # of the log entry (or snapshot)
    attempt: int  # 1 for the first
    outcome: str  # a failure class, see herald.delivery.retry
    status: int  # HTTP status; 0 when there was none
    milliseconds: int
    head: str = field(repr=False)  # head of the response, at most 4 KiB; "" for a refused target
    at: int


@dataclass(frozen=True, slots=True)
class Due:
    """An item of the due index: a task (``config_id`` is None) or a webhook that must be looked at."""

    ref: TaskRef
    config_id: str | None
    due_at: int
