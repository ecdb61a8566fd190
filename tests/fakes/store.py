"""Tasks in memory: one World that FakeTaskLog, FakeWebhooks and FakeDueIndex share, with the stream of its changes."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Literal, TypeVar

from fakes.clock import FakeClock
from fakes.faults import Faults
from herald.ports import ListedPage, Listing
from herald.records import Attempt, Due, Entry, Header, Listed, Position, TakenSend, TaskRef, Webhook, WebhookState

Record = Header | Entry | TakenSend | Webhook | Attempt
R = TypeVar("R", Header, Entry, TakenSend, Webhook, Attempt)

ATTEMPT_SECONDS = 30 * 86_400
INLINE_BYTES = 300_000


@dataclass(frozen=True, slots=True)
class Change:
    """One record of the stream; ``record`` is the new image, None for REMOVE."""

    position: int
    event: Literal["INSERT", "MODIFY", "REMOVE"]
    ref: TaskRef
    sk: str
    record: Record | None
    expires_second: int


@dataclass(frozen=True, slots=True)
class Item:
    record: Record
    expires_second: int


@dataclass
class World:
    """The table: items by (task, sort key), the one before each change for stale reads, and the stream."""

    clock: FakeClock = field(default_factory=FakeClock)
    items: dict[tuple[TaskRef, str], Item] = field(default_factory=dict)
    past: dict[tuple[TaskRef, str], Record | None] = field(default_factory=dict)
    stream: list[Change] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def get(self, ref: TaskRef, sk: str, kind: type[R]) -> R | None:
        item = self.items.get((ref, sk))
        if item is None or not self.alive(item):
            return None
        assert isinstance(item.record, kind), f"{sk} holds a {type(item.record).__name__}"
        return item.record

    def alive(self, item: Item) -> bool:
        return item.expires_second * 1000 > self.clock.now()

    def free(self, ref: TaskRef, sk: str) -> bool:
        item = self.items.get((ref, sk))
        return item is None or not self.alive(item)

    def all(self, ref: TaskRef, prefix: str, kind: type[R]) -> list[R]:
        """The living records of a task whose sort key has this prefix, in the order of their keys."""
        keys = sorted(sk for of, sk in self.items if of == ref and sk.startswith(prefix))
        return [record for sk in keys if (record := self.get(ref, sk, kind)) is not None]

    def write(self, ref: TaskRef, sk: str, record: Record, expires_second: int) -> None:
        known = self.items.get((ref, sk))
        item = Item(record, expires_second)
        if known == item:
            return  # DynamoDB streams nothing for a write that changes nothing
        self.past[ref, sk] = known.record if known else None
        self.items[ref, sk] = item
        event: Literal["INSERT", "MODIFY"] = "MODIFY" if known else "INSERT"
        self.stream.append(Change(len(self.stream), event, ref, sk, record, expires_second))

    def remove(self, ref: TaskRef, sk: str) -> None:
        known = self.items.pop((ref, sk), None)
        if known:
            self.past[ref, sk] = known.record
            self.stream.append(Change(len(self.stream), "REMOVE", ref, sk, None, known.expires_second))

    def changes(self, since: int = 0) -> list[Change]:
        """The stream from a position on: 0 at first, then the last seen position + 1."""
        return self.stream[since:]

    def entries(self, ref: TaskRef) -> list[Entry]:
        """The whole log as it lies, for assertions."""
        return self.all(ref, "LOG#", Entry)


class _Stored(Faults):
    def __init__(self, world: World) -> None:
        super().__init__(world.lock)
        self.world = world
        self._stale: Counter[str] = Counter()

    def stale_next(self, name: str, times: int = 1) -> None:
        """Let the next reads by ``name`` answer what stood there before the last change of each item."""
        self._stale[name] += times

    def forget_faults(self) -> None:
        super().forget_faults()
        self._stale.clear()

    def _read(self, name: str, ref: TaskRef, sk: str, kind: type[R]) -> R | None:
        if self._stale[name] and (ref, sk) in self.world.past:
            self._stale[name] -= 1
            record = self.world.past[ref, sk]
            assert record is None or isinstance(record, kind)
            return record
        return self.world.get(ref, sk, kind)


def log_sk(number: int) -> str:
    return f"LOG#{number:012d}"


def webhook_sk(config_id: str) -> str:
    return f"PUSH#{config_id}"


class FakeTaskLog(_Stored):
    """TaskLog in memory."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._hidden: Counter[tuple[TaskRef, int]] = Counter()

    def hide_next(self, ref: TaskRef, number: int, pages: int = 1) -> None:
        """Let the next pages of the task lack this entry, so that a reader is served a gap (or a short end).

        Like the adapter, the fake reads a page with a gap again, once; two pages make the gap stay.
        """
        self._hidden[ref, number] += pages

    def forget_faults(self) -> None:
        super().forget_faults()
        self._hidden.clear()

    def create(self, header: Header, message: Entry, webhook: Webhook | None) -> bool:
        with self._call("create") as outcome:
            ref, expires = header.ref, header.expires_second
            if not self.world.free(ref, "TASK") or not self.world.free(ref, log_sk(message.number)):
                return False
            self.world.write(ref, "TASK", header, expires)
            self.world.write(ref, log_sk(message.number), message, expires)
            if webhook is not None:
                self.world.write(ref, webhook_sk(webhook.config_id), webhook, webhook.expires_second)
            return not outcome.lost

    def header(self, ref: TaskRef) -> Header | None:
        with self._call("header"):
            return self._read("header", ref, "TASK", Header)

    def read(self, ref: TaskRef, after: int = -1, limit: int | None = None, *, artifacts: bool = True) -> list[Entry]:
        with self._call("read"):
            found = _until_gap(page := self._page(ref, after), after)
            if len(found) < len(page):
                found = _until_gap(self._page(ref, after), after)
            if not artifacts:
                found = [replace(entry, body="") if _artifact_in_bucket(entry) else entry for entry in found]
            return found if limit is None else found[:limit]

    def _page(self, ref: TaskRef, after: int) -> list[Entry]:
        page = []
        for entry in self.world.entries(ref):
            if entry.number <= after:
                continue
            if self._hidden[ref, entry.number]:
                self._hidden[ref, entry.number] -= 1
                continue
            page.append(entry)
        return page

    def put(self, ref: TaskRef, entry: Entry, expires_second: int) -> bool:
        with self._call("put") as outcome:
            if not self.world.free(ref, log_sk(entry.number)):
                return False
            self.world.write(ref, log_sk(entry.number), entry, expires_second)
            return not outcome.lost

    def commit(
        self, before: Header, after: Header, entries: Sequence[Entry], once: tuple[str, str] | None = None
    ) -> bool:
        with self._call("commit") as outcome:
            ref, world = before.ref, self.world
            stored = world.get(ref, "TASK", Header)
            if stored is None or _fence(stored) != _fence(before):
                return False
            if not all(world.free(ref, log_sk(entry.number)) for entry in entries):
                return False
            if once and not world.free(ref, f"MSG#{once[0]}"):
                return False
            for entry in entries:
                world.write(ref, log_sk(entry.number), entry, after.expires_second)
            if once:
                number = next(entry.number for entry in entries if entry.kind == "message")
                world.write(ref, f"MSG#{once[0]}", TakenSend(number, once[1]), after.expires_second)
            world.write(ref, "TASK", after, after.expires_second)
            return not outcome.lost

    def taken(self, ref: TaskRef, once: str) -> TakenSend | None:
        with self._call("taken"):
            return self._read("taken", ref, f"MSG#{once}", TakenSend)

    def defer(self, before: Header, due_at: int | None) -> bool:
        with self._call("defer") as outcome:
            stored = self.world.get(before.ref, "TASK", Header)
            if stored is None or (stored.state, stored.turn, stored.run) != (before.state, before.turn, before.run):
                return False
            self.world.write(before.ref, "TASK", replace(stored, due_at=due_at), stored.expires_second)
            return not outcome.lost


