"""A message to a task that exists (A2A specification section 3.4.3): it resumes one that waits, or is queued."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from herald.log import MAX_TASK_BYTES, ROOM_TO_END, Appender, Fenced, fold, status_entry
from herald.operations import view
from herald.operations.call import Call, not_found
from herald.operations.identity import Identity
from herald.operations.new_task import Body, reused_key
from herald.ports import Clock, Ids, TaskLog
from herald.protocol import codec
from herald.protocol.errors import InvalidParamsError, UnsupportedOperationError, invalid
from herald.protocol.states import TaskState
from herald.records import Entry, Header, TaskRef


class _TakenBefore(Exception):
    """This very message was taken before."""


@dataclass(frozen=True, slots=True)
class FollowUps:
    """Takes a message to a task, in one transaction.

    A task that waits goes on: message entry, WORKING, the header with its new turn, and what the message is recognised
    by. While a turn is open, the message is an entry of that turn which starts nothing: the agent may read it, and the
    ending of a turn whose agent hasn't opens the message's own turn. Between the message and the ending the log
    decides, for both want the next number.
    """

    log: TaskLog
    clock: Clock
    ids: Ids

    def take(
        self, call: Call, message: dict[str, Any], identity: Identity, body: Body
    ) -> tuple[Header, list[Entry] | None]:
        """The header of the task that has the message now, be it by an earlier send; and its log where that is known.

        Raises:
            TaskNotFoundError: there is no such task of the caller's.
            InvalidParamsError: contextId is another task's, the idempotencyKey was used for another message, or the
                task would be too large.
            UnsupportedOperationError: the task has ended.
        """
        ref = call.task(message["taskId"])
        header = view.header(self.log, ref)
        if message.get("contextId", header.context_id) != header.context_id:
            raise _mismatch()
        text = body({**message, "contextId": header.context_id})

        def fence(seen: Header) -> None:
            # A repeated message is recognised whatever has become of the task since.
            if self._taken(ref, identity):
                raise _TakenBefore
            _still_open(seen)

        try:
            if header.terminal:
                fence(header)
            known = self.log.read(ref)
            if not known:
                raise not_found(ref.task_id)
            return self._append(call, header, known, identity, text, fence), known
        except _TakenBefore:
            return view.header(self.log, ref), None
        except Fenced:
            raise not_found(ref.task_id) from None  # it has expired between two reads

    def _append(
        self,
        call: Call,
        header: Header,
        known: list[Entry],
        identity: Identity,
        text: str,
        fence: Callable[[Header], None],
    ) -> Header:
        """Append the message; ``known`` is the log, and is kept up to what is written."""
        appender = Appender(self.log, self.clock, self.ids, header, known[-1].number, fence, known.append)
        now = self.clock.now()

        def message(number: int, writer: str, turn: int) -> Entry:
            return Entry(number, "message", text, now, writer, turn, traceparent=call.traceparent)

        def before(number: int, writer: str) -> Entry | None:
            return message(number, writer, turn=number) if appender.header.interrupted else None

        def make(number: int, writer: str) -> Entry:
            seen = appender.header
            self._check_size(known, text, seen, fence)
            if not seen.interrupted:
                return message(number, writer, seen.turn)
            entry = status_entry(seen, number, writer, TaskState.WORKING, now, traceparent=call.traceparent)
            return replace(entry, turn=number)  # the turn of the message right before it

        def after(seen: Header, entry: Entry) -> Header:
            return seen.with_turn(entry) if entry.opens_turn else replace(seen, end=entry.number)

        appender.commit(make, after, first=before, once=identity.once)
        return appender.header

    def _check_size(self, known: list[Entry], text: str, header: Header, fence: Callable[[Header], None]) -> None:
        """The agent could report nothing more in a task that is too large, and would fail it."""
        added, limit = len(text.encode()), MAX_TASK_BYTES - ROOM_TO_END
        if added + sum(len(entry.body.encode()) for entry in known) <= limit:
            return
        # Bodies were added up, replaced artifacts too: what the client would get is smaller, so measure that.
        size = added + len(codec.dumps(fold(header.ref, known)).encode())
        if size > limit:
            fence(header)
            raise invalid(
                "message.parts",
                f"would make a task of {size:,} bytes, and one has {MAX_TASK_BYTES:,} bytes at most: put large content "
                "behind a URL and send a url part",
            )

    def _taken(self, ref: TaskRef, identity: Identity) -> bool:
        if identity.once is None:
            return False
        taken = self.log.taken(ref, identity.once[0])
        if taken is not None and taken.content_hash != identity.content_hash:
            raise reused_key()
        return taken is not None


def _mismatch() -> InvalidParamsError:
    return invalid("message.contextId", "isn't the context of this task: leave it out, or send the task's own")


def _still_open(header: Header) -> None:
    if header.terminal:
        raise UnsupportedOperationError(
            f"The task has ended, in {header.state}: send a message without taskId to begin another one, with the same "
            "contextId to go on in its context.",
            metadata={"taskId": header.ref.task_id, "state": header.state.value},
        )
