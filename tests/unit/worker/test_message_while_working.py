"""Messages that come while an agent works: read by it, or a turn of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from builders.turns import TURN_SECONDS, Bench
from fakes.clock import START
from herald.agent import Agent, AgentError, Checkpoint, Incoming, TaskContext, TaskEnded, checkpoint
from herald.ports import Unavailable
from herald.upkeep.turns import Turns
from herald.worker.turns import Outcome

MINUTE = 60_000


class Does(Agent):
    """Each run does the next deed, the last one for ever."""

    def __init__(self, *deeds: Callable[[TaskContext], Any]) -> None:
        self.deeds = list(deeds)

    def run(self, task: TaskContext) -> Checkpoint | None:
        deed = self.deeds.pop(0) if len(self.deeds) > 1 else self.deeds[0]
        result = deed(task)
        return result if isinstance(result, Checkpoint) else None


def bench_with(*deeds: Callable[[TaskContext], Any], text: str = "hi") -> Bench:
    bench = Bench(Does(*deeds))
    bench.send(text)
    return bench


def complete(task: TaskContext) -> None:
    task.complete(f"Done: {task.text}")


def new_texts(task: TaskContext) -> list[str]:
    return [said.text for said in task.new_messages()]


def log(bench: Bench) -> list[tuple[str, int]]:
    """Kind or state, and turn, of each entry."""
    return [
        (entry.state.value.removeprefix("TASK_STATE_") if entry.state else entry.kind, entry.turn)
        for entry in bench.entries
    ]


def history(messages: list[Any]) -> list[str]:
    return [message.parts[0].text for message in messages]


def turns_of(bench: Bench) -> Turns:
    return Turns(bench.log, bench.launcher, bench.clock, bench.ids, TURN_SECONDS)


# ---- an agent that never asks ----


def test_the_ending_gives_way_and_the_message_is_a_turn_of_its_own() -> None:
    seen: list[tuple[int, str, list[str], int, int]] = []

    def work(task: TaskContext) -> None:
        seen.append((task.turn, task.text, history(task.history), task.step, task.attempt))
        if task.turn == 0:
            task.working("Reading")
            bench.send("the last quarter only", message_id="m2")
        complete(task)

    bench = bench_with(work)

    assert bench.run() is Outcome.DONE
    assert log(bench) == [("message", 0), ("run", 0), ("WORKING", 0), ("message", 0), ("WORKING", 3)]
    assert bench.task["status"]["state"] == "TASK_STATE_WORKING"
    assert bench.task["status"]["message"]["parts"] == [{"text": "Done: hi"}]
    header = bench.header
    assert (header.turn, header.run, header.status_number, header.due_at) == (3, -1, 4, START + MINUTE)
    assert bench.run(turn=0) is Outcome.DONE  # Step Functions tries again after a lost answer

    assert bench.run() is Outcome.DONE
    assert log(bench)[5:] == [("run", 3), ("COMPLETED", 3)]
    assert bench.task["status"]["message"]["parts"] == [{"text": "Done: the last quarter only"}]
    assert seen == [(0, "hi", [], 0, 1), (3, "the last quarter only", ["hi", "Reading", "Done: hi"], 0, 1)]


def test_a_message_before_the_first_run_is_unread_too() -> None:
    bench = bench_with(complete)
    bench.send("and this", message_id="m2")

    bench.run()
    bench.run()

    assert log(bench) == [
        ("message", 0),
        ("message", 0),
        ("run", 0),
        ("WORKING", 1),
        ("run", 1),
        ("COMPLETED", 1),
    ]


def test_each_of_several_messages_is_a_turn_in_order() -> None:
    seen: list[tuple[str, list[str]]] = []

    def note(task: TaskContext) -> None:
        seen.append((task.text, history(task.history)))
        complete(task)

    bench = bench_with(note, text="a")
    for text in "bcd":
        bench.send(text, message_id=text)

    for _ in range(4):
        bench.run()

    assert [text for text, _ in seen] == ["a", "b", "c", "d"]
    assert seen[3][1] == ["a", "b", "c", "Done: a", "Done: b", "Done: c"]
    assert bench.task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert [entry.turn for entry in bench.entries if entry.opens_turn] == [0, 1, 2, 3]


@pytest.mark.parametrize("ask", ["require_input", "require_auth"])
def test_a_question_gives_way_to_what_was_said_already(ask: str) -> None:
    bench = bench_with(lambda task: getattr(task, ask)("Which year?"), complete)
    bench.send("2024", message_id="m2")

    bench.run()
    assert bench.task["status"]["state"] == "TASK_STATE_WORKING"
    assert bench.header.due_at == START + MINUTE
    bench.run()

    assert bench.task["status"]["message"]["parts"] == [{"text": "Done: 2024"}]
    assert [said["parts"][0]["text"] for said in bench.task["history"]] == ["hi", "2024", "Which year?"]


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (lambda task: task.fail("no"), "TASK_STATE_FAILED"),
        (lambda task: task.reject("no"), "TASK_STATE_REJECTED"),
        (lambda _: None, "TASK_STATE_FAILED"),
        (lambda _: 1 / 0, "TASK_STATE_FAILED"),
    ],
)
def test_what_ends_without_success_ends_for_good(end: Callable[[TaskContext], Any], state: str) -> None:
    bench = bench_with(end)
    bench.send("and this", message_id="m2")

    bench.run()

    assert bench.task["status"]["state"] == state
    assert (bench.header.turn, bench.header.due_at) == (0, None)
    assert len(bench.task["history"]) == 2


def test_b8_a_cancel_ends_for_good_too() -> None:
    bench = bench_with(complete)
    bench.send("and this", message_id="m2")
    bench.cancel()

    assert bench.run() is Outcome.DONE
    assert log(bench) == [("message", 0), ("message", 0), ("CANCELED", 0)]


def test_the_metadata_of_an_ending_that_gives_way_is_kept() -> None:
    bench = bench_with(lambda task: task.complete(metadata={"pages": 3}))
    bench.send("and this", message_id="m2")

    bench.run()

    assert bench.task["metadata"] == {"pages": 3}
    assert "message" not in bench.task["status"]


def test_artifacts_of_two_turns_are_two_artifacts() -> None:
    def deliver(task: TaskContext) -> None:
        task.artifact("for " + task.text)
        complete(task)

    bench = bench_with(deliver)
    bench.send("more", message_id="m2")

    bench.run()
    bench.run()

    assert [artifact["artifactId"] for artifact in bench.task["artifacts"]] == ["artifact-0-0-0", "artifact-1-0-0"]


# ---- an agent that asks ----


def test_what_was_read_opens_no_turn_and_is_handed_out_once() -> None:
    seen: list[list[str]] = []

    def work(task: TaskContext) -> None:
        seen.append(new_texts(task))
        bench.send("one", message_id="m2")
        bench.send("two", message_id="m3")
        seen.append(new_texts(task))
        seen.append(new_texts(task))
        complete(task)

    bench = bench_with(work)
    bench.run()

    assert seen == [[], ["one", "two"], []]
    assert log(bench) == [("message", 0), ("run", 0), ("message", 0), ("message", 0), ("COMPLETED", 0)]


def test_a_later_turn_finds_what_an_earlier_one_has_read_in_its_history() -> None:
    seen: list[tuple[str, list[str], list[str]]] = []

    def work(task: TaskContext) -> None:
        if task.turn == 0:
            bench.send("read", message_id="m2")
            read = new_texts(task)
            bench.send("unread", message_id="m3")
            bench.send("later", message_id="m4")
        else:
            read = new_texts(task)
        seen.append((task.text, read, history(task.history)))
        complete(task)

    bench = bench_with(work)
    bench.run()
    bench.run()

    assert seen == [("hi", ["read"], []), ("unread", ["later"], ["hi", "read", "Done: hi"])]
    assert bench.task["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_message_comes_with_what_its_request_said() -> None:
    seen: list[Incoming] = []

    def work(task: TaskContext) -> None:
        bench.send(
            [{"text": "a"}, {"data": 1}, {"text": "b"}],
            message_id="m2",
            metadata={"https://x.example/ext": {"k": 0}},
            accepted_output_modes=["text/*"],
            extensions=["https://x.example/ext"],
            referenceTaskIds=["t1"],
        )
        seen.extend(task.new_messages())
        complete(task)

    bench = bench_with(work)
    bench.run()

    [said] = seen
    assert (said.text, said.message.message_id, len(said.message.parts)) == ("a\nb", "m2", 3)
    assert said.metadata == {"https://x.example/ext": {"k": 0}}
    assert (said.extensions, said.reference_task_ids) == (("https://x.example/ext",), ("t1",))
    assert (said.accepts("text/plain"), said.accepts("image/png")) == (True, False)


def test_asking_costs_one_read() -> None:
    counted: list[dict[str, int]] = []

    def work(task: TaskContext) -> None:
        for _ in range(2):
            bench.log.calls.clear()
            task.new_messages()
            counted.append(dict(bench.log.calls))
            bench.send("one", message_id="m2")
        complete(task)

    bench_with(work)
    bench = bench_with(work)
    bench.run()

    assert counted == [{"read": 1}, {"read": 1}]


def test_what_a_crashed_run_had_read_is_unread_again() -> None:
    seen: list[list[str]] = []

    def crash(task: TaskContext) -> None:
        seen.append(new_texts(task))
        raise SystemExit(1)

    def finish(task: TaskContext) -> None:
        seen.append(new_texts(task))
        complete(task)

    bench = bench_with(crash, finish)
    bench.send("one", message_id="m2")
    with pytest.raises(SystemExit):
        bench.run()
    bench.send("two", message_id="m3")
    bench.run()

    assert seen == [["one"], ["one", "two"]]
    assert bench.task["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_crash_before_any_reading_loses_nothing() -> None:
    def crash(_: TaskContext) -> None:
        raise SystemExit(1)

    bench = bench_with(crash, complete)
    bench.send("one", message_id="m2")
    with pytest.raises(SystemExit):
        bench.run()
    bench.run()

    assert (bench.header.turn, bench.header.run) == (1, -1)


def test_what_was_read_before_a_checkpoint_stays_read() -> None:
    seen: list[list[str]] = []

    def pause(task: TaskContext) -> Checkpoint:
        seen.append(new_texts(task))
        return checkpoint({"read": "the agent's own word"})

    def crash(task: TaskContext) -> None:
        seen.append(new_texts(task))
        raise SystemExit(1)

    def finish(task: TaskContext) -> None:
        assert task.checkpoint == {"read": "the agent's own word"}
        seen.append(new_texts(task))
        complete(task)

    bench = bench_with(pause, crash, pause, finish)
    bench.send("one", message_id="m2")
    assert bench.run() is Outcome.AGAIN
    bench.send("two", message_id="m3")
    with pytest.raises(SystemExit):
        bench.run()
    assert bench.run() is Outcome.AGAIN
    bench.run()

    assert seen == [["one"], ["two"], ["two"], []]
    assert [entry.body for entry in bench.entries if entry.kind == "run" and entry.body != "{}"] == [
        '{"checkpoint":{"read":"the agent\'s own word"},"read":1}',
        '{"checkpoint":{"read":"the agent\'s own word"},"read":4}',
    ]
    assert bench.task["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_checkpoint_of_an_agent_that_never_asks_holds_no_mark_and_its_ending_gives_way() -> None:
    bench = bench_with(lambda _: checkpoint(1), complete)
    bench.send("one", message_id="m2")

    bench.run_on()

    assert bench.entries[3].body == '{"checkpoint":1}'
    assert bench.header.turn == 1


def test_a_turn_that_was_opened_late_counts_its_own_runs_only() -> None:
    seen: list[tuple[int, int, object]] = []

    def work(task: TaskContext) -> Checkpoint | None:
        seen.append((task.step, task.attempt, task.checkpoint))
        if task.turn == 0 and task.step == 0:
            bench.send("one", message_id="m2")
            return checkpoint("of turn 0")
        complete(task)
        return None

    bench = bench_with(work)
    bench.run_on()
    bench.run_on()

    assert seen == [(0, 1, None), (1, 1, "of turn 0"), (0, 1, None)]


# ---- who gets the number first ----


def test_a_message_right_before_the_ending_is_seen_by_it() -> None:
    def work(task: TaskContext) -> None:
        bench.log.before_next("commit", lambda: bench.send("just in time", message_id="m2"))
        complete(task)

    bench = bench_with(work, complete)
    bench.run()

    assert log(bench) == [("message", 0), ("run", 0), ("message", 0), ("WORKING", 2)]


def test_an_ending_that_is_overtaken_twice_gives_way_to_the_first_of_the_two() -> None:
    def work(task: TaskContext) -> None:
        bench.log.before_next("commit", lambda: bench.send("first", message_id="m2"))  # its commit is the next one
        bench.log.after_next("commit", lambda: bench.send("second", message_id="m3"))
        complete(task)

    bench = bench_with(work, complete)
    bench.run()

    assert log(bench) == [("message", 0), ("run", 0), ("message", 0), ("message", 0), ("WORKING", 2)]


def test_b15_a_message_right_after_a_question_is_its_answer() -> None:
    def work(task: TaskContext) -> None:
        bench.log.after_next("commit", lambda: bench.send("2024", message_id="m2"))
        task.require_input("Which year?")

    bench = bench_with(work, complete)
    bench.run()
    bench.run()

    assert log(bench) == [
        ("message", 0),
        ("run", 0),
        ("INPUT_REQUIRED", 0),
        ("message", 3),
        ("WORKING", 3),
        ("run", 3),
        ("COMPLETED", 3),
    ]


@pytest.mark.parametrize("how", ["lost", "raised after"])
def test_a_lost_answer_to_an_ending_that_gives_way_opens_one_turn(how: str) -> None:
    def work(task: TaskContext) -> None:
        if how == "lost":
            bench.log.lose_answer_next("commit")
        else:
            bench.log.fail_next("commit", Unavailable("throttled"), after_effect=True)
        complete(task)

    bench = bench_with(work, complete)
    bench.send("one", message_id="m2")
    if how == "lost":
        assert bench.run() is Outcome.DONE
    else:
        with pytest.raises(Unavailable):
            bench.run()
        assert bench.run(turn=0) is Outcome.DONE

    assert log(bench) == [("message", 0), ("message", 0), ("run", 0), ("WORKING", 1)]


def test_a_throttled_ending_is_tried_again_by_the_next_run() -> None:
    def work(task: TaskContext) -> None:
        assert new_texts(task) == ["one"]
        bench.log.fail_next("commit", Unavailable("throttled"))
        complete(task)

    def again(task: TaskContext) -> None:
        assert new_texts(task) == ["one"]
        complete(task)

    bench = bench_with(work, again)
    bench.send("one", message_id="m2")
    with pytest.raises(Unavailable):
        bench.run()
    bench.run()

    assert log(bench)[-1] == ("COMPLETED", 0)


def test_a_message_between_a_lost_answer_to_the_opening_and_the_first_report_is_not_missed() -> None:
    """The header that the run reads anew knows of the message then; the run doesn't yet."""
    bench = bench_with(complete)
    bench.log.lose_answer_next("commit")
    bench.log.before_next("header", lambda: None)
    bench.log.before_next("header", lambda: bench.send("just then", message_id="m2"))

    bench.run()

    assert log(bench) == [("message", 0), ("run", 0), ("message", 0), ("WORKING", 2)]


