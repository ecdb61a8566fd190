"""Invariant 3: one turn, one execution, whatever is retried or doubled."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import invariant

from builders.turn_machine import TurnMachine
from builders.turns import TURN_SECONDS
from herald.protocol import codec
from herald.records import Entry


class OneExecutionPerTurn(TurnMachine):
    """Executions and turns match, one to one."""

    @property
    def messages(self) -> list[Entry]:
        return [entry for entry in self.bench.entries if entry.kind == "message"]

    @property
    def opened(self) -> list[Entry]:
        return [entry for entry in self.bench.entries if entry.opens_turn]

    @invariant()
    def no_turn_has_two_executions(self) -> None:
        turns = [turn for _, turn in self.bench.launcher.started]
        assert len(set(turns)) == len(turns)

    @invariant()
    def each_execution_is_of_a_turn_and_of_the_second_in_which_it_began(self) -> None:
        opened = {(entry.turn, entry.at // 1000) for entry in self.opened}
        assert {(turn, second) for _, turn, second in self.bench.launcher.executions} <= opened

    @invariant()
    def a_message_sent_twice_is_taken_once(self) -> None:
        ids = [codec.loads(entry.body)["message"]["messageId"] for entry in self.messages]
        assert len(set(ids)) == len(ids)
        assert set(self.answered) <= set(ids), "what was answered is stored"

    @invariant()
    def a_turn_is_opened_once_and_is_a_messages(self) -> None:
        turns = [entry.turn for entry in self.opened]
        assert turns == sorted(set(turns)), "one after the other, in the order of their messages"
        assert set(turns) <= {entry.number for entry in self.messages}
        assert {entry.turn for entry in self.bench.entries} == set(turns)

    def teardown(self) -> None:
        waiting = self.bench.header if not self.bench.header.interrupted else None
        self.settle()
        if waiting is not None and waiting.run < 0 and waiting.due_at is not None:
            # The stream may never have told of it: then sweep has started it, if there was time left to run it in.
            in_time = waiting.due_at < waiting.opened_at + TURN_SECONDS * 1000
            assert not in_time or (self.bench.ref, waiting.turn) in self.bench.launcher.started
        self.read_stream(0)
        assert sorted(turn for _, turn in self.bench.launcher.started) == [entry.turn for entry in self.opened]


TestOneExecutionPerTurn = OneExecutionPerTurn.TestCase
TestOneExecutionPerTurn.settings = settings(
    max_examples=200, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
