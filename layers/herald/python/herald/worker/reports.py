"""Storing what a run reports: each report is one entry, appended behind the fence of its run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import RLock

from herald.agent import AgentError, Incoming, TaskEnded
from herald.log import MAX_TASK_BYTES, ROOM_TO_END, Appender, Fenced, Make, agent_message, fold, same_run, status_entry
from herald.ports import Clock, Ids, TaskLog, Unavailable
from herald.protocol import codec
from herald.protocol.codec import JsonObject
from herald.protocol.model import Task
from herald.protocol.states import ENDS_TURN, INTERRUPTED, TaskState
from herald.records import Entry, Header, Kind
from herald.worker.inbox import READ, Inbox
from herald.worker.opening import incoming

# An ending that gives way to a message that nobody has read: the message's turn is opened in its place.
GIVES_WAY = INTERRUPTED | {TaskState.COMPLETED}


class RunReports:
    """The reports of one run (``herald.agent.Reports``).

    Args:
        header: as it was when the run had opened.
        entries: the log up to the entry that opened the run.
    """

    def __init__(self, log: TaskLog, clock: Clock, ids: Ids, header: Header, entries: Sequence[Entry]) -> None:
        run = entries[-1]
        self._log = log
        self._clock = clock
        self._ids = ids
        self._appender = Appender(log, clock, ids, header, run.number, same_run(run.turn, run.number), self._learn)
        self._run = run
        self._inbox = Inbox(entries, run.turn)
        self._size = sum(_size(entry) for entry in entries)  # bytes of the task's JSON so far, or more
        self._lock = RLock()
        self._over = False
        self.trouble: Unavailable | None = None  # of the last report, when it couldn't be stored
        self.state = header.state

    @property
    def turn_ended(self) -> bool:
        """True when this run has reported a terminal or interrupted state."""
        return self.state in ENDS_TURN

    @property
    def over(self) -> bool:
        """True when somebody else has ended the task or taken over."""
        return self._over

    def status(self, state: TaskState, message: JsonObject | None, metadata: JsonObject | None) -> None:
        self._status(state, message, metadata, MAX_TASK_BYTES if state in ENDS_TURN else _OPEN_LIMIT)

    def artifact(self, update: JsonObject) -> None:
        body = codec.dumps({"artifactUpdate": update})

        def make(number: int, writer: str) -> Entry:
            return self._entry(number, writer, "artifact", body)

        with self._lock:
            self._store(make, self._appender.put, _OPEN_LIMIT)

    def ended(self) -> bool:
        with self._lock:
            if not self._over:
                known = self._appender.header
                found = self._log.header(known.ref)
                self._over = (
                    found is None or found.terminal or (found.turn, found.run) != (known.turn, self._run.number)
                )
            return self._over

    def new_messages(self) -> list[Incoming]:
        with self._lock:
            self._guarded(self._appender.read_on)
            return [incoming(entry) for entry in self._inbox.take()]

    def task(self, task_id: str) -> Task | None:
        ref = replace(self._appender.header.ref, task_id=task_id)
        entries = self._log.read(ref)
        return Task.parse(fold(ref, entries)) if entries else None

    def fail(self, text: str) -> bool:
        """End the task as FAILED, with a message for the client; False, and nothing written, if it has ended."""
        try:
            message = agent_message(self._appender.header, self._ids.token(), text)
            self._status(TaskState.FAILED, message, None, sys.maxsize)
        except TaskEnded:
            return False
        return True

    def checkpoint(self, text: str) -> bool:
        """End the run with a checkpoint, after which nothing of it can be written; False if it was over before."""
        read = self._inbox.read_up_to
        more = f',"{READ}":{read}' if read > self._run.turn else ""

        def make(number: int, writer: str) -> Entry:
            return self._entry(number, writer, "run", f'{{"checkpoint":{text}{more}}}')

        with self._lock:
            try:
                self._guarded(lambda: self._appender.commit(make, opened))
            except TaskEnded:
                return False
            return True

    def close(self) -> None:
        """Let nothing that the agent left running, such as a thread, report any more."""
        with self._lock:
            self._over = True

    def _status(self, state: TaskState, message: JsonObject | None, metadata: JsonObject | None, limit: int) -> None:
        def make(number: int, writer: str) -> Entry:
            # Asked at each try: whoever finds the number free has seen every message before it.
            unread = self._inbox.next if state in GIVES_WAY else None
            entry = status_entry(
                self._appender.header,
                number,
                writer,
                TaskState.WORKING if unread else state,
                self._clock.now(),
                run=-1 if unread else self._run.number,
                message=message,
                metadata=metadata,
                traceparent=self._run.traceparent,
            )
            return replace(entry, turn=unread.number) if unread else entry

        with self._lock:
            self._store(make, lambda make: self._appender.commit(make, _after), limit)
            self.state = state

    def _entry(self, number: int, writer: str, kind: Kind, body: str) -> Entry:
        return Entry(
            number=number,
            kind=kind,
            body=body,
            at=self._clock.now(),
            writer=writer,
            turn=self._run.turn,
            run=self._run.number,
            traceparent=self._run.traceparent,
        )

    def _learn(self, entry: Entry) -> None:
        self._size += _size(entry)
        self._inbox.learn(entry)

    def _store(self, make: Make, write: Callable[[Make], Entry], limit: int) -> None:
        def checked(number: int, writer: str) -> Entry:
            entry = make(number, writer)
            self._check_size(entry, limit)
            return entry

        self._guarded(lambda: write(checked))

    def _check_size(self, entry: Entry, limit: int) -> None:
        """See that the task may grow by one more entry.

        Raises:
            AgentError: its JSON would have too many bytes.
        """
        if self._size + _size(entry) <= limit:
            return
        # Bodies were added up, replaced artifacts too: what the client would get is smaller, so measure that.
        ref = self._appender.header.ref
        size = len(codec.dumps(fold(ref, [*self._log.read(ref), entry])).encode())
        if size > limit:
            raise AgentError(
                f"the task would have {size:,} bytes of JSON, more than {limit:,}: store what is large elsewhere "
                "and deliver it as a url() part"
            )
        self._size = size - _size(entry)

    def _guarded(self, write: Callable[[], object]) -> None:
        if self._over:
            raise TaskEnded("this run is over")
        try:
            write()
        except Fenced as fenced:
            self._over = True
            raise TaskEnded(str(fenced)) from fenced
        except Unavailable as error:
            self.trouble = error
            raise
        self.trouble = None


_OPEN_LIMIT = MAX_TASK_BYTES - ROOM_TO_END


def _size(entry: Entry) -> int:
    return 0 if entry.kind == "run" else len(entry.body.encode())


def opened(header: Header, entry: Entry) -> Header:
    """A header after a run entry: whoever wrote for an earlier run is fenced."""
    return replace(header, run=entry.number, end=entry.number)


def _after(header: Header, entry: Entry) -> Header:
    if entry.opens_turn:
        return header.with_turn(entry)
    # An interrupted task waits for its client until its maximum age; a working one keeps the turn's deadline.
    return header.with_status(entry, due_at=header.end_by if entry.state in INTERRUPTED else header.due_at)
