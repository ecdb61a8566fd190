"""What Herald needs of the world, as Protocols: adapters and tests' fakes implement them under one contract suite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from herald.metrics import Metric
from herald.protocol.states import TaskState
from herald.records import (
    Attempt,
    Caller,
    Doorbell,
    Due,
    Entry,
    Header,
    Listed,
    OriginsInUse,
    Position,
    TakenSend,
    TaskRef,
    Webhook,
)


class Clock(Protocol):
    def now(self) -> int:
        """Milliseconds since 1970, UTC."""

    def sleep(self, seconds: float) -> None: ...


class Ids(Protocol):
    def token(self) -> str:
        """26 random URL-safe characters (lower-case base32 of 16 random bytes)."""


class TaskLog(Protocol):
    """Tasks: a header and a log each. Every read is strongly consistent.

    A task past its ``expires_second`` doesn't exist, deleted yet or not. Bodies above 300 KB lie in the bucket, unseen
    by callers. Throttling and time-outs are raised as ``Unavailable`` after the adapter's own bounded retries.
    """

    def create(self, header: Header, message: Entry, webhook: Webhook | None) -> bool:
        """Write header, entry 0 and webhook in one transaction; False, and nothing written, if the header exists."""

    def header(self, ref: TaskRef) -> Header | None: ...

    def read(self, ref: TaskRef, after: int = -1, limit: int | None = None, *, artifacts: bool = True) -> list[Entry]:
        """The entries ``after + 1, after + 2, …`` without a gap, at most ``limit``; [] when there are none.

        A page with a gap is read again; what lies beyond a gap that stays is left out. Without ``artifacts`` none of
        their bodies is fetched from the bucket: an entry whose body lies there comes with "".
        """

    def put(self, ref: TaskRef, entry: Entry, expires_second: int) -> bool:
        """Write one artifact entry if its number is free; False if it is taken. One conditional put."""

    def commit(
        self, before: Header, after: Header, entries: Sequence[Entry], once: tuple[str, str] | None = None
    ) -> bool:
        """Write entries and the header in one transaction; False, and nothing written, if anything stands in the way.

        Conditions: each entry's number is free; the stored header still has ``before``'s state, turn, run and
        status_number. ``once`` is (hash, content hash) of a follow-up message: its MSG item must be absent.
        """

    def taken(self, ref: TaskRef, once: str) -> TakenSend | None:
        """What a follow-up with this hash became, if one was taken."""

    def defer(self, before: Header, due_at: int | None) -> bool:
        """Move a header's ``due_at`` on; False if the header's turn, run or state has changed since ``before``."""


class Webhooks(Protocol):
    """Push notification configs. Every read is strongly consistent."""

    def get(self, ref: TaskRef, config_id: str) -> Webhook | None: ...

    def list(self, ref: TaskRef) -> list[Webhook]:
        """All webhooks of a task, by config_id. Raises UnreadableWebhooks where one of them can't be read."""

    def put(self, webhook: Webhook) -> None:
        """Create, or replace whatever has this config_id."""

    def delete(self, ref: TaskRef, config_id: str) -> None:
        """Idempotent."""

    def update(self, before: Webhook, after: Webhook) -> bool:
        """Write what differs, in one conditional update; False if the webhook is gone, replaced or moved on.

        Conditions: stored ``key`` and ``cursor`` and ``snapshot_due`` equal ``before``'s; ``state`` and ``failures``
        too where the state differs between the two. Fields that are equal in both aren't written, so a concurrent
        change of them stands.
        """

    def record(self, webhook: Webhook, attempt: Attempt) -> None:
        """Keep a failed attempt for 30 days."""

    def attempts(self, webhook: Webhook) -> Sequence[Attempt]:
        """The failed attempts that are kept, in order."""


class DueIndex(Protocol):
    def due(self, now: int) -> Iterable[Due]:
        """What must be looked at by ``now``, the earliest first; eventually consistent: callers read the item."""

    def resting(self) -> Iterable[Due]:
        """Webhooks that are paused or disabled, so that nothing of them becomes due: an operator looks for them here.

        The oldest first; ``due_at`` is when they were made. Eventually consistent.
        """


@dataclass(frozen=True, slots=True)
class Listing:
    """Which tasks a list is of: all of a caller's, or those that every given condition holds for.

    Attributes:
        context_id: of this context; "" for any.
        states: in one of these states; empty for any.
        since: with a status of this time or later, ms since 1970; None for any.
    """

    caller: Caller
    context_id: str = ""
    states: frozenset[TaskState] = frozenset()
    since: int | None = None


@dataclass(frozen=True, slots=True)
class ListedPage:
    """Some entries of a listing, the newest status first.

    ``beyond`` is the position after which to go on; None when there is nothing more. It may lie below the last entry,
    and there may be no entry at all, when what was read in between didn't match.
    """

    entries: Sequence[Listed]
    beyond: Position | None


