"""Invariant 3: one turn, one execution, whatever is retried or doubled."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import invariant

from builders.turn_machine import TurnMachine
from builders.turns import TURN_SECONDS
from herald.protocol import codec
from herald.records import Entry


class OneExecutionPerTurn(TurnMachine):
    """Executions and messages match, one to one."""

    @property
    def messages(self) -> list[Entry]:
        return [entry for entry in self.bench.entries if entry.kind == "message"]

    @invariant()
    def no_turn_has_two_executions(self) -> None:
        turns = [turn for _, turn in self.bench.launcher.started]
        assert len(set(turns)) == len(turns)

    @invariant()
    def each_execution_is_of_a_message(self) -> None:
        opened = {(entry.number, entry.at // 1000) for entry in self.messages}
        assert {(turn, second) for _, turn, second in self.bench.launcher.executions} <= opened

    @invariant()
    def a_message_sent_twice_is_taken_once(self) -> None:
        ids = [codec.loads(entry.body)["message"]["messageId"] for entry in self.messages]
        assert len(set(ids)) == len(ids)
        assert set(self.answered) <= set(ids), "what was answered is stored"

    @invariant()
    def a_message_opens_a_turn_and_nothing_else_does(self) -> None:
        assert all(entry.turn == entry.number for entry in self.messages)
        opened = {entry.number for entry in self.messages}
        assert {entry.turn for entry in self.bench.entries} <= opened

    def teardown(self) -> None:
        waiting = self.bench.header if not self.bench.header.interrupted else None
        self.settle()
        if waiting is not None and not waiting.terminal and waiting.run < 0:
            # The stream may never have told of it: then sweep has started it, if there was time left to run it in.
            opened_at = self.bench.entries[waiting.turn].at
            if waiting.due_at is not None and waiting.due_at < opened_at + TURN_SECONDS * 1000:
                assert (self.bench.ref, waiting.turn) in self.bench.launcher.started
        self.read_stream(0)
        assert sorted(turn for _, turn in self.bench.launcher.started) == [entry.number for entry in self.messages]


TestOneExecutionPerTurn = OneExecutionPerTurn.TestCase
TestOneExecutionPerTurn.settings = settings(
    max_examples=200, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
