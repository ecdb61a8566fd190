"""Ending a task from outside its agent."""

from __future__ import annotations

from collections.abc import Callable

from herald import correlation
from herald.log import Appender, Fence, Fenced, agent_message, status_entry
from herald.ports import Clock, Ids, TaskLog
from herald.protocol.states import TaskState
from herald.records import Entry, Header


def same_wait(seen: Header) -> Fence:
    """The fence of who ends a task for what it saw: it must still be in that turn, and still run or still wait."""

    def check(header: Header) -> None:
        if header.terminal or header.turn != seen.turn or header.interrupted != seen.interrupted:
            raise Fenced(f"the task has gone on: it is {header.state} in turn {header.turn}")

    return check


def fail_task(log: TaskLog, clock: Clock, ids: Ids, seen: Header, text: str) -> bool:
    """Append FAILED with a message for the client; False, and nothing written, if the task has ended or gone on.

    Raises:
        Unavailable: the table didn't answer.
    """
    message = agent_message(seen, ids.token(), text)
    # Also the last update of a task belongs to its client's trace; the entry of the turn's message knows it.
    traceparent = next((entry.traceparent for entry in log.read(seen.ref, after=seen.turn - 1, limit=1)), "")
    correlation.note(seen.ref.task_id, traceparent)
    known = log.read(seen.ref, after=seen.end)
    appender = Appender(log, clock, ids, seen, known[-1].number if known else seen.end, same_wait(seen))
    make = _failed(appender, clock, message, traceparent)
    try:
        appender.commit(make, lambda header, entry: header.with_status(entry, due_at=None))
    except Fenced:
        return False
    return True


def _failed(
    appender: Appender, clock: Clock, message: dict[str, object], traceparent: str
) -> Callable[[int, str], Entry]:
    def make(number: int, writer: str) -> Entry:
        header = appender.header
        return status_entry(
            header, number, writer, TaskState.FAILED, clock.now(), message=message, traceparent=traceparent
        )

    return make
