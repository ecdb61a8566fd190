"""A message that was taken is read by a run, or opens exactly one turn, or its task has ended without success."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import invariant

from builders.turn_machine import TurnMachine
from herald.protocol import codec
from herald.protocol.states import INTERRUPTED, TaskState
from herald.records import Entry


class NoMessageIsLost(TurnMachine):
    """What runs were given is compared with what the log made of it."""

    @property
    def messages(self) -> dict[int, str]:
        """messageIds by number."""
        return {
            entry.number: codec.loads(entry.body)["message"]["messageId"]
            for entry in self.bench.entries
            if entry.kind == "message"
        }

    def read_by(self, run: Entry) -> list[str]:
        """What a run's turn had been given by then: by the run itself, and before each checkpoint of the turn."""
        kept = [
            message
            for entry in self.bench.entries[: run.number]
            if entry.kind == "run" and entry.turn == run.turn and entry.body != "{}"
            for message in self.handed_out.get(entry.run, [])
        ]
        return kept + self.handed_out.get(run.number, [])

    @invariant()
    def an_ending_has_heard_everything_before_it(self) -> None:
        entries, messages = self.bench.entries, self.messages
        for entry in entries:
            if entry.run >= 0 and entry.state in INTERRUPTED | {TaskState.COMPLETED}:
                later = [messages[number] for number in messages if entry.turn < number < entry.number]
                assert self.read_by(entries[entry.run]) == later, "each once, in order"

    @invariant()
    def a_turn_gives_way_to_the_first_message_that_it_has_not_read(self) -> None:
        entries, messages = self.bench.entries, self.messages
        for entry in entries[1:]:
            if not entry.opens_turn or entries[entry.turn].turn == entry.turn:
                continue  # a follow-up's turn begins with its message
            run = [before for before in entries[: entry.number] if before.kind == "run"][-1]
            later = [messages[number] for number in messages if run.turn < number < entry.turn]
            assert self.read_by(run) == later

    @invariant()
    def a_message_is_read_or_opens_a_turn_and_never_both(self) -> None:
        opened = {self.messages[entry.turn] for entry in self.bench.entries if entry.opens_turn}
        ended = {entry.run for entry in self.bench.entries if entry.state in INTERRUPTED | {TaskState.COMPLETED}}
        read = {message for run in ended if run >= 0 for message in self.read_by(self.bench.entries[run])}
        assert not opened & read

    def teardown(self) -> None:
        self.bench.log.forget_faults()
        self.bench.launcher.forget_faults()
        self.agent.script = [("report", "complete")]
        for _ in range(len(self.messages) + 1):
            self.read_stream(self.seen)
            if self.bench.header.terminal or self.bench.header.interrupted:
                break
            self.bench.run()
        assert self.bench.header.terminal or self.bench.header.interrupted, "a turn for each message is enough"
        self.an_ending_has_heard_everything_before_it()
        if self.bench.header.state in INTERRUPTED | {TaskState.COMPLETED}:
            opened = {self.messages[entry.turn] for entry in self.bench.entries if entry.opens_turn}
            read = {message for messages in self.handed_out.values() for message in messages}
            assert set(self.answered) <= opened | read
        self.read_stream(0)
        started = sorted(turn for _, turn in self.bench.launcher.started)
        assert started == [entry.turn for entry in self.bench.entries if entry.opens_turn]


TestNoMessageIsLost = NoMessageIsLost.TestCase
TestNoMessageIsLost.settings = settings(
    max_examples=200, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
