"""Invariant 2: log numbers of a task have no gap and no double; a terminal entry is the last."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import invariant

from builders.turn_machine import TurnMachine
from herald.log import fold
from herald.protocol.states import INTERRUPTED, TERMINAL, TaskState, may_follow
from herald.records import Entry


class LogStaysWhole(TurnMachine):
    """Whatever happens, the log is a log, and the header says what the log says."""

    def __init__(self) -> None:
        super().__init__()
        self.known: list[Entry] = []

    @invariant()
    def numbers_have_no_gap_and_no_double(self) -> None:
        assert [entry.number for entry in self.bench.entries] == list(range(len(self.bench.entries)))
        writers = [entry.writer for entry in self.bench.entries]
        assert len(set(writers)) == len(writers)

    @invariant()
    def what_is_written_is_never_changed(self) -> None:
        entries = self.bench.entries
        assert entries[: len(self.known)] == self.known
        self.known = entries

    @invariant()
    def a_terminal_entry_is_the_last(self) -> None:
        ends = [entry.number for entry in self.bench.entries if entry.state in TERMINAL]
        assert ends in ([], [len(self.bench.entries) - 1])

    @invariant()
    def each_state_may_follow_the_one_before(self) -> None:
        state = TaskState.SUBMITTED
        for entry in self.bench.entries:
            if entry.state is not None:
                assert may_follow(state, entry.state)
                state = entry.state
        assert self.bench.header.state == state

    @invariant()
    def the_header_says_what_the_log_says(self) -> None:
        header, entries = self.bench.header, self.bench.entries
        opened = [entry for entry in entries if entry.opens_turn][-1]
        assert (header.turn, header.opened_at) == (opened.turn, opened.at)
        assert header.run == max([e.number for e in entries[opened.number :] if e.kind == "run"], default=-1)
        assert header.status_number == max([e.number for e in entries if e.kind == "status"], default=-1)
        assert header.status_number <= header.end < len(entries)
        assert (header.due_at is None) == header.terminal

    @invariant()
    def nobody_writes_for_a_run_that_is_over(self) -> None:
        run = -1  # of the run that is open
        for entry in self.bench.entries:
            if entry.kind == "run":
                if entry.body != "{}":
                    assert entry.run == run, "a checkpoint ends the run that is open"
                run = entry.number if entry.body == "{}" else -1
            elif entry.opens_turn:
                run = -1
            elif entry.run != -1:
                assert entry.run == run

    @invariant()
    def a_turn_that_has_ended_is_left_alone(self) -> None:
        turn, waits = 0, False
        for entry in self.bench.entries:
            if entry.opens_turn or (waits and entry.kind == "message"):
                assert entry.turn in (entry.number, turn) if entry.kind == "message" else entry.turn >= turn
                turn, waits = entry.turn, False
            assert entry.turn == turn
            assert not waits or entry.state in TERMINAL
            waits = entry.state in INTERRUPTED

    def teardown(self) -> None:
        self.settle()
        self.numbers_have_no_gap_and_no_double()
        self.a_terminal_entry_is_the_last()
        assert self.bench.header.terminal, "a task comes to an end without any further request (B13, B14)"
        assert fold(self.bench.ref, self.bench.entries)["status"]["state"] == self.bench.header.state.value


TestLogStaysWhole = LogStaysWhole.TestCase
TestLogStaysWhole.settings = settings(
    max_examples=200, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
