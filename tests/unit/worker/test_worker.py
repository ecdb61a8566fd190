"""One call of run_agent: what it leaves in the log, whatever the agent and the world do."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from builders.turns import TURN_SECONDS, Bench
from fakes.clock import START
from herald.agent import Agent, Checkpoint, TaskContext, TaskEnded, checkpoint
from herald.log import Fenced
from herald.ports import Unavailable
from herald.worker.loading import AgentNotLoaded
from herald.worker.turns import MAX_STEPS, Outcome

SECRET = "the client must not see this"


class Does(Agent):
    def __init__(self, *deeds: Callable[[TaskContext], Any]) -> None:
        self.deeds = deeds
        self.runs = 0

    def run(self, task: TaskContext) -> Checkpoint | None:
        deed = self.deeds[min(self.runs, len(self.deeds) - 1)]
        self.runs += 1
        result = deed(task)
        return result if isinstance(result, Checkpoint) else None


def complete(task: TaskContext) -> None:
    task.complete()


def boom(_: TaskContext) -> None:
    raise ValueError(SECRET)


def bench_with(*deeds: Callable[[TaskContext], Any]) -> Bench:
    bench = Bench(Does(*deeds))
    bench.send()
    return bench


def told(bench: Bench) -> tuple[str, str]:
    status = bench.task["status"]
    return status["state"], status.get("message", {"parts": [{"text": ""}]})["parts"][0]["text"]


def kinds(bench: Bench) -> list[str]:
    return [entry.kind for entry in bench.entries]


def test_a_run_opens_with_an_entry_and_the_turns_deadline() -> None:
    bench = bench_with(lambda task: task.working())
    seen: list[tuple[int, int, int | None]] = []
    bench.agent = Does(lambda _: seen.append((bench.header.run, bench.header.end, bench.header.due_at)))

    bench.run()

    assert seen == [(1, 1, START + TURN_SECONDS * 1000)]
    run = bench.entries[1]
    assert (run.kind, run.body, run.turn, run.run) == ("run", "{}", 0, 1)


def test_a_deadline_never_passes_the_tasks_maximum_age() -> None:
    bench = bench_with(complete)
    bench.clock.set(bench.header.end_by - 60_000)
    bench.agent = Does(lambda task: task.require_input("?"))
    bench.run()
    bench.send("late", message_id="m2")
    seen: list[int | None] = []
    bench.agent = Does(lambda _: seen.append(bench.header.due_at))

    bench.run()

    assert seen == [bench.header.end_by]


def test_entries_carry_their_turn_and_run() -> None:
    def report(task: TaskContext) -> None:
        task.working()
        task.artifact("x")
        task.complete()

    bench = bench_with(report)

    bench.run()

    assert [(entry.turn, entry.run) for entry in bench.entries] == [(0, -1), (0, 1), (0, 1), (0, 1), (0, 1)]


def test_b12_an_exception_fails_the_task_with_a_safe_message(caplog: pytest.LogCaptureFixture) -> None:
    bench = bench_with(boom)

    with caplog.at_level(logging.ERROR, "herald"):
        assert bench.run() is Outcome.DONE

    assert told(bench) == ("TASK_STATE_FAILED", "The agent failed while working on this task.")
    assert not any(SECRET in entry.body for entry in bench.entries)
    assert SECRET in caplog.text  # the traceback is for the operator
    assert bench.header.due_at is None


def test_b12_an_exception_after_the_task_ended_overwrites_nothing() -> None:
    def finish_then_fail(task: TaskContext) -> None:
        task.complete("done")
        raise ValueError(SECRET)

    bench = bench_with(finish_then_fail)

    assert bench.run() is Outcome.DONE
    assert told(bench) == ("TASK_STATE_COMPLETED", "done")
    assert kinds(bench) == ["message", "run", "status"]


def test_an_exception_after_a_question_leaves_the_question() -> None:
    def ask_then_fail(task: TaskContext) -> None:
        task.require_input("which?")
        raise ValueError(SECRET)

    bench = bench_with(ask_then_fail)

    assert bench.run() is Outcome.DONE
    assert told(bench) == ("TASK_STATE_INPUT_REQUIRED", "which?")


def test_b14_a_run_without_an_ending_fails_the_task() -> None:
    bench = bench_with(lambda task: task.working())

    assert bench.run() is Outcome.DONE
    assert told(bench) == ("TASK_STATE_FAILED", "The agent ended without finishing the task.")


def test_a_cancelled_coroutine_is_a_failure_of_the_agent() -> None:
    class Gives(Agent):
        async def run(self, task: TaskContext) -> None:
            raise asyncio.CancelledError

    bench = Bench(Gives())
    bench.send()

    assert bench.run() is Outcome.DONE
    assert told(bench) == ("TASK_STATE_FAILED", "The agent failed while working on this task.")


def test_b15_a_task_that_waited_completes_after_the_follow_up() -> None:
    bench = bench_with(lambda task: task.require_input("which?"), complete)

    assert bench.run() is Outcome.DONE
    assert bench.header.due_at == bench.header.end_by
    turn = bench.send("that one", message_id="m2")
    assert (turn, bench.header.turn, bench.header.run) == (3, 3, -1)
    assert bench.run() is Outcome.DONE

    assert [state.value for state in bench.states] == [
        "TASK_STATE_INPUT_REQUIRED",
        "TASK_STATE_WORKING",
        "TASK_STATE_COMPLETED",
    ]


def test_entries_carry_the_trace_of_the_message_that_opened_their_turn() -> None:
    bench = bench_with(lambda task: (task.working(), task.artifact("x"), checkpoint(1))[-1])
    message = replace(bench.entries[0], traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    bench.world.write(bench.ref, "LOG#000000000000", message, bench.header.expires_second)

    bench.run()

    assert [entry.traceparent for entry in bench.entries] == [message.traceparent] * 5


@pytest.mark.parametrize("ending", ["complete", "require_input"])
def test_a_second_call_for_a_turn_that_has_ended_writes_nothing(ending: str) -> None:
    bench = bench_with(lambda task: getattr(task, ending)("x"))
    bench.run()
    before = bench.world.changes()[-1].position

    assert bench.run(turn=0) is Outcome.DONE

    assert bench.world.changes()[-1].position == before
    assert isinstance(bench.agent, Does)
    assert bench.agent.runs == 1


def test_a_call_for_an_earlier_turn_writes_nothing() -> None:
    bench = bench_with(lambda task: task.require_input("?"), complete)
    bench.run()
    bench.send("go on", message_id="m2")
    before = len(bench.entries)

    assert bench.run(turn=0) is Outcome.DONE
    assert len(bench.entries) == before


def test_a_call_for_a_task_that_has_expired_writes_nothing() -> None:
    bench = bench_with(complete)
    bench.clock.set(bench.header.expires_second * 1000)

    assert bench.worker.run(bench.ref, 0, lambda: 900.0) is Outcome.DONE


def test_a_turn_that_has_ended_does_not_even_load_the_agent() -> None:
    bench = bench_with(complete)
    bench.run()

    def missing() -> Agent:
        raise AgentNotLoaded("gone")

    bench.agent = missing
    assert bench.run(turn=0) is Outcome.DONE


def test_an_agent_that_cannot_be_loaded_is_raised_and_writes_nothing() -> None:
    def missing() -> Agent:
        raise AgentNotLoaded("no such module")

    bench = Bench(missing)
    bench.send()

    with pytest.raises(AgentNotLoaded):
        bench.run()
    assert kinds(bench) == ["message"]


def test_b7_a_report_after_a_cancel_is_refused_and_the_run_stops_quietly(caplog: pytest.LogCaptureFixture) -> None:
    bench = bench_with(complete)
    raised: list[type[Exception]] = []

    def late(task: TaskContext) -> None:
        task.working("before")
        bench.cancel()
        assert task.canceled()
        for report in (task.working, task.complete, lambda: task.artifact("x")):
            try:
                report()
            except TaskEnded as error:
                raised.append(type(error))
        raise ValueError("an agent that fails because it was stopped")

    bench.agent = Does(late)
    entries_at_cancel = 4

    assert bench.run() is Outcome.DONE

    assert raised == [TaskEnded] * 3
    assert [state.value for state in bench.states] == ["TASK_STATE_WORKING", "TASK_STATE_CANCELED"]
    assert len(bench.entries) == entries_at_cancel


def test_b7_a_lost_answer_followed_by_a_cancel_lets_nothing_be_written_after_the_end() -> None:
    """The run's own write stood, its answer was lost, and a cancel came before it looked again."""
    bench = bench_with(complete)

    def chunks(task: TaskContext) -> None:
        bench.log.lose_answer_next("put")
        bench.log.before_next("read", bench.cancel)
        task.artifact("one", artifact_id="a")
        task.artifact("two", artifact_id="a", append=True)

    bench.agent = Does(chunks)

    assert bench.run() is Outcome.DONE
    assert kinds(bench) == ["message", "run", "artifact", "status"]
    assert bench.states[-1].value == "TASK_STATE_CANCELED"


