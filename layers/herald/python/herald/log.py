"""A task is a header and a log: folding the log into a Task, and appending to it behind a fence.

Whoever finds the next number free has seen everything before it. Whoever finds it taken reads on, looks at the header
again, and asks its fence whether it may still write: a run that meets a foreign run, turn or terminal entry is a zombie
and stops.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace

from herald.ports import Clock, Ids, TaskLog, Unavailable
from herald.protocol import codec
from herald.protocol.codec import JsonObject
from herald.protocol.states import TaskState, may_follow
from herald.records import Entry, Header, TaskRef

CONFLICT_BOUND = 1_000  # ms for which a lost race for a number is run again

MAX_TASK_BYTES = 5_000_000  # of a Task's JSON: an answer of Lambda's takes 6 MB
ROOM_TO_END = 100_000  # of these, kept free for the report that ends the turn


class Fenced(Exception):
    """This writer may write no more: the task has ended, or another turn or run has taken over."""


def fold(ref: TaskRef, entries: Iterable[Entry]) -> JsonObject:
    """The A2A Task (ProtoJSON) that a log, read from entry 0, amounts to.

    ``history`` holds the message of every message entry and of every status that another one has followed, in log
    order; ``artifacts`` holds each artifact with its chunks joined. The same entries give the same Task, key order
    included, so that its JSON may be signed and sent twice.

    Raises:
        ValueError: the entries don't begin with the message that made the task.
    """
    context_id = ""
    status: JsonObject = {}
    history: list[JsonObject] = []
    current: int | None = None  # where the message of the last status stands in history
    artifacts: dict[str, JsonObject] = {}
    metadata: JsonObject = {}
    for entry in entries:
        if entry.kind == "run":
            continue
        body = codec.loads(entry.body)
        if entry.kind == "message":
            if not status:
                context_id = body["message"]["contextId"]
                status = {"state": TaskState.SUBMITTED.value, "timestamp": codec.timestamp(entry.at)}
            history.append(body["message"])
        elif entry.kind == "status":
            update = body["statusUpdate"]
            status, current = update["status"], None
            metadata.update(update.get("metadata", {}))
            if "message" in status:
                current = len(history)
                history.append(status["message"])
        else:
            _join(artifacts, body["artifactUpdate"])
    if not status:
        raise ValueError("a log begins with a message entry")
    if current is not None:
        del history[current]
    task: JsonObject = {"id": ref.task_id, "contextId": context_id, "status": status}
    if artifacts:
        task["artifacts"] = list(artifacts.values())
    if history:
        task["history"] = history
    if metadata:
        task["metadata"] = metadata
    return task


def _join(artifacts: dict[str, JsonObject], update: JsonObject) -> None:
    """Add a chunk to its artifact, in place: copying what is there for each chunk would cost the square."""
    chunk = update["artifact"]
    known = artifacts.get(chunk["artifactId"])
    if known is None or not update.get("append"):
        artifacts[chunk["artifactId"]] = chunk
        return
    known["parts"].extend(chunk.pop("parts"))
    if "metadata" in known and "metadata" in chunk:
        known["metadata"].update(chunk.pop("metadata"))
    known.update(chunk)


Make = Callable[[int, str], Entry]  # (number, writer) -> the entry to be written
Fence = Callable[[Header], None]  # raises when the header doesn't let this writer go on


class Appender:
    """Appends to one task's log for one writer.

    Args:
        header: as read last; kept up to date by what is appended here.
        end: number of the last entry that is known.
        fence: is asked about each header that is read anew; raises to stop the writer.
        learn: is told of every entry after ``end`` in order, whoever wrote it, before the next number is tried.
    """

    def __init__(
        self,
        log: TaskLog,
        clock: Clock,
        ids: Ids,
        header: Header,
        end: int,
        fence: Fence,
        learn: Callable[[Entry], object] = lambda _: None,
    ) -> None:
        self._log = log
        self._clock = clock
        self._ids = ids
        self._fence = fence
        self._learn = learn
        self._unchecked = False  # whether the fence is still to be asked about the header
        self.header = header
        self.end = end

    def put(self, make: Make) -> Entry:
        """Append an entry that leaves the header alone: an artifact chunk. One write when nobody interferes."""

        def write(entry: Entry) -> list[Entry]:
            return [entry] if self._log.put(self.header.ref, entry, self.header.expires_second) else []

        return self._append(make, write)

    def commit(
        self,
        make: Make,
        after: Callable[[Header, Entry], Header],
        *,
        first: Callable[[int, str], Entry | None] | None = None,
        once: tuple[str, str] | None = None,
    ) -> Entry:
        """Append an entry and change the header with it, in one transaction.

        ``first`` makes an entry that goes right before it, or None; ``once`` as in ``TaskLog.commit``. All three are
        asked again at each try, with ``header`` as it is then. The entry of ``make`` is returned.

        Raises:
            Fenced: or what else the fence raises.
            Unavailable: others kept taking the number for a second.
        """

        def write(entry: Entry) -> list[Entry]:
            entries = [entry]
            if first and (leading := first(entry.number, self._ids.token())):
                entries = [leading, replace(entry, number=entry.number + 1)]
            changed = after(self.header, entries[-1])
            if not self._log.commit(self.header, changed, entries, once):
                return []
            self.header = changed
            return entries

        return self._append(make, write)

    def read_on(self) -> None:
        """Learn what others have written since. One read when it is nothing, or messages of the client's.

        Raises:
            Fenced: or what else the fence raises, about a header that others have changed.
        """
        self._learn_others()
        self._check()

    def _check(self) -> None:
        """Ask the fence about the header as it is now, if others may have changed it since it was asked last."""
        if self._unchecked:
            self._read_header()
            self._fence(self.header)
            self._unchecked = False

    def _append(self, make: Make, write: Callable[[Entry], list[Entry]]) -> Entry:
        self._check()
        writer = self._ids.token()
        give_up = self._clock.now() + CONFLICT_BOUND
        pause = 0.0
        while True:
            if written := write(make(self.end + 1, writer)):
                self._take_in(written)
                return written[-1]
            if (mine := self._after_conflict(writer)) is not None:
                return mine
            if self._clock.now() >= give_up:
                raise Unavailable(f"task {self.header.ref.task_id} is being changed too often")
            self._clock.sleep(random.uniform(0, pause))  # noqa: S311 - jitter
            pause = min(0.2, pause * 2 or 0.01)

    def _after_conflict(self, writer: str) -> Entry | None:
        """Learn what others have written; the entry of ours among it, when the answer to its write was lost."""
        self._unchecked = True
        mine = next((entry for entry in self._learn_others() if entry.writer == writer), None)
        if mine is None:
            self._check()
        else:  # it stands, whoever has ended or taken over the task since; our next one mustn't
            self._read_header()
        return mine

    def _learn_others(self) -> list[Entry]:
        entries = self._log.read(self.header.ref, after=self.end)
        if any(entry.kind != "message" for entry in entries):
            self._unchecked = True  # before they count as known: a read of the header may fail
        self._take_in(entries)
        return entries

    def _take_in(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self.end = entry.number
            self._learn(entry)

    def _read_header(self) -> None:
        header = self._log.header(self.header.ref)
        if header is None:
            raise Fenced("the task has expired")
        self.header = header


def same_run(turn: int, run: int) -> Fence:
    """The fence of an agent's run: it stops at a terminal entry and at any other turn or run."""

    def check(header: Header) -> None:
        if header.terminal or header.turn != turn or header.run != run:
            raise Fenced(f"turn {turn}, run {run} is over: the task is {header.state}")

    return check


