"""A task in a fake world, and an agent run over its turns: what a test of an agent needs."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakes.clock import START, FakeClock, SequentialIds
from fakes.store import FakeTaskLog, World
from fakes.world import FakeLauncher
from herald.agent import Agent
from herald.log import Appender, Fenced, fold, status_entry
from herald.operations.call import Call
from herald.operations.follow_up import FollowUps
from herald.operations.identity import identify
from herald.protocol import codec
from herald.protocol.codec import JsonObject
from herald.protocol.states import TaskState
from herald.records import Caller, Entry, Header, TaskRef
from herald.worker.turns import Outcome, Worker

REF = TaskRef("tenant", "alice", "task-1")
CONTEXT = "context-1"
TURN_SECONDS = 3600
DAY_MS = 86_400_000


def user_message(parts: str | list[JsonObject], message_id: str = "m1", **more: Any) -> JsonObject:
    """A client's message on the wire, with the ids that the API would have filled in."""
    said = [{"text": parts}] if isinstance(parts, str) else parts
    return {
        "messageId": message_id,
        "contextId": CONTEXT,
        "taskId": REF.task_id,
        "role": "ROLE_USER",
        "parts": said,
    } | more


def result_of(operation: Coroutine[Any, Any, Any]) -> Any:
    """What an operation returns that never really waits."""
    try:
        operation.send(None)
    except StopIteration as stopped:
        return stopped.value
    operation.close()
    raise AssertionError("the operation waits for something")


@dataclass
class Bench:
    """One task, its world, and a worker.

    >>> bench = Bench(MyAgent())
    >>> bench.send("hello")                     # opens a turn, as the API does
    >>> bench.run()                             # runs it, as run_agent does
    >>> bench.task["status"]["state"]
    'TASK_STATE_COMPLETED'
    """

    agent: Agent | Callable[[], Agent]
    ref: TaskRef = REF
    clock: FakeClock = field(default_factory=FakeClock)
    ids: SequentialIds = field(default_factory=SequentialIds)
    world: World = field(init=False)
    log: FakeTaskLog = field(init=False)
    launcher: FakeLauncher = field(default_factory=FakeLauncher)

    def __post_init__(self) -> None:
        self.world = World(self.clock)
        self.log = FakeTaskLog(self.world)

    @property
    def worker(self) -> Worker:
        agent = self.agent
        load = (lambda: agent) if isinstance(agent, Agent) else agent
        return Worker(self.log, self.clock, self.ids, load, TURN_SECONDS)

    @property
    def header(self) -> Header:
        header = self.world.get(self.ref, "TASK", Header)
        assert header is not None
        return header

    @property
    def entries(self) -> list[Entry]:
        return self.world.entries(self.ref)

    @property
    def task(self) -> JsonObject:
        return fold(self.ref, self.entries)

    @property
    def states(self) -> list[TaskState]:
        """The states of the status entries, in order."""
        return [entry.state for entry in self.entries if entry.state is not None]

    @property
    def updates(self) -> list[JsonObject]:
        """The bodies of status and artifact entries, in order: what a webhook gets."""
        return [codec.loads(entry.body) for entry in self.entries if entry.kind in ("status", "artifact")]

    def send(
        self,
        parts: str | list[JsonObject] = "hi",
        *,
        message_id: str = "m1",
        metadata: Mapping[str, Any] | None = None,
        message_metadata: Mapping[str, Any] | None = None,
        accepted_output_modes: list[str] | None = None,
        extensions: list[str] | None = None,
        **more: Any,
    ) -> int:
        """Take a client's message: the first makes the task, later ones go to it. The number of its entry."""
        message = user_message(parts, message_id, **more)
        if message_metadata is not None:
            message["metadata"] = dict(message_metadata)
        body: JsonObject = {"message": message}
        if metadata is not None:
            body["metadata"] = dict(metadata)
        if accepted_output_modes is not None:
            body["acceptedOutputModes"] = accepted_output_modes
        if extensions is not None:
            body["extensions"] = extensions
        text = codec.dumps(body)
        if (self.ref, "TASK") not in self.world.items:
            return self._create(text)
        return self._follow_up(message, text)

    def _create(self, body: str) -> int:
        now = self.clock.now()
        header = Header(
            ref=self.ref,
            context_id=CONTEXT,
            state=TaskState.SUBMITTED,
            status_at=now,
            status_number=-1,
            turn=0,
            opened_at=now,
            run=-1,
            end=0,
            created_at=now,
            end_by=now + 30 * DAY_MS,
            expires_second=now // 1000 + 60 * 86_400,
            due_at=now + 60_000,
        )
        assert self.log.create(header, Entry(0, "message", body, now, self.ids.token(), 0), None)
        return 0

    def _follow_up(self, message: JsonObject, body: str) -> int:
        message = {**message, "taskId": self.ref.task_id}
        call = Call(Caller(self.ref.tenant, self.ref.owner))
        identity = identify(call.caller, message, "", "message", self.ids)
        FollowUps(self.log, self.clock, self.ids).take(call, message, identity, lambda _: body)
        return max(entry.number for entry in self.entries if entry.kind == "message")

    def cancel(self) -> None:
        """End the task as CANCELED, as CancelTask does; Fenced if it has ended."""

        def open_still(header: Header) -> None:
            if header.terminal:
                raise Fenced("the task has ended")

        open_still(self.header)
        appender = Appender(self.log, self.clock, self.ids, self.header, self.header.end, open_still)
        appender.commit(
            lambda number, writer: status_entry(
                appender.header, number, writer, TaskState.CANCELED, self.clock.now(), run=appender.header.run
            ),
            lambda header, entry: header.with_status(entry, due_at=None),
        )

    def run(self, turn: int | None = None, seconds_left: float = 900.0) -> Outcome:
        """Run the open turn (or a given one) once, as one call of run_agent does."""
        return self.worker.run(self.ref, self.header.turn if turn is None else turn, lambda: seconds_left)

    def run_on(self) -> None:
        """Run until the turn is done, over all its checkpoints."""
        while self.run() is Outcome.AGAIN:
            pass


__all__ = ["CONTEXT", "DAY_MS", "REF", "START", "TURN_SECONDS", "Bench", "result_of", "user_message"]