class TaskIndex(Protocol):
    """The tasks of an owner or a context by the time of their status.

    Eventually consistent: an entry may be missing, doubled or outdated for a moment, so callers read the log. Tasks
    past their time aren't in it. Raises ``Unavailable`` as TaskLog does.
    """

    def page(self, listing: Listing, after: Position | None, limit: int) -> ListedPage:
        """What comes strictly after a position, which needn't be any task's; None: from the newest on.

        At most ``limit`` entries of the index are read for it, matching or not; where an owner's tasks are spread over
        more shards than that, one of each.
        """

    def count(self, listing: Listing, after: Position | None, limit: int) -> int:
        """How many come strictly after a position, among the at most ``limit`` entries that are read for it.

        Without ``states`` that is exact below ``limit``.
        """


@dataclass(frozen=True, slots=True)
class Remnant:
    """An item as erasure sees it; what follows ``kind`` are facts of a log entry.

    ``kind`` is header, message, run, status, artifact, follow-up, webhook, attempt, origins or other.
    """

    sort_key: str
    kind: str
    number: int = -1
    at: int = 0
    run: int = -1
    state: TaskState | None = None


class Remains(Protocol):
    """All that is stored of tasks and of owners, expired or not, to be erased.

    Items and bodies are read strongly consistent; ``tasks_of`` and ``find`` ask an index, which may be behind.
    """

    def items(self, place: TaskRef | Caller) -> list[Remnant]:
        """What lies in a task's partition, or in an owner's own."""

    def delete(self, place: TaskRef | Caller, sort_keys: Sequence[str]) -> None: ...

    def bodies(self, ref: TaskRef) -> list[str]:
        """The keys of a task's bodies in the bucket, those that no entry points to included."""

    def delete_bodies(self, keys: Sequence[str]) -> None: ...

    def tasks_of(self, owner: Caller) -> Iterable[TaskRef]:
        """An owner's tasks, in however many shards of the index."""

    def find(self, task_id: str) -> Iterable[TaskRef]:
        """The tasks of this name, whoever's they are. Reads the whole index of tasks."""


class Usage(Protocol):
    """What an owner has in use, for the limits."""

    def open_tasks(self, owner: Caller, at_most: int) -> int:
        """How many tasks of an owner haven't ended, counted up to ``at_most``; eventually consistent."""

    def origins(self, owner: Caller) -> OriginsInUse:
        """The origins of an owner's webhooks; strongly consistent."""

    def replace_origins(self, before: OriginsInUse, after: OriginsInUse) -> bool:
        """Write ``after``, whose revision is one more; False, and nothing written, if ``before`` isn't what stands."""


@dataclass(frozen=True, slots=True)
class Ring:
    """A doorbell to be rung. Rings with the same ``dedup`` within 5 minutes may become one."""

    doorbell: Doorbell
    dedup: str


class Doorbells(Protocol):
    def ring(self, rings: Sequence[Ring]) -> None:
        """Queue doorbells, group = webhook key, any number of them. Raises Unavailable if one couldn't be queued."""

    def hide(self, receipt: str, seconds: int) -> None:
        """Let a received doorbell come back after this long; its group waits meanwhile."""


class WorkerLauncher(Protocol):
    """``opened_at`` is the ``at`` of the entry that opened the turn; its second is in the execution's name."""

    def start(self, ref: TaskRef, turn: int, opened_at: int) -> None:
        """Start the execution of a turn; one that was started before is done."""

    def stop(self, ref: TaskRef, turn: int, opened_at: int) -> None:
        """Stop the execution of a turn if it runs; nothing if it doesn't."""


class Resolver(Protocol):
    def resolve(self, host: str, port: int, timeout: float) -> list[str]:
        """All A and AAAA addresses. Raises TransportFailure("dns_error") when there are none in time."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver answered: status, lower-case headers, head of the body (at most 16 KiB), duration."""

    status: int
    headers: Mapping[str, str]
    head: bytes
    milliseconds: int


class TransportFailure(Exception):
    """A POST that got no answer: ``outcome`` is a failure class of herald.delivery.retry.

    ``passing`` says that DNS itself didn't answer, so that nothing is known of the name.
    """

    def __init__(self, outcome: str, milliseconds: int = 0, *, passing: bool = False) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.milliseconds = milliseconds
        self.passing = passing


class WebhookTransport(Protocol):
    def post(self, url: str, address: str, headers: Mapping[str, str], body: bytes, seconds: float) -> Answer:
        """POST to a vetted address under the URL's host name: no redirects, no proxies, no reuse across webhooks.

        Raises TransportFailure.
        """


