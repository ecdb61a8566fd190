"""Erasing tasks: deliveries stop first, late writers leave nothing behind, and it may be begun again at any line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from builders.records import a_webhook
from builders.turns import Bench
from fakes.remains import FakeRemains
from fakes.store import FakeWebhooks
from herald.agent import Agent, Checkpoint, TaskContext, TaskEnded, checkpoint
from herald.ops.erasure import Erasure, Pass
from herald.ports import Unavailable
from herald.protocol.states import TaskState
from herald.records import Attempt, Caller, Header, TaskRef

SECOND, MINUTE = 1_000, 60_000  # ms


@dataclass
class Scripted(Agent):
    """Runs what a test gives it."""

    script: Callable[[TaskContext], None]

    def run(self, task: TaskContext) -> None:
        self.script(task)


class Pausing(Agent):
    """Stops at a checkpoint."""

    def run(self, task: TaskContext) -> Checkpoint:
        return checkpoint({"page": 1})


def complete(task: TaskContext) -> None:
    task.complete()


def ask(task: TaskContext) -> None:
    task.require_input("Which?")


@dataclass
class ErasureBench:
    """One task and its erasure."""

    script: Callable[[TaskContext], None] = complete
    bench: Bench = field(init=False)

    def __post_init__(self) -> None:
        self.bench = Bench(Scripted(lambda task: self.script(task)))
        self.remains = FakeRemains(self.bench.world)
        self.webhooks = FakeWebhooks(self.bench.world)
        self.erasure = Erasure(self.bench.log, self.remains, self.bench.launcher, self.bench.clock, self.bench.ids)

    @property
    def ref(self) -> TaskRef:
        return self.bench.ref

    @property
    def now(self) -> int:
        return self.bench.clock.now()

    @property
    def kinds(self) -> list[str]:
        return [item.kind for item in self.remains.items(self.ref)]

    def with_everything(self) -> None:
        """A webhook with a failed attempt, a follow-up, and bodies in the bucket."""
        webhook = a_webhook(ref=self.ref)
        self.webhooks.put(webhook)
        self.webhooks.record(webhook, Attempt(1, 1, "http_5xx", 500, 3, "", self.now))
        self.remains.objects[self.ref] = {"bodies/x/0-w0", "bodies/x/7-of-nobody"}


def test_a_task_that_has_ended_goes_in_two_passes_its_header_last() -> None:
    erasing = ErasureBench()
    erasing.bench.send("hello")
    erasing.bench.run()
    erasing.with_everything()
    assert erasing.erasure.look(erasing.ref) == {
        "header": 1,
        "log entry": 3,
        "webhook": 1,
        "failed attempt": 1,
        "large body": 2,
    }

    done = erasing.erasure.first(erasing.ref)
    assert done.removed == {"log entry": 3, "webhook": 1, "failed attempt": 1, "large body": 2}
    assert not done.canceled
    assert erasing.kinds == ["header"]
    assert erasing.bench.launcher.stopped == []

    assert erasing.erasure.last(erasing.ref) == {"header": 1}
    assert erasing.erasure.look(erasing.ref) == Counter()
    assert [ref for ref, _ in erasing.bench.world.items] == []


def test_what_isnt_there_is_erased_without_a_word() -> None:
    erasing = ErasureBench()
    assert erasing.erasure.look(erasing.ref) == Counter()
    assert erasing.erasure.first(erasing.ref).removed == Counter()
    assert erasing.erasure.last(erasing.ref) == Counter()


def test_webhooks_go_before_anything_else_is_written_or_removed() -> None:
    erasing = ErasureBench()
    erasing.bench.send("hello")
    erasing.with_everything()
    seen: list[tuple[int, TaskState]] = []

    def look() -> None:
        header = erasing.bench.world.get(erasing.ref, "TASK", Header)
        assert header is not None
        seen.append((len(erasing.bench.entries), header.state))

    erasing.remains.after_next("delete", look)
    erasing.bench.log.before_next("commit", lambda: seen.append((erasing.kinds.count("webhook"), TaskState.CANCELED)))
    erasing.erasure.first(erasing.ref)
    assert seen == [(1, TaskState.SUBMITTED), (0, TaskState.CANCELED)]


def test_an_open_task_is_canceled_and_its_execution_stopped() -> None:
    erasing = ErasureBench()
    erasing.bench.send("hello")
    erasing.bench.launcher.start(erasing.ref, 0, erasing.now)
    done = erasing.erasure.first(erasing.ref)
    assert done.canceled
    assert done.removed == {"log entry": 1}  # the entry that canceled it isn't counted
    assert erasing.bench.launcher.stopped == [(erasing.ref, 0)]
    assert erasing.bench.header.state is TaskState.CANCELED


def test_an_execution_that_cant_be_stopped_stops_no_erasure() -> None:
    erasing = ErasureBench()
    erasing.bench.send("hello")
    erasing.bench.launcher.fail_next("stop", Unavailable("StopExecution"))
    assert erasing.erasure.first(erasing.ref).canceled
    assert erasing.kinds == ["header"]


def test_a_task_that_ends_by_itself_meanwhile_isnt_canceled() -> None:
    erasing = ErasureBench()
    erasing.bench.send("hello")
    erasing.bench.log.before_next("commit", lambda: erasing.bench.run())
    done = erasing.erasure.first(erasing.ref)
    assert not done.canceled
    assert done.removed == {"log entry": 3}


# ---- late writers ----


def test_what_a_zombie_run_puts_into_the_empty_log_is_gone_in_the_end() -> None:
    put: list[str] = []

    def script(task: TaskContext) -> None:
        task.artifact("one")
        erasing.erasure.first(erasing.ref)
        task.artifact("two")  # its number is free again, so nothing stops it
        put.append("two")
        with pytest.raises(TaskEnded):
            task.complete()
        raise TaskEnded("the run stops")

    erasing = ErasureBench(script)
    erasing.bench.send("hello")
    erasing.bench.run()
    assert put == ["two"]
    assert erasing.kinds == ["artifact", "header"]

    assert erasing.erasure.last(erasing.ref) == {"header": 1, "log entry": 1}
    assert erasing.erasure.look(erasing.ref) == Counter()


def test_a_run_that_hasnt_noticed_is_waited_for_as_long_as_lambda_lets_it_live() -> None:
    def script(task: TaskContext) -> None:
        erasing.bench.clock.advance(60)
        done.append(erasing.erasure.first(erasing.ref))
        raise TaskEnded("the run stops")

    done: list[Pass] = []
    erasing = ErasureBench(script)
    erasing.bench.send("hello")
    began = erasing.now
    erasing.bench.run()
    assert (done[0].writers_until, done[0].running) == (began + 15 * MINUTE, True)


def test_a_run_that_ended_its_turn_isnt_waited_for() -> None:
    erasing = ErasureBench(ask)
    erasing.bench.send("hello")
    erasing.bench.run()
    done = erasing.erasure.first(erasing.ref)
    assert (done.writers_until, done.running) == (erasing.now + 30 * SECOND, False)


class Killed(BaseException):
    """The process of a run is gone."""


def test_a_run_that_was_left_behind_by_another_is_waited_for_after_the_end_too() -> None:
    def die(task: TaskContext) -> None:
        raise Killed

    erasing = ErasureBench(die)
    erasing.bench.send("hello")
    began = erasing.now
    with pytest.raises(Killed):
        erasing.bench.run()
    erasing.bench.clock.advance(60)
    erasing.script = complete
    erasing.bench.run()
    assert erasing.bench.header.state is TaskState.COMPLETED
    assert erasing.erasure.first(erasing.ref).writers_until == began + 15 * MINUTE


def test_a_run_that_stopped_at_a_checkpoint_isnt_waited_for() -> None:
    erasing = ErasureBench()
    erasing.bench.agent = Pausing()
    erasing.bench.send("hello")
    erasing.bench.run()
    assert [entry.kind for entry in erasing.bench.entries] == ["message", "run", "run"]
    assert erasing.erasure.first(erasing.ref).writers_until == erasing.now + 30 * SECOND


def test_an_attempt_under_way_is_waited_for_where_there_are_webhooks() -> None:
    erasing = ErasureBench()
    erasing.bench.send("hello")
    erasing.bench.run()
    erasing.with_everything()
    done = erasing.erasure.first(erasing.ref)
    assert (done.writers_until, done.running) == (erasing.now + 90 * SECOND, False)
    webhook = a_webhook(ref=erasing.ref)
    erasing.webhooks.record(webhook, Attempt(1, 2, "http_5xx", 500, 3, "", erasing.now))
    assert erasing.erasure.last(erasing.ref) == {"header": 1, "failed attempt": 1}


def test_a_webhook_that_a_request_under_way_registers_is_gone_in_the_end() -> None:
    erasing = ErasureBench()
    erasing.bench.send("hello")
    erasing.erasure.first(erasing.ref)
    erasing.webhooks.put(a_webhook(ref=erasing.ref))
    assert erasing.erasure.last(erasing.ref) == {"header": 1, "webhook": 1}


def test_an_erasure_begun_again_waits_as_if_a_run_had_begun_when_the_task_ended() -> None:
    erasing = ErasureBench()
    erasing.bench.send("hello")
    erasing.bench.run()
    ended = erasing.now
    erasing.erasure.first(erasing.ref)
    erasing.bench.clock.advance(10)
    assert erasing.erasure.first(erasing.ref).writers_until == ended + 15 * MINUTE


@pytest.mark.parametrize("calls", range(8))
def test_it_may_fail_at_any_call_and_be_begun_again(calls: int) -> None:
    """The header stays until the end, so that an owner's tasks are all found again."""
    erasing = ErasureBench()
    erasing.bench.send("hello")
    erasing.with_everything()
    names = ["items", "delete", "items", "bodies", "delete", "delete_bodies", "items", "bodies"]
    name, nth = names[calls], names[: calls + 1].count(names[calls])
    for _ in range(nth - 1):
        erasing.remains.before_next(name, lambda: None)
    erasing.remains.fail_next(name, Unavailable("AWS"))

    def whole() -> None:
        erasing.erasure.first(erasing.ref)
        erasing.erasure.last(erasing.ref)

    with pytest.raises(Unavailable):
        whole()
    assert "header" in erasing.kinds
    erasing.remains.forget_faults()
    whole()
    assert erasing.erasure.look(erasing.ref) == Counter()


def test_others_tasks_stay() -> None:
    erasing, other = ErasureBench(), TaskRef("acme", "bob", "b" * 26)
    erasing.bench.send("hello")
    erasing.remains.objects[other] = {"bodies/y/0-w0"}
    erasing.webhooks.put(a_webhook(ref=other))
    erasing.erasure.first(erasing.ref)
    erasing.erasure.last(erasing.ref)
    assert erasing.erasure.look(other) == {"webhook": 1, "large body": 1}


def test_what_an_owner_has_besides_tasks_goes_too() -> None:
    erasing = ErasureBench()
    erasing.remains.besides = {Caller("", "alice"): {"ORIGINS"}, Caller("acme", "alice"): {"ORIGINS"}}
    assert erasing.erasure.last(Caller("", "alice")) == {"list of webhook origins": 1}
    assert erasing.erasure.look(Caller("", "alice")) == Counter()
    assert erasing.erasure.look(Caller("acme", "alice")) == {"list of webhook origins": 1}
