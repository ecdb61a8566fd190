"""A walk through a list shows each task at most once, in order, and all that stand still: whatever the index does."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from builders.list_walks import STATES, ListWalks
from builders.stores import fake_store
from fakes.clock import FakeClock
from fakes.store import FakeTaskIndex, World
from herald.protocol.states import TaskState
from herald.records import TaskRef


class WalksBesideAnIndexThatIsBehind(ListWalks):
    """What the index shows of a task is held back, doubled, falls back to what was before, and catches up again."""

    def __init__(self) -> None:
        clock = FakeClock()
        self.world = World(clock)
        self.index = FakeTaskIndex(self.world)
        super().__init__(replace(fake_store(self.world), tasks=self.index), clock, self._remove, ["alice", "bob"])
        self.behind: set[TaskRef] = set()

    def _remove(self, ref: TaskRef) -> None:
        for of, sk in list(self.world.items):
            if of == ref:
                self.world.remove(ref, sk)

    @precondition(lambda self: self.headers)
    @rule(data=st.data(), state=st.sampled_from(STATES), doubled=st.booleans())
    def change_unseen(self, data: st.DataObject, state: TaskState, *, doubled: bool) -> None:
        task_id = self._draw(data)
        ref = self.headers[task_id].ref
        self.index.hold(ref, doubled=doubled)
        self.behind.add(ref)
        self.clock.advance(0.001)
        self.give(task_id, state)

    @precondition(lambda self: self.headers)
    @rule(data=st.data())
    def fall_back(self, data: st.DataObject) -> None:
        ref = self.headers[self._draw(data)].ref
        self.index.fall_back(ref)
        self.behind.add(ref)
        self.forget(ref.task_id)

    @rule()
    def catch_up(self) -> None:
        for ref in self.behind:
            self.index.release(ref)
        self.behind.clear()

    def is_shown_as_it_is(self, ref: TaskRef) -> bool:
        return ref not in self.behind


WalksBesideAnIndexThatIsBehind.TestCase.settings = settings(max_examples=200, stateful_step_count=50, deadline=None)
TestWalksBesideAnIndexThatIsBehind = WalksBesideAnIndexThatIsBehind.TestCase