def _fence(header: Header) -> tuple[object, ...]:
    return header.state, header.turn, header.run, header.status_number


def _artifact_in_bucket(entry: Entry) -> bool:
    return entry.kind == "artifact" and len(entry.body.encode()) > INLINE_BYTES


def _until_gap(page: list[Entry], after: int) -> list[Entry]:
    return [entry for place, entry in enumerate(page) if entry.number == after + 1 + place]


class FakeWebhooks(_Stored):
    """Webhooks in memory."""

    def get(self, ref: TaskRef, config_id: str) -> Webhook | None:
        with self._call("get"):
            return self._read("get", ref, webhook_sk(config_id), Webhook)

    def list(self, ref: TaskRef) -> list[Webhook]:
        with self._call("list"):
            return sorted(self.world.all(ref, "PUSH#", Webhook), key=lambda webhook: webhook.config_id)

    def put(self, webhook: Webhook) -> None:
        with self._call("put"):
            self.world.write(webhook.ref, webhook_sk(webhook.config_id), webhook, webhook.expires_second)

    def delete(self, ref: TaskRef, config_id: str) -> None:
        with self._call("delete"):
            self.world.remove(ref, webhook_sk(config_id))

    def update(self, before: Webhook, after: Webhook) -> bool:
        with self._call("update") as outcome:
            stored = self.world.get(before.ref, webhook_sk(before.config_id), Webhook)
            changed = differing(before, after)
            if stored is None:
                return False
            for name in ("key", "cursor", "snapshot_due", *(["state", "failures"] if "state" in changed else [])):
                if getattr(stored, name) != getattr(before, name):
                    return False
            written = replace(stored, **changed)  # type: ignore[arg-type]
            self.world.write(before.ref, webhook_sk(before.config_id), written, stored.expires_second)
            return not outcome.lost

    def record(self, webhook: Webhook, attempt: Attempt) -> None:
        with self._call("record"):
            sk = f"TRY#{webhook.key}#{attempt.number:012d}#{attempt.attempt:06d}"
            self.world.write(webhook.ref, sk, attempt, attempt.at // 1000 + ATTEMPT_SECONDS)

    def attempts(self, webhook: Webhook) -> Sequence[Attempt]:
        with self._call("attempts"):
            return self.world.all(webhook.ref, f"TRY#{webhook.key}#", Attempt)


FIXED = frozenset({"ref", "config_id", "key", "created_at", "expires_second"})


def differing(before: Webhook, after: Webhook) -> dict[str, object]:
    """The fields of a webhook that an update writes."""
    changed = {
        f.name: getattr(after, f.name) for f in fields(Webhook) if getattr(before, f.name) != getattr(after, f.name)
    }
    if wrong := FIXED & changed.keys():
        raise ValueError(f"an update can't change {', '.join(sorted(wrong))}")
    return changed


class FakeDueIndex(_Stored):
    """DueIndex in memory. ``lag`` filters what the index shows, to play an index that is behind."""

    lag: Callable[[Due], bool] = staticmethod(lambda _: False)

    def due(self, now: int) -> Iterable[Due]:
        with self._call("due"):
            found: list[Due] = []
            for (ref, _), item in self.world.items.items():
                record = item.record
                if isinstance(record, Header | Webhook) and record.due_at is not None and record.due_at <= now:
                    config_id = record.config_id if isinstance(record, Webhook) else None
                    found.append(Due(ref, config_id, record.due_at))
            return sorted((due for due in found if not self.lag(due)), key=lambda due: due.due_at)

    def resting(self) -> Iterable[Due]:
        with self._call("resting"):
            found = [
                Due(ref, record.config_id, record.created_at)
                for (ref, _), item in self.world.items.items()
                if isinstance(record := item.record, Webhook)
                and record.state in (WebhookState.PAUSED, WebhookState.DISABLED)
                and record.due_at is None
            ]
            return sorted(found, key=lambda due: due.due_at)


class FakeTaskIndex(_Stored):
    """TaskIndex in memory: what it shows of a task may be held back, or doubled, to play an index that is behind."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._held: dict[TaskRef, tuple[Header | None, bool]] = {}
        self.entries_read = 0

    def hold(self, ref: TaskRef, *, doubled: bool = False) -> None:
        """From now on show this task as it is now, whatever becomes of it; ``doubled``: beside what it becomes."""
        self._held[ref] = (self.world.get(ref, "TASK", Header), doubled)

    def fall_back(self, ref: TaskRef) -> None:
        """Show this task as it was before it changed last, as a replica that is behind would."""
        before = self.world.past[ref, "TASK"]
        assert before is None or isinstance(before, Header)
        self._held[ref] = (before, False)

    def release(self, ref: TaskRef) -> None:
        """Show this task as it is again."""
        self._held.pop(ref, None)

    def page(self, listing: Listing, after: Position | None, limit: int) -> ListedPage:
        with self._call("page"):
            read, more = self._read_entries(listing, after, limit)
            matching = [entry for entry in read if self._matches(listing, entry)]
            return ListedPage(matching, read[-1].position if more else None)

    def count(self, listing: Listing, after: Position | None, limit: int) -> int:
        with self._call("count"):
            read, _ = self._read_entries(listing, after, limit)
            return sum(self._matches(listing, entry) for entry in read)

    def _read_entries(self, listing: Listing, after: Position | None, limit: int) -> tuple[list[Listed], bool]:
        """The first entries of the range, whatever their state, and whether there are more."""
        headers: list[Header] = []
        for (ref, sk), item in self.world.items.items():
            if sk == "TASK" and isinstance(item.record, Header) and not (ref in self._held and not self._held[ref][1]):
                headers.append(item.record)
        headers += [header for header, _ in self._held.values() if header is not None and header not in headers]
        entries = [_listed(header) for header in headers if self._belongs(listing, header)]
        entries = [entry for entry in entries if after is None or entry.position < after]
        entries.sort(key=lambda entry: entry.position, reverse=True)
        self.entries_read += min(limit, len(entries))
        return entries[:limit], len(entries) > limit

    def _belongs(self, listing: Listing, header: Header) -> bool:
        return (
            (header.ref.tenant, header.ref.owner) == (listing.caller.tenant, listing.caller.owner)
            and listing.context_id in ("", header.context_id)
            and (listing.since is None or header.status_at >= listing.since)
        )

    def _matches(self, listing: Listing, entry: Listed) -> bool:
        alive = entry.expires_second * 1000 > self.world.clock.now()
        return alive and (not listing.states or entry.state in listing.states)


def _listed(header: Header) -> Listed:
    return Listed(header.ref, Position(header.status_at, header.ref.task_id), header.state, header.expires_second)
