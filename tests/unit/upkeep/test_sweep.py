"""One round of sweep: every item by itself, whatever happens to the others."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from builders.turns import TURN_SECONDS, Bench
from fakes.clock import START, FakeClock
from fakes.store import FakeDueIndex, FakeTaskLog, FakeWebhooks
from fakes.world import FakeDoorbells
from herald.agent import Agent, TaskContext
from herald.ports import Unavailable
from herald.records import Due, TaskRef, Webhook
from herald.upkeep.sweep import Sweep
from herald.upkeep.turns import Turns
from herald.upkeep.webhooks import DueWebhooks


class Idle(Agent):
    def run(self, task: TaskContext) -> None:
        task.complete()


class Scene:
    """Three tasks that weren't started, of which the second has a webhook that is due."""

    def __init__(self) -> None:
        clock = FakeClock()
        self.first = Bench(Idle(), clock=clock, ref=TaskRef("tenant", "alice", "task-1"))
        self.clock, self.log, self.launcher = clock, self.first.log, self.first.launcher
        self.refs = [TaskRef("tenant", "alice", f"task-{number}") for number in (1, 2, 3)]
        for ref in self.refs:
            bench = Bench(Idle(), clock=clock, ref=ref, ids=self.first.ids)
            bench.world, bench.log = self.first.world, self.log
            bench.send()
        self.webhooks = FakeWebhooks(self.first.world)
        self.doorbells = FakeDoorbells(clock)
        expires = self.first.header.expires_second
        hook = Webhook(self.refs[1], "hook", "k" * 26, "https://example.com", "", 0, 0, False, START, expires)
        self.webhooks.put(replace(hook, due_at=START))
        self.index = FakeDueIndex(self.first.world)
        self.turns = Turns(self.log, self.launcher, clock, self.first.ids, TURN_SECONDS)
        due = DueWebhooks(self.log, self.webhooks, self.doorbells, clock, self.first.ids)
        self.sweep = Sweep(self.index, self.turns, due, clock)


def test_everything_that_is_due_is_dealt_with() -> None:
    scene = Scene()
    scene.clock.advance(60)

    assert scene.sweep.run(lambda: True) == {"started again": 3, "rung": 1}
    assert [ref for ref, _ in scene.launcher.started] == scene.refs
    assert len(scene.doorbells.queue) == 1
    assert scene.sweep.run(lambda: True) == {}  # nothing is due any more


def test_an_item_that_fails_keeps_no_other_from_being_dealt_with(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene()
    scene.clock.advance(60)
    scene.launcher.fail_next("start", Unavailable("throttled"))
    scene.doorbells.fail_next("ring", ValueError("a bug"))

    with caplog.at_level(logging.ERROR, "herald"):
        assert scene.sweep.run(lambda: True) == {"failed": 2, "started again": 2}
    assert [ref for ref, _ in scene.launcher.started] == scene.refs[1:]
    assert len(caplog.records) == 2
    assert scene.sweep.run(lambda: True) == {"started again": 1}


def test_what_there_is_no_time_for_is_left_to_the_next_round() -> None:
    scene = Scene()
    scene.clock.advance(60)
    answers = iter([True, True, False])

    assert scene.sweep.run(lambda: next(answers)) == {"rung": 1, "started again": 1, "left for the next round": 1}
    assert scene.sweep.run(lambda: True) == {"started again": 2}


def test_items_that_the_index_shows_but_that_are_gone_are_skipped() -> None:
    scene = Scene()
    scene.clock.advance(60)
    ghosts = [Due(TaskRef("tenant", "alice", "gone"), None, START), Due(TaskRef("tenant", "alice", "gone"), "x", START)]

    class Ghosts(FakeDueIndex):
        def due(self, now: int) -> list[Due]:
            return ghosts

    sweep = replace(scene.sweep, index=Ghosts(scene.first.world))

    assert sweep.run(lambda: True) == {}


def test_an_index_that_does_not_answer_is_raised() -> None:
    scene = Scene()
    scene.index.fail_next("due", Unavailable("throttled"))

    with pytest.raises(Unavailable):
        scene.sweep.run(lambda: True)
    assert isinstance(scene.log, FakeTaskLog)