def test_g11_a_zombie_is_fenced_by_the_run_that_took_over() -> None:
    bench = bench_with(complete)
    raised: list[str] = []

    def zombie(task: TaskContext) -> None:
        task.working("first run")
        bench.agent = Does(
            lambda second: (second.artifact("second", artifact_id="a"), second.complete("second"))[1] and None
        )
        bench.run()  # Lambda's time-out passed, Step Functions tried again
        try:
            task.artifact("first", artifact_id="a")
        except TaskEnded as error:
            raised.append(str(error))
            raise

    bench.agent = Does(zombie)

    assert bench.run() is Outcome.DONE
    assert raised == ["turn 0, run 1 is over: the task is TASK_STATE_COMPLETED"]
    assert bench.task["artifacts"] == [{"artifactId": "a", "parts": [{"text": "second"}]}]
    assert [entry.run for entry in bench.entries] == [-1, 1, 1, 3, 3, 3]


def test_a_thread_that_outlives_its_run_can_write_nothing() -> None:
    bench = bench_with(complete)
    go, finished = threading.Event(), threading.Event()
    raised: list[Exception] = []

    def late(task: TaskContext) -> None:
        assert go.wait(10)
        try:
            task.artifact("too late")
        except TaskEnded as error:
            raised.append(error)
        finished.set()

    def leave_a_thread(task: TaskContext) -> Checkpoint:
        threading.Thread(target=late, args=[task], daemon=True).start()
        return checkpoint(1)

    bench.agent = Does(leave_a_thread)
    assert bench.run() is Outcome.AGAIN
    go.set()

    assert finished.wait(10)
    assert len(raised) == 1
    assert kinds(bench) == ["message", "run", "run"]


