"""Storing what a run reports: each report is one entry, appended behind the fence of its run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from threading import RLock

from herald.agent import AgentError, TaskEnded
from herald.log import MAX_TASK_BYTES, ROOM_TO_END, Appender, Fenced, Make, agent_message, fold, status_entry
from herald.ports import Clock, Ids, TaskLog, Unavailable
from herald.protocol import codec
from herald.protocol.codec import JsonObject
from herald.protocol.states import ENDS_TURN, INTERRUPTED, TaskState
from herald.records import Entry, Header, Kind


class RunReports:
    """The reports of one run (``herald.agent.Reports``).

    Args:
        appender: its fence is the run's.
        run: number of the run entry.
        size: bytes of the task's JSON so far, or more.
    """

    def __init__(
        self, log: TaskLog, clock: Clock, ids: Ids, appender: Appender, run: int, size: int, traceparent: str
    ) -> None:
        self._log = log
        self._clock = clock
        self._ids = ids
        self._appender = appender
        self._run = run
        self._size = size
        self._traceparent = traceparent
        self._lock = RLock()
        self._over = False
        self.trouble: Unavailable | None = None  # of the last report, when it couldn't be stored
        self.state = appender.header.state

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
            self._store(make, lambda: self._appender.put(make), _OPEN_LIMIT)

    def ended(self) -> bool:
        with self._lock:
            if not self._over:
                known = self._appender.header
                found = self._log.header(known.ref)
                self._over = found is None or found.terminal or (found.turn, found.run) != (known.turn, self._run)
            return self._over

    def fail(self, text: str) -> None:
        """End the task as FAILED, with a message for the client; nothing if it has ended."""
        try:
            message = agent_message(self._appender.header, self._ids.token(), text)
            self._status(TaskState.FAILED, message, None, sys.maxsize)
        except TaskEnded:
            return

    def checkpoint(self, text: str) -> bool:
        """End the run with a checkpoint, after which nothing of it can be written; False if it was over before."""

        def make(number: int, writer: str) -> Entry:
            return self._entry(number, writer, "run", f'{{"checkpoint":{text}}}')

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
            return status_entry(
                self._appender.header,
                number,
                writer,
                state,
                self._clock.now(),
                run=self._run,
                message=message,
                metadata=metadata,
                traceparent=self._traceparent,
            )

        with self._lock:
            self._store(make, lambda: self._appender.commit(make, _after), limit)
            self.state = state

    def _entry(self, number: int, writer: str, kind: Kind, body: str) -> Entry:
        return Entry(
            number=number,
            kind=kind,
            body=body,
            at=self._clock.now(),
            writer=writer,
            turn=self._appender.header.turn,
            run=self._run,
            traceparent=self._traceparent,
        )

    def _store(self, make: Make, write: Callable[[], Entry], limit: int) -> None:
        def checked() -> None:
            size = self._size_with(make(self._appender.end + 1, ""), limit)
            write()
            self._size = size

        self._guarded(checked)

    def _size_with(self, entry: Entry, limit: int) -> int:
        """Bytes of the task's JSON with one more entry, or somewhat more.

        Raises:
            AgentError: they would be too many.
        """
        size = self._size + len(entry.body.encode())
        if size <= limit:
            return size
        # Bodies were added up, replaced artifacts too: what the client would get is smaller, so measure that.
        ref = self._appender.header.ref
        size = len(codec.dumps(fold(ref, [*self._log.read(ref), entry])).encode())
        if size > limit:
            raise AgentError(
                f"the task would have {size:,} bytes of JSON, more than {limit:,}: store what is large elsewhere "
                "and deliver it as a url() part"
            )
        return size

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


def opened(header: Header, entry: Entry) -> Header:
    """A header after a run entry: whoever wrote for an earlier run is fenced."""
    return replace(header, run=entry.number, end=entry.number)


def _after(header: Header, entry: Entry) -> Header:
    # An interrupted task waits for its client until its maximum age; a working one keeps the turn's deadline.
    return header.with_status(entry, due_at=header.end_by if entry.state in INTERRUPTED else header.due_at)
