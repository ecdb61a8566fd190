"""start_worker: stream records in, executions out, failures told in the stream's shape."""

from __future__ import annotations

from typing import Any, cast

import pytest

from builders.events import LambdaContext, stream_event, stream_of
from builders.turns import Bench
from fakes.clock import START
from fakes.world import FakeLauncher
from herald.agent import Agent, TaskContext
from herald.entrypoints.start_worker import handler_for
from herald.ports import Unavailable
from herald.records import TaskRef


class Asks(Agent):
    def run(self, task: TaskContext) -> None:
        task.artifact("a draft")
        task.require_input("which?")


def handle(launcher: FakeLauncher, event: dict[str, Any]) -> dict[str, list[dict[str, str]]]:
    return handler_for(launcher)(event, cast("Any", LambdaContext()))


def two_turns() -> Bench:
    bench = Bench(Asks())
    bench.send()
    bench.run()
    bench.clock.advance(100)
    bench.send("that one", message_id="m2")
    return bench


def three_tasks() -> tuple[list[dict[str, Any]], list[TaskRef]]:
    records: list[dict[str, Any]] = []
    refs = [TaskRef("tenant", "alice", f"task-{number}") for number in (1, 2, 3)]
    for number, ref in enumerate(refs):
        bench = Bench(Asks(), ref=ref)
        bench.send()
        record = stream_of(bench.world.changes())["Records"][1]
        record["dynamodb"]["SequenceNumber"] = f"{number + 1:021d}"
        records.append(record)
    return records, refs


def test_what_opens_a_turn_starts_its_execution_and_nothing_else_does() -> None:
    bench, launcher = two_turns(), FakeLauncher()

    assert handle(launcher, stream_of(bench.world.changes())) == {"batchItemFailures": []}

    assert list(launcher.executions) == [(bench.ref, 0, START // 1000), (bench.ref, 4, START // 1000 + 100)]
    assert launcher.calls["start"] == 2


def test_a_message_that_comes_while_the_agent_works_starts_nothing_until_the_turn_gives_way_to_it() -> None:
    class Completes(Agent):
        def run(self, task: TaskContext) -> None:
            task.complete()

    bench, launcher = Bench(Completes()), FakeLauncher()
    bench.send()
    bench.clock.advance(10)
    bench.send("and this", message_id="m2")
    handle(launcher, stream_of(bench.world.changes()))
    assert launcher.started == [(bench.ref, 0)]
    seen = len(bench.world.changes())

    bench.clock.advance(100)
    bench.run()
    handle(launcher, stream_of(bench.world.changes(seen)))

    # The turn is the message's; its name has the second in which it began, not the one in which the message came.
    assert list(launcher.executions) == [(bench.ref, 0, START // 1000), (bench.ref, 1, START // 1000 + 110)]
    assert launcher.calls["start"] == 2


def test_a_stream_that_is_read_twice_starts_nothing_twice() -> None:
    bench, launcher = two_turns(), FakeLauncher()
    event = stream_of(bench.world.changes())

    handle(launcher, event)
    handle(launcher, event)

    assert launcher.started == [(bench.ref, 0), (bench.ref, 4)]


def test_an_entry_that_is_removed_starts_nothing() -> None:
    records, _ = three_tasks()
    records[0]["eventName"] = "REMOVE"
    del records[0]["dynamodb"]["NewImage"]
    launcher = FakeLauncher()

    assert handle(launcher, stream_event(records[:1])) == {"batchItemFailures": []}
    assert launcher.started == []


def test_a_task_made_over_the_remains_of_an_expired_one_is_started() -> None:
    """An expired item may lie about for days; what is put over it is a MODIFY to the stream."""
    records, refs = three_tasks()
    records[0]["eventName"] = "MODIFY"
    launcher = FakeLauncher()

    assert handle(launcher, stream_event(records[:1])) == {"batchItemFailures": []}
    assert launcher.started == [(refs[0], 0)]


def test_a_large_message_starts_though_its_body_lies_in_the_bucket() -> None:
    records, refs = three_tasks()
    image = records[0]["dynamodb"]["NewImage"]
    del image["body"]
    image["bodyKey"] = {"S": "bodies/x"}
    launcher = FakeLauncher()

    assert handle(launcher, stream_event(records[:1])) == {"batchItemFailures": []}
    assert launcher.started == [(refs[0], 0)]


@pytest.mark.parametrize(
    "break_it",
    [
        lambda record: record["dynamodb"]["NewImage"].pop("at"),
        lambda record: record["dynamodb"]["NewImage"].update(at={"N": "soon"}),
        lambda record: record["dynamodb"].pop("NewImage"),
        lambda record: record["dynamodb"]["NewImage"].update(pk={"S": "SOMETHING#else"}),
        lambda record: record.pop("eventName"),
    ],
)
def test_g16_a_poison_record_keeps_no_other_from_starting(break_it: Any) -> None:
    records, refs = three_tasks()
    break_it(records[1])
    launcher = FakeLauncher()

    assert handle(launcher, stream_event(records)) == {
        "batchItemFailures": [{"itemIdentifier": "000000000000000000002"}]
    }
    assert launcher.started == [(refs[0], 0), (refs[2], 0)]


def test_g16_a_record_without_even_a_number_fails_the_batch_and_still_the_others_start() -> None:
    records, refs = three_tasks()
    del records[0]["dynamodb"]
    launcher = FakeLauncher()

    assert handle(launcher, stream_event(records)) == {"batchItemFailures": [{"itemIdentifier": ""}]}
    assert launcher.started == [(refs[1], 0), (refs[2], 0)]


def test_g15_when_all_fail_all_are_told_the_first_one_first() -> None:
    records, refs = three_tasks()
    launcher = FakeLauncher()
    launcher.fail_next("start", Unavailable("throttled"), times=3)

    assert handle(launcher, stream_event(records)) == {
        "batchItemFailures": [{"itemIdentifier": f"00000000000000000000{number}"} for number in (1, 2, 3)]
    }
    assert handle(launcher, stream_event(records)) == {"batchItemFailures": []}
    assert launcher.started == [(ref, 0) for ref in refs]