def test_g21_a_checkpoint_is_handed_to_the_next_run() -> None:
    seen: list[tuple[int, int, object]] = []

    def count(task: TaskContext) -> Checkpoint | None:
        seen.append((task.step, task.attempt, task.checkpoint))
        if task.step == 2:
            task.complete()
            return None
        return checkpoint({"step": task.step, "exact": 1.5})

    bench = bench_with(count)

    assert [bench.run(), bench.run(), bench.run()] == [Outcome.AGAIN, Outcome.AGAIN, Outcome.DONE]

    assert seen == [(0, 1, None), (1, 1, {"step": 0, "exact": 1.5}), (2, 1, {"step": 1, "exact": 1.5})]
    assert kinds(bench) == ["message", "run", "run", "run", "run", "run", "status"]
    assert bench.header.due_at is None


def test_g21_a_turn_may_pass_a_thousand_checkpoints_and_no_more() -> None:
    bench = bench_with(lambda task: checkpoint(task.step))
    bench.run_on()

    assert MAX_STEPS == 1_000
    assert told(bench)[0] == "TASK_STATE_FAILED"
    assert told(bench)[1].startswith("The agent stopped 1,000 times to go on later")
    assert isinstance(bench.agent, Does)
    assert bench.agent.runs == 1_000


def test_artifacts_without_an_id_keep_theirs_over_a_crash_but_not_over_a_checkpoint() -> None:
    def crash(task: TaskContext) -> None:
        task.artifact("half")
        raise SystemExit(1)  # the process is gone: nothing catches this

    bench = bench_with(
        lambda task: task.artifact("step 0") and checkpoint(1),
        crash,
        lambda task: task.artifact("step 1") and task.complete(),
    )
    bench.run()
    with pytest.raises(SystemExit):
        bench.run()
    bench.run()

    assert bench.task["artifacts"] == [
        {"artifactId": "artifact-0-0-0", "parts": [{"text": "step 0"}]},
        {"artifactId": "artifact-0-1-0", "parts": [{"text": "step 1"}]},
    ]


