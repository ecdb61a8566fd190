"""Clients walk through lists while tasks are made, change, expire and are removed, as hypothesis chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from builders.records import DAY, a_header, message_entry
from builders.stores import Store
from builders.turns import result_of
from fakes.clock import FakeClock, SequentialIds
from fakes.world import FakeSealer
from herald.log import Appender, status_entry
from herald.operations.call import Call
from herald.operations.list_tasks import ListTasks
from herald.protocol import codec
from herald.protocol.requests import ListTasksRequest
from herald.protocol.states import TaskState, may_follow
from herald.records import Caller, Header, TaskRef

STATES = [TaskState.WORKING, TaskState.INPUT_REQUIRED, TaskState.COMPLETED]
CONTEXTS = ["x", "y"]
LIFETIMES = [3, 30, 60 * DAY]  # seconds


@dataclass
class Walk:
    """One client's walk: what it asked for, what it was shown, and what it must have been shown at its end."""

    owner: str
    filters: dict[str, Any]
    must: set[str]
    token: str = ""
    shown: list[tuple[str, str]] = field(default_factory=list)  # (timestamp, id), in order


class ListWalks(RuleBasedStateMachine):
    """Two owners' tasks in one store, and up to three walks.

    Args:
        store: may hold other owners' tasks.
        remove: takes a task's items away.
        owners: names that nobody else uses in this store.
    """

    def __init__(self, store: Store, clock: FakeClock, remove: Callable[[TaskRef], None], owners: list[str]) -> None:
        super().__init__()
        self.store = store
        self.clock = clock
        self.remove_items = remove
        self.owners = owners
        self.ids = SequentialIds()
        self.headers: dict[str, Header] = {}
        self.walks: list[Walk] = []
        self.operation = ListTasks(store.log, store.tasks, FakeSealer())

    # ---- tasks ----

    @initialize()
    def some(self) -> None:
        for number in range(6):
            self.make(number // 5, CONTEXTS[number % 2], LIFETIMES[-1], wait=bool(number % 3))

    @rule(
        owner=st.integers(0, 1),
        context=st.sampled_from(CONTEXTS),
        lifetime=st.sampled_from(LIFETIMES),
        wait=st.booleans(),
    )
    def make(self, owner: int, context: str, lifetime: int, *, wait: bool) -> None:
        self.clock.advance(0.001 * wait)  # or in the same millisecond
        now = self.clock.now()
        header = a_header(
            ref=TaskRef("", self.owners[owner], self.ids.token()),
            context_id=context,
            status_at=now,
            created_at=now,
            expires_second=now // 1000 + lifetime,
        )
        assert self.store.log.create(header, message_entry(message={"contextId": context}, at=now), None)
        self.headers[header.ref.task_id] = header

    @precondition(lambda self: self.headers)
    @rule(data=st.data(), state=st.sampled_from(STATES), wait=st.booleans(), ahead=st.sampled_from([0, -2000, 2000]))
    def change(self, data: st.DataObject, state: TaskState, ahead: int, *, wait: bool) -> None:
        self.clock.advance(0.001 * wait)
        self.give(self._draw(data), state, ahead)

    def give(self, task_id: str, state: TaskState, ahead: int = 0) -> None:
        """Write a status with a clock that is so many milliseconds ahead, if the task may take it."""
        header = self.headers[task_id]
        if not may_follow(header.state, state) or self._expired(header):
            return
        appender = Appender(self.store.log, self.clock, self.ids, header, header.end, lambda _: None)
        appender.commit(
            lambda number, writer: status_entry(appender.header, number, writer, state, self.clock.now() + ahead),
            lambda before, entry: before.with_status(entry, due_at=None),
        )
        self.headers[task_id] = appender.header
        self.forget(task_id)

    @precondition(lambda self: self.headers)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        task_id = self._draw(data)
        self.remove_items(self.headers.pop(task_id).ref)
        self.forget(task_id)

    @rule(seconds=st.sampled_from([1, 5]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)
        for task_id, header in self.headers.items():
            if self._expired(header):
                self.forget(task_id)

    # ---- walks ----

    @precondition(lambda self: len(self.walks) < 3)
    @rule(
        owner=st.sampled_from([0, 0, 0, 1]),
        context=st.sampled_from([None, None, *CONTEXTS]),
        state=st.sampled_from([None, None, None, None, *STATES]),
        seconds_back=st.sampled_from([None, None, 0, 3]),
    )
    def begin(self, owner: int, context: str | None, state: TaskState | None, seconds_back: int | None) -> None:
        name = self.owners[owner]
        since = None if seconds_back is None else self.clock.now() - seconds_back * 1000
        filters: dict[str, Any] = {}
        if context:
            filters["contextId"] = context
        if state:
            filters["status"] = state.value
        if since is not None:
            filters["statusTimestampAfter"] = codec.timestamp(since)
        must = {
            task_id
            for task_id, header in self.headers.items()
            if header.ref.owner == name
            and context in (None, header.context_id)
            and state in (None, header.state)
            and (since is None or header.status_at >= since)
            and not self._expired(header)
            and self.is_shown_as_it_is(header.ref)
        }
        self.walks.append(Walk(name, filters, must))

    @rule(data=st.data(), size=st.integers(1, 3))
    def step(self, data: st.DataObject, size: int) -> None:
        if not self.walks:
            self.begin(0, None, None, None)
        walk = data.draw(st.sampled_from(self.walks))
        params = {**walk.filters, "pageSize": size, "pageToken": walk.token}
        request = ListTasksRequest.parse(params)
        page = result_of(self.operation(Call(Caller("", walk.owner)), request))
        for task in page["tasks"]:
            header = self.headers.get(task["id"])
            assert header is not None, "it was removed"
            assert header.ref.owner == walk.owner
            assert not self._expired(header)
            assert walk.filters.get("status") in (None, task["status"]["state"])
            assert walk.filters.get("contextId") in (None, task["contextId"])
            assert walk.filters.get("statusTimestampAfter", "") <= task["status"]["timestamp"]
            walk.shown.append((task["status"]["timestamp"], task["id"]))
        walk.token = page["nextPageToken"]
        assert len(page["tasks"]) <= size
        assert walk.shown == sorted(walk.shown, reverse=True)
        assert len({task_id for _, task_id in walk.shown}) == len(walk.shown)
        if not walk.token:
            assert walk.must <= {task_id for _, task_id in walk.shown}
            self.walks.remove(walk)

    # ---- what the store's index does to it ----

    def is_shown_as_it_is(self, ref: TaskRef) -> bool:
        """Whether the index is up to date about a task."""
        return True

    def forget(self, task_id: str) -> None:
        """A task that doesn't stand still: no walk that is under way must show it."""
        for walk in self.walks:
            walk.must.discard(task_id)

    def _draw(self, data: st.DataObject) -> str:
        found: str = data.draw(st.sampled_from(sorted(self.headers)))
        return found

    def _expired(self, header: Header) -> bool:
        return header.expires_second * 1000 <= self.clock.now()