class KeptBodies(Protocol):
    """What is kept beside a task's log until the task expires: bytes that never change once they are there."""

    def keep(self, ref: TaskRef, name: str, body: bytes, expires_second: int) -> str:
        """The key of what is kept under a name: this body, or the one that was there before. Raises Unavailable."""

    def get(self, key: str) -> bytes:
        """Raises Unavailable."""

    def link(self, key: str, seconds: int) -> str:
        """An address where anybody may read it, for so long. Asks nobody."""


class News(StrEnum):
    """What a webhook's state has become by what its receiver did, in the words of the events that tell of it."""

    FAILING = "webhook.failing"  # its notifications wait for the schedule
    DISABLED = "webhook.disabled"  # nothing more is sent until an operator resumes it
    RECOVERED = "webhook.recovered"  # it failed, and has had everything since


class Announcer(Protocol):
    """Who tells an operator's own systems of a webhook's state."""

    def announce(self, news: News, webhook: Webhook, outcome: str, at: int) -> None:
        """Called once for each change of state, after it is stored.

        Best effort: what it raises is logged and delivery goes on, so it should take no longer than a second or two.

        Args:
            webhook: as it stands now; ``reason`` says why it is disabled.
            outcome: of the attempt that brought it about, see herald.delivery.retry.
            at: ms since 1970.
        """


class Meter(Protocol):
    """Who counts and measures, for an operator's alarms and dashboard. It asks nobody and doesn't fail."""

    def add(self, metric: Metric, value: float = 1, outcome: str = "") -> None:
        """Count or measure once.

        Args:
            outcome: for a metric that is split by it, and for no other.
        """

    def flush(self) -> None:
        """Write what was gathered; called at the end of each invocation."""


class Unmetered:
    """A Meter that counts nothing."""

    def add(self, metric: Metric, value: float = 1, outcome: str = "") -> None: ...

    def flush(self) -> None: ...


class Signer(Protocol):
    def sign(self, tenant: str, message_id: str, second: int, body: bytes) -> list[str]:
        """Standard Webhooks signatures with the tenant's own keys, newest first: ``["v1a,…"]``."""


class Sealer(Protocol):
    """Authenticated encryption, bound to where the text lies (``place``, e.g. the item's key).

    What is sealed consists of letters, digits and ``-_.`` only, so that it may stand in a query string. ``open`` and
    ``renewed`` raise Unopenable for a text that was changed, sealed elsewhere, or whose key is gone, and ValueError for
    what was never sealed; all three raise Unavailable, and LookupError when there is no key at all.
    """

    def seal(self, plain: str, place: str) -> str: ...

    def open(self, sealed: str, place: str) -> str: ...

    def renewed(self, sealed: str, place: str) -> str:
        """The text as the newest key seals it; as it is where no newer key is known than the one that sealed it."""


class CardSigner(Protocol):
    """The key that signs the Agent Card, by its private half: ES256 (RFC 7518 section 3.4)."""

    @property
    def kid(self) -> str:
        """The key's name in the JWKS."""

    def sign(self, content: bytes) -> bytes:
        """64 bytes, r and s. Raises Unavailable, and LookupError when the key is gone or disabled."""


class CardKey(Protocol):
    """The key that signs the Agent Card, by its public half."""

    def jwk(self) -> Mapping[str, str]:
        """As a JSON Web Key with its ``kid``. Raises Unavailable, and LookupError when the key is gone or disabled."""


class IssuerDocuments(Protocol):
    """What an issuer of access tokens publishes: where its keys are, and the keys."""

    def read(self, url: str) -> bytes:
        """The document at this address. Raises Unavailable."""


class TokenSigner(Protocol):
    """The key that signs Bearer tokens for receivers, by its private half: RS256 (RFC 7518 section 3.3)."""

    @property
    def kid(self) -> str:
        """The key's name in the JWKS."""

    def sign(self, content: bytes) -> bytes:
        """256 bytes. Raises Unavailable, and LookupError when the key is gone or disabled."""


class TokenKey(Protocol):
    """The key that signs Bearer tokens for receivers, by its public half."""

    def jwk(self) -> Mapping[str, str]:
        """As a JSON Web Key with its ``kid``. Raises Unavailable, and LookupError when the key is gone or disabled."""


class Unopenable(ValueError):
    """A sealed text that nothing opens any more: changed, or its key is gone. Operators are shown what it says."""


class UnreadableWebhooks(ValueError):
    """A task has webhooks that Herald didn't write, or not this version of it. ``readable`` are its others.

    Clients that list or register webhooks of this task get an internal error until an operator has removed the item.
    """

    def __init__(self, why: str, readable: list[Webhook]) -> None:
        super().__init__(why)
        self.readable = readable


class Unavailable(Exception):
    """A service of ours didn't answer, or throttled, beyond the bounded retries. Never a receiver's fault."""