def test_attempts_are_counted_from_the_last_checkpoint() -> None:
    seen: list[tuple[int, int]] = []

    def note(task: TaskContext) -> None:
        seen.append((task.step, task.attempt))

    def crash(task: TaskContext) -> None:
        note(task)
        raise SystemExit(1)

    def go_on(task: TaskContext) -> Checkpoint:
        note(task)
        return checkpoint(1)

    def finish(task: TaskContext) -> None:
        note(task)
        task.complete()

    bench = bench_with(
        crash,
        crash,
        go_on,
        crash,
        finish,
    )
    for _ in range(5):
        try:
            bench.run()
        except SystemExit:
            continue

    assert seen == [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2)]


@pytest.mark.parametrize("after_effect", [False, True])
def test_trouble_with_the_table_is_raised_and_the_next_call_finishes(after_effect: bool) -> None:
    bench = bench_with(complete)
    bench.log.fail_next("commit", Unavailable("throttled"))
    with pytest.raises(Unavailable):
        bench.run()
    assert kinds(bench) == ["message"]

    def working(task: TaskContext) -> None:
        bench.log.fail_next("commit", Unavailable("throttled"), after_effect=after_effect)
        task.complete("done")

    bench.agent = Does(working, complete)
    with pytest.raises(Unavailable):
        bench.run()
    assert bench.run() is Outcome.DONE

    assert [state.value for state in bench.states] == ["TASK_STATE_COMPLETED"]


def test_trouble_that_the_agent_wraps_or_swallows_is_still_ours() -> None:
    def wrap(task: TaskContext) -> None:
        bench.log.fail_next("commit", Unavailable("throttled"))
        try:
            task.complete()
        except Unavailable as error:
            raise RuntimeError("the agent's own words") from error

    def swallow(task: TaskContext) -> None:
        bench.log.fail_next("commit", Unavailable("throttled"))
        try:
            task.complete()
        except Exception:
            return

    bench = bench_with(wrap, swallow, complete)

    for _ in range(2):
        with pytest.raises(Unavailable):
            bench.run()
    assert bench.run() is Outcome.DONE
    assert [state.value for state in bench.states] == ["TASK_STATE_COMPLETED"]


def test_an_agent_that_tries_a_report_again_after_trouble_goes_on() -> None:
    def stubborn(task: TaskContext) -> None:
        bench.log.fail_next("commit", Unavailable("throttled"))
        try:
            task.working("one")
        except Unavailable:
            task.working("one")
        raise ValueError("a real failure")

    bench = bench_with(stubborn)

    assert bench.run() is Outcome.DONE
    assert told(bench)[0] == "TASK_STATE_FAILED"


def test_seconds_left_is_the_nearer_of_the_calls_end_and_the_turns_deadline() -> None:
    seen: list[float] = []

    def look(task: TaskContext) -> None:
        seen.append(task.seconds_left())
        bench.clock.advance(TURN_SECONDS - 60)
        seen.append(task.seconds_left())
        bench.clock.advance(120)
        seen.append(task.seconds_left())

    bench = bench_with(look)
    bench.run(seconds_left=870.0)

    assert seen == [870.0, 60.0, 0.0]


def test_what_an_older_run_wrote_just_before_the_next_one_opened_is_seen() -> None:
    seen: list[list[str]] = []

    def look(task: TaskContext) -> None:
        seen.append([artifact.artifact_id for artifact in task.artifacts])
        task.complete()

    def first(task: TaskContext) -> None:
        def slip_in() -> None:
            task.artifact("just in time", artifact_id="late")

        bench.agent = Does(look)
        bench.log.before_next("commit", slip_in)
        bench.run()

    bench = bench_with(first)
    bench.run()

    assert seen == [["late"]]
    assert kinds(bench) == ["message", "run", "artifact", "run", "status"]
    assert [entry.number for entry in bench.entries] == [0, 1, 2, 3, 4]


