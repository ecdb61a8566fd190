"""No status is from before the one that it follows, whatever the clocks of its writers say: lists rely on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from builders.api import ApiBench, sending
from builders.records import a_header, status_entry
from builders.turns import REF, Bench
from fakes.clock import START, SequentialIds
from herald import log
from herald.agent import Agent, TaskContext
from herald.protocol.states import TaskState
from herald.records import TaskRef
from herald.upkeep.ending import fail_task

BACK = START - 60_000  # what the clock of a later writer says


def follow_up(api: ApiBench, ref: TaskRef) -> None:
    api.put_status(ref, TaskState.INPUT_REQUIRED)
    api.clock.set(BACK)
    api.call("SendMessage", sending(taskId=ref.task_id, messageId="m2"))


def cancel(api: ApiBench, ref: TaskRef) -> None:
    api.clock.set(BACK)
    api.call("CancelTask", {"id": ref.task_id})


def sweep(api: ApiBench, ref: TaskRef) -> None:
    api.clock.set(BACK)
    assert fail_task(api.log, api.clock, api.ids, api.header(ref), "Too late.")


@pytest.mark.parametrize(
    ("write", "state"),
    [
        (follow_up, TaskState.WORKING),
        (cancel, TaskState.CANCELED),
        (sweep, TaskState.FAILED),
    ],
)
def test_a_writer_whose_clock_is_behind_keeps_the_time_that_stands(
    write: Callable[[ApiBench, TaskRef], None], state: TaskState
) -> None:
    api = ApiBench()
    ref = api.ref(api.send()["id"])

    write(api, ref)

    assert (api.header(ref).state, api.header(ref).status_at) == (state, START)
    assert api.call("GetTask", {"id": ref.task_id})["status"]["timestamp"] == "2026-01-01T00:00:00.000Z"


def test_an_agent_whose_clock_is_behind_keeps_the_time_that_stands() -> None:
    class Reports(Agent):
        def run(self, task: TaskContext) -> None:
            task.working()
            bench.clock.set(START + 5)
            task.working()
            bench.clock.set(BACK)
            task.complete()

    bench = Bench(Reports())
    bench.send("hi")
    bench.clock.set(BACK)

    bench.run()

    assert [update["statusUpdate"]["status"]["timestamp"] for update in bench.updates] == [
        "2026-01-01T00:00:00.000Z",
        "2026-01-01T00:00:00.005Z",
        "2026-01-01T00:00:00.005Z",
    ]
    header = bench.log.header(REF)
    assert header is not None
    assert header.status_at == START + 5


def test_the_entry_and_its_wire_body_say_the_same_time() -> None:
    header = a_header(status_at=START + 7)

    entry = log.status_entry(header, 1, SequentialIds().token(), TaskState.WORKING, START)

    assert entry.at == START + 7
    assert '"timestamp":"2026-01-01T00:00:00.007Z"' in entry.body
    assert header.with_status(entry, due_at=None).status_at == START + 7


def test_a_header_takes_no_status_from_before_its_own() -> None:
    with pytest.raises(ValueError, match="entry 1 is from before the status that it follows"):
        a_header(status_at=START + 1).with_status(status_entry(1), due_at=None)


@pytest.mark.parametrize("state", [state for state in TaskState if state is not TaskState.COMPLETED])
def test_nothing_follows_an_end_whoever_makes_the_entry(state: TaskState) -> None:
    with pytest.raises(ValueError, match=f"{state} may not follow TASK_STATE_COMPLETED"):
        log.status_entry(a_header(state=TaskState.COMPLETED), 5, "writer", state, START)