def test_a_run_that_could_not_see_what_overtook_it_writes_nothing_after_the_end() -> None:
    """It has learned of the number that was taken, but not by whom, when its agent tries again."""

    def work(task: TaskContext) -> None:
        bench.cancel()
        bench.log.fail_next("header", Unavailable("throttled"))
        with pytest.raises(Unavailable):
            task.artifact("too late", artifact_id="a")
        task.artifact("too late", artifact_id="a")

    bench = bench_with(work)

    assert bench.run() is Outcome.DONE
    assert log(bench) == [("message", 0), ("run", 0), ("CANCELED", 0)]


# ---- after the end ----


def test_after_the_turns_end_the_agent_can_neither_ask_nor_report() -> None:
    complaints: list[str] = []

    def work(task: TaskContext) -> Checkpoint:
        complete(task)
        for late in (task.new_messages, task.working):
            try:
                late()
            except AgentError as error:
                complaints.append(str(error))
        return checkpoint("dropped")

    bench = bench_with(work)
    bench.send("one", message_id="m2")

    assert bench.run() is Outcome.DONE
    assert complaints == [
        f"{report}(): this run has already ended its turn with TASK_STATE_COMPLETED; return after it"
        for report in ("new_messages", "working")
    ]
    assert log(bench)[-1] == ("WORKING", 1)


