"""What sweep does for tasks that are due, and for executions that stopped."""

from __future__ import annotations

import pytest

from builders.turns import DAY_MS, TURN_SECONDS, Bench
from fakes.clock import START
from herald.agent import Agent, TaskContext
from herald.ports import Unavailable
from herald.records import Header
from herald.upkeep.turns import Turns

MINUTE = 60_000


class Waits(Agent):
    def run(self, task: TaskContext) -> None:
        task.require_input("which?")


class Dies(Agent):
    def run(self, task: TaskContext) -> None:
        task.working()
        task.artifact("half")
        raise SystemExit(1)


class Completes(Agent):
    def run(self, task: TaskContext) -> None:
        task.complete("done")


def turns_of(bench: Bench) -> Turns:
    return Turns(bench.log, bench.launcher, bench.clock, bench.ids, TURN_SECONDS)


def bench_with(agent: Agent, *, run: bool = True) -> Bench:
    bench = Bench(agent)
    bench.send()
    if run:
        try:
            bench.run()
        except SystemExit:
            assert bench.header.run == 1
    return bench


def run_now(bench: Bench) -> None:
    bench.run()


def told(bench: Bench) -> tuple[str, str]:
    status = bench.task["status"]
    return status["state"], status.get("message", {"parts": [{"text": ""}]})["parts"][0]["text"]