def test_g11_a_run_whose_opening_was_overtaken_is_fenced_before_it_begins() -> None:
    """Its opening stood, the answer was lost, and another run opened before it looked again."""
    bench = bench_with(complete)

    def never(task: TaskContext) -> None:
        raise AssertionError("this run must not begin")

    def other_run() -> None:
        bench.agent = Does(lambda task: task.require_input("which?"))
        bench.run()

    bench.agent = Does(never)
    bench.log.lose_answer_next("commit")
    # Of the reads, the first is the run's own before it opens, the second looks for what took its number.
    bench.log.before_next("read", lambda: None)
    bench.log.before_next("read", other_run)

    assert bench.run() is Outcome.DONE
    assert [(entry.kind, entry.run) for entry in bench.entries[1:]] == [("run", 1), ("run", 2), ("status", 2)]


def test_a_run_is_not_opened_in_a_turn_that_ends_just_then() -> None:
    bench = bench_with(complete)

    def other_run() -> None:
        bench.agent = Does(lambda task: task.require_input("which?"))
        bench.run()

    bench.log.before_next("commit", other_run)

    assert bench.run() is Outcome.DONE
    assert kinds(bench) == ["message", "run", "status"]
    assert bench.states[-1].value == "TASK_STATE_INPUT_REQUIRED"


def test_b9_of_a_completion_and_a_cancel_at_once_exactly_one_wins() -> None:
    wins: Counter[str] = Counter()

    class Races(Agent):
        def __init__(self) -> None:
            self.stopped = False

        def run(self, task: TaskContext) -> None:
            task.artifact("half")
            start.wait()
            try:
                task.complete()
            except TaskEnded:
                self.stopped = True
                raise

    for _ in range(1_000):
        agent = Races()
        bench = Bench(agent)
        bench.send()
        start = threading.Barrier(2, timeout=10)
        run = threading.Thread(target=bench.run)
        run.start()
        start.wait()
        refused = False
        try:
            bench.cancel()
        except Fenced:
            refused = True
        run.join(10)

        assert len(bench.states) == 1
        winner = bench.states[0].value
        assert (agent.stopped, refused) == ((True, False) if winner == "TASK_STATE_CANCELED" else (False, True))
        assert bench.header.state == winner
        assert [entry.number for entry in bench.entries] == [0, 1, 2, 3]
        wins[winner] += 1
    assert wins.total() == 1_000


def make_and_ask(task: TaskContext) -> None:
    task.artifact("early", artifact_id="a")
    task.require_input("?")


def make_and_crash(task: TaskContext) -> None:
    task.artifact("early", artifact_id="a")
    raise SystemExit(1)


@pytest.mark.parametrize("hidden", range(6))
def test_a_run_that_is_served_a_gap_is_tried_again_and_its_agent_misses_nothing(hidden: int) -> None:
    bench = bench_with(make_and_ask)
    bench.run()
    bench.send("late", message_id="m2")
    assert kinds(bench) == ["message", "run", "artifact", "status", "message", "status"]
    seen: list[tuple[int, int]] = []

    def look(task: TaskContext) -> None:
        seen.append((len(task.history), len(task.artifacts)))
        task.complete()

    bench.agent = Does(look)
    bench.log.hide_next(bench.ref, hidden, pages=1 if hidden == 5 else 2)  # a page with a gap is read twice

    with pytest.raises(Unavailable, match="can't be seen"):
        bench.run()
    assert (len(bench.entries), seen) == (6, [])
    bench.run()

    assert seen == [(2, 1)]
    assert bench.states[-1] == "TASK_STATE_COMPLETED"


def test_a_run_whose_second_look_is_served_a_short_page_too_looks_again() -> None:
    bench = bench_with(make_and_crash)
    with pytest.raises(SystemExit):
        bench.run()
    seen: list[int] = []

    def look(task: TaskContext) -> None:
        seen.append(len(task.artifacts))
        task.complete()

    bench.agent = Does(look)
    # The header knows nothing of the artifact, so its absence is found when the run is put where it lies.
    assert bench.header.end < bench.entries[-1].number == 2
    bench.log.hide_next(bench.ref, 2)
    bench.log.after_next("commit", lambda: bench.log.hide_next(bench.ref, 2))

    assert bench.run() is Outcome.DONE
    assert seen == [1]
    assert kinds(bench) == ["message", "run", "artifact", "run", "status"]