def test_asking_tells_that_the_task_was_canceled() -> None:
    raised: list[bool] = []

    def work(task: TaskContext) -> None:
        bench.send("one", message_id="m2")
        bench.cancel()
        for _ in range(2):
            try:
                task.new_messages()
            except TaskEnded:
                raised.append(True)

    bench = bench_with(work)

    assert bench.run() is Outcome.DONE
    assert raised == [True, True]


def test_a_zombie_is_handed_nothing() -> None:
    seen: list[list[str]] = []

    def finish(task: TaskContext) -> None:
        seen.append(new_texts(task))
        complete(task)

    def zombie(task: TaskContext) -> None:
        bench.send("one", message_id="m2")
        bench.run()
        with pytest.raises(TaskEnded):
            task.new_messages()

    bench = bench_with(zombie, finish)
    bench.run()

    assert seen == [["one"]]


def test_a_table_that_fails_while_the_agent_asks_is_trouble_of_ours() -> None:
    def work(task: TaskContext) -> None:
        bench.log.fail_next("read", Unavailable("throttled"))
        task.new_messages()

    bench = bench_with(work, complete)
    with pytest.raises(Unavailable):
        bench.run()

    assert bench.run() is Outcome.DONE
    assert log(bench)[-1] == ("COMPLETED", 0)