def test_b13_a_turn_that_was_not_started_is_started_again() -> None:
    bench = bench_with(Completes(), run=False)
    bench.clock.set(START + MINUTE)

    assert turns_of(bench).look_after(bench.ref) == "started again"

    assert bench.launcher.started == [(bench.ref, 0)]
    assert list(bench.launcher.executions) == [(bench.ref, 0, START // 1000)]
    assert bench.header.due_at == START + 2 * MINUTE


def test_starting_again_waits_longer_each_time_and_stays_one_execution() -> None:
    bench = bench_with(Completes(), run=False)
    due = []
    for _ in range(4):
        assert bench.header.due_at is not None
        bench.clock.set(bench.header.due_at)
        turns_of(bench).look_after(bench.ref)
        due.append((bench.header.due_at - START) // MINUTE)

    assert due == [2, 4, 8, 16]
    assert bench.launcher.calls["start"] == 4
    assert len(bench.launcher.executions) == 1


def test_a_follow_up_that_was_not_started_is_started_again_under_its_own_second() -> None:
    bench = bench_with(Waits())
    bench.clock.set(START + DAY_MS)
    turn = bench.send("that one", message_id="m2")
    bench.clock.set(START + DAY_MS + MINUTE)

    assert turns_of(bench).look_after(bench.ref) == "started again"
    assert list(bench.launcher.executions) == [(bench.ref, turn, (START + DAY_MS) // 1000)]


def test_b13_a_turn_that_could_not_be_started_by_its_deadline_is_failed() -> None:
    bench = bench_with(Completes(), run=False)
    bench.clock.set(START + TURN_SECONDS * 1000)

    assert turns_of(bench).look_after(bench.ref) == "ended"
    assert told(bench) == ("TASK_STATE_FAILED", "The agent could not be started in time.")


def test_b13_a_run_past_its_deadline_is_failed_and_its_execution_stopped() -> None:
    bench = bench_with(Dies())
    bench.launcher.start(bench.ref, 0, START)
    bench.clock.set(START + TURN_SECONDS * 1000)

    assert turns_of(bench).look_after(bench.ref) == "ended"

    assert told(bench) == ("TASK_STATE_FAILED", "The agent did not finish this task in time.")
    assert bench.launcher.stopped == [(bench.ref, 0)]
    assert [entry.kind for entry in bench.entries] == ["message", "run", "status", "artifact", "status"]
    assert bench.header.due_at is None
    assert turns_of(bench).look_after(bench.ref) == ""  # one push, not two


@pytest.mark.parametrize("after", [-1, -MINUTE])
def test_a_run_before_its_deadline_is_left_alone(after: int) -> None:
    bench = bench_with(Dies())
    bench.clock.set(START + TURN_SECONDS * 1000 + after)

    assert turns_of(bench).look_after(bench.ref) == ""
    assert told(bench)[0] == "TASK_STATE_WORKING"


def test_a_task_that_waits_is_failed_at_its_maximum_age() -> None:
    bench = bench_with(Waits())
    assert bench.header.due_at == START + 30 * DAY_MS
    bench.clock.set(START + 30 * DAY_MS - 1)
    assert turns_of(bench).look_after(bench.ref) == ""
    bench.clock.set(START + 30 * DAY_MS)

    assert turns_of(bench).look_after(bench.ref) == "ended"
    assert told(bench)[0] == "TASK_STATE_FAILED"
    assert told(bench)[1].startswith("This task waited for its client until its maximum age")


def test_a_task_that_waits_and_is_due_too_early_is_put_off() -> None:
    bench = bench_with(Waits())
    bench.log.defer(bench.header, START)

    assert turns_of(bench).look_after(bench.ref) == "deferred"
    assert bench.header.due_at == START + 30 * DAY_MS


def test_a_running_task_is_failed_at_its_maximum_age() -> None:
    bench = bench_with(Dies())
    bench.clock.set(START + 30 * DAY_MS)

    assert turns_of(bench).look_after(bench.ref) == "ended"
    assert told(bench)[1] == "This task was still open at its maximum age, so it was ended."


def test_what_the_index_shows_late_is_skipped() -> None:
    bench = bench_with(Completes())

    assert turns_of(bench).look_after(bench.ref) == ""
    assert bench.states[-1].value == "TASK_STATE_COMPLETED"
    bench.clock.set(bench.header.expires_second * 1000)
    assert turns_of(bench).look_after(bench.ref) == ""


def test_a_start_that_fails_leaves_the_turn_due() -> None:
    bench = bench_with(Completes(), run=False)
    bench.clock.set(START + MINUTE)
    bench.launcher.fail_next("start", Unavailable("throttled"))

    with pytest.raises(Unavailable):
        turns_of(bench).look_after(bench.ref)
    assert bench.header.due_at == START + MINUTE


def test_a_run_that_opens_while_it_is_started_again_keeps_its_deadline() -> None:
    bench = bench_with(Dies(), run=False)
    bench.clock.set(START + MINUTE)

    def open_run() -> None:
        with pytest.raises(SystemExit):
            bench.run()

    bench.launcher.after_next("start", open_run)
    turns_of(bench).look_after(bench.ref)

    assert bench.header.due_at == START + TURN_SECONDS * 1000


def test_b9_a_deadline_that_races_a_completion_writes_no_second_end() -> None:
    bench = bench_with(Dies())
    bench.clock.set(START + TURN_SECONDS * 1000)
    bench.agent = Completes()
    bench.log.before_next("commit", lambda: run_now(bench))

    # The agent's next run completes the task right before FAILED is written.
    assert turns_of(bench).look_after(bench.ref) == ""
    assert [state.value for state in bench.states] == ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]
    assert bench.launcher.stopped == []


def test_a_deadline_that_races_a_question_leaves_the_question() -> None:
    bench = bench_with(Dies())
    bench.clock.set(START + TURN_SECONDS * 1000)
    bench.agent = Waits()
    bench.log.before_next("commit", lambda: run_now(bench))

    assert turns_of(bench).look_after(bench.ref) == ""
    assert bench.states[-1].value == "TASK_STATE_INPUT_REQUIRED"


def test_b12_a_stopped_execution_fails_its_task() -> None:
    bench = bench_with(Dies())

    assert turns_of(bench).stopped(bench.ref, 0) is True
    assert told(bench) == ("TASK_STATE_FAILED", "The agent stopped unexpectedly.")
    assert turns_of(bench).stopped(bench.ref, 0) is False  # the event comes twice: from Catch and from EventBridge
    assert len([state for state in bench.states if state.value == "TASK_STATE_FAILED"]) == 1


def test_b12_an_execution_that_never_opened_a_run_fails_its_task() -> None:
    bench = bench_with(Dies(), run=False)

    assert turns_of(bench).stopped(bench.ref, 0) is True
    assert told(bench) == ("TASK_STATE_FAILED", "The agent stopped unexpectedly.")


def test_an_execution_that_timed_out_says_so() -> None:
    bench = bench_with(Dies())

    assert turns_of(bench).stopped(bench.ref, 0, timed_out=True) is True
    assert told(bench)[1] == "The agent did not finish this task in time."


@pytest.mark.parametrize("agent", [Completes(), Waits()])
def test_b12_a_stopped_execution_changes_nothing_in_a_turn_that_has_ended(agent: Agent) -> None:
    bench = bench_with(agent)
    before = list(bench.entries)

    assert turns_of(bench).stopped(bench.ref, 0) is False
    assert bench.entries == before


def test_a_stopped_execution_of_an_earlier_turn_changes_nothing() -> None:
    bench = bench_with(Waits())
    bench.send("that one", message_id="m2")

    assert turns_of(bench).stopped(bench.ref, 0) is False
    assert bench.states[-1].value == "TASK_STATE_WORKING"


def test_a_lost_answer_to_the_end_is_found_again() -> None:
    bench = bench_with(Dies())
    bench.log.lose_answer_next("commit")

    assert turns_of(bench).stopped(bench.ref, 0) is True
    assert [state.value for state in bench.states] == ["TASK_STATE_WORKING", "TASK_STATE_FAILED"]
    assert isinstance(bench.header, Header)
    assert bench.header.terminal