def status_entry(
    header: Header,
    number: int,
    writer: str,
    state: TaskState,
    at: int,
    *,
    run: int = -1,
    message: JsonObject | None = None,
    metadata: JsonObject | None = None,
    traceparent: str = "",
) -> Entry:
    """A status entry with its wire body (TaskStatusUpdateEvent, specification section 4.2.1).

    Its time is ``at``, or that of the status before it where the clock of that one's writer is ahead: in lists, which
    go by the time of the status, a task only ever moves up.

    Raises:
        ValueError: the state may not follow the header's.
    """
    if not may_follow(header.state, state):
        raise ValueError(f"{state} may not follow {header.state}")
    at = max(at, header.status_at)
    status: JsonObject = {"state": state.value}
    if message is not None:
        status["message"] = message
    status["timestamp"] = codec.timestamp(at)
    update: JsonObject = {"taskId": header.ref.task_id, "contextId": header.context_id, "status": status}
    if metadata:
        update["metadata"] = metadata
    return Entry(
        number=number,
        kind="status",
        body=codec.dumps({"statusUpdate": update}),
        at=at,
        writer=writer,
        turn=header.turn,
        run=run,
        state=state,
        traceparent=traceparent,
    )


def agent_message(header: Header, message_id: str, text: str) -> JsonObject:
    """A message of the agent's with one text part, for a status (specification section 4.1.4)."""
    return {
        "messageId": message_id,
        "contextId": header.context_id,
        "taskId": header.ref.task_id,
        "role": "ROLE_AGENT",
        "parts": [{"text": text}],
    }