# ---- time, and those who look after turns ----


def given_way(minutes: int) -> Bench:
    """A task whose first turn gave way to a message this long after it was sent, the message having come at once."""
    bench = bench_with(complete)
    bench.send("one", message_id="m2")
    bench.clock.advance(minutes * 60)
    bench.run()
    return bench


def test_a_turns_time_counts_from_when_it_was_opened() -> None:
    left: list[float] = []
    bench = given_way(50)
    bench.clock.advance(60)

    def look(task: TaskContext) -> None:
        left.append(task.seconds_left())
        task.require_input("?")

    bench.agent = Does(look)
    bench.run(seconds_left=10_000.0)

    assert left == [TURN_SECONDS - 60]
    assert bench.entries[4].kind == "run"


def test_a_turn_that_was_not_started_is_started_again_under_the_second_in_which_it_was_opened() -> None:
    bench = given_way(50)
    bench.clock.advance(60)

    assert turns_of(bench).look_after(bench.ref) == "started again"
    assert list(bench.launcher.executions) == [(bench.ref, 1, START // 1000 + 3000)]
    assert bench.header.due_at == START + 52 * MINUTE


def test_b13_a_turn_that_gave_way_too_late_to_be_started_is_failed_by_its_own_deadline() -> None:
    bench = given_way(50)
    bench.clock.set(START + 50 * MINUTE + TURN_SECONDS * 1000)

    assert turns_of(bench).look_after(bench.ref) == "ended"
    assert bench.task["status"]["message"]["parts"][0]["text"] == "The agent could not be started in time."


def test_b13_a_run_past_its_turns_deadline_is_failed_and_its_execution_stopped() -> None:
    bench = given_way(50)
    bench.launcher.start(bench.ref, 1, bench.header.opened_at)
    bench.agent = Does(lambda _: checkpoint(1))
    bench.run()
    bench.clock.set(START + 50 * MINUTE + TURN_SECONDS * 1000)

    assert turns_of(bench).look_after(bench.ref) == "ended"
    assert bench.launcher.stopped == [(bench.ref, 1)]


def test_a_task_at_its_maximum_age_is_ended_whatever_waits() -> None:
    bench = given_way(0)
    bench.clock.set(bench.header.end_by)

    assert turns_of(bench).look_after(bench.ref) == "ended"
    assert bench.header.terminal


def test_b12_the_execution_of_a_turn_that_gave_way_fails_nothing_when_it_stops() -> None:
    bench = given_way(0)

    assert turns_of(bench).stopped(bench.ref, 0) is False
    assert bench.header.turn == 1
    assert turns_of(bench).stopped(bench.ref, 1) is True


def test_a_deadline_that_races_an_ending_that_gives_way_ends_nothing() -> None:
    bench = bench_with(lambda _: checkpoint(1), complete)
    bench.run()
    bench.send("one", message_id="m2")
    bench.clock.set(START + TURN_SECONDS * 1000)
    bench.log.before_next("commit", lambda: bench.run() and None)

    assert turns_of(bench).look_after(bench.ref) == ""
    assert log(bench)[-1] == ("WORKING", 3)


def test_b12_a_message_that_races_the_failing_of_its_turn_keeps_it_from_nothing() -> None:
    bench = bench_with(lambda _: checkpoint(1))
    bench.run()
    bench.log.before_next("commit", lambda: bench.send("one", message_id="m2") and None)

    assert turns_of(bench).stopped(bench.ref, 0) is True
    assert log(bench)[-2:] == [("message", 0), ("FAILED", 0)]


# ---- size ----


def test_messages_that_come_while_it_works_leave_an_agent_less_room() -> None:
    def work(task: TaskContext) -> None:
        bench.send("x" * 3_000_000, message_id="m2")
        with pytest.raises(AgentError, match="more than 4,900,000"):
            task.artifact("x" * 2_000_000)
        assert new_texts(task) == ["x" * 3_000_000]
        task.artifact("x" * 1_800_000)
        complete(task)

    bench = bench_with(work)
    bench.run()

    assert bench.task["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_message_that_comes_between_the_measuring_and_the_writing_is_counted() -> None:
    def work(task: TaskContext) -> None:
        bench.log.before_next("put", lambda: bench.send("x" * 3_000_000, message_id="m2"))
        with pytest.raises(AgentError, match="more than 4,900,000"):
            task.artifact("x" * 2_000_000)
        complete(task)

    bench = bench_with(work)
    bench.run()

    assert [kind for kind, _ in log(bench)] == ["message", "run", "message", "WORKING"]
