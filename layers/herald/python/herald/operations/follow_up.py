"""A message to a task that exists: it resumes an interrupted one (A2A specification section 3.4.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from herald.log import MAX_TASK_BYTES, ROOM_TO_END, Appender, Fenced, fold, status_entry
from herald.operations import view
from herald.operations.call import Call, not_found
from herald.operations.identity import Identity
from herald.operations.new_task import START_WITHIN, Body, reused_key
from herald.ports import Clock, Ids, TaskLog
from herald.protocol import codec
from herald.protocol.errors import InvalidParamsError, UnsupportedOperationError, invalid
from herald.protocol.states import TaskState
from herald.records import Entry, Header, TaskRef

LARGE = ROOM_TO_END // 2  # characters of a message for which its task is measured first


class _TakenBefore(Exception):
    """This very message was taken before."""


@dataclass(frozen=True, slots=True)
class FollowUps:
    """Takes a follow-up in one transaction: its message entry, WORKING, the header, and what it is recognised by."""

    log: TaskLog
    clock: Clock
    ids: Ids

    def take(self, call: Call, message: dict[str, Any], identity: Identity, body: Body) -> Header:
        """The header of the task that has the message now, whether it was taken just now or before.

        Raises:
            TaskNotFoundError: there is no such task of the caller's.
            InvalidParamsError: contextId is another task's, the idempotencyKey was used for another message, or the
                task would be too large.
            UnsupportedOperationError: the task has ended, or waits for no message.
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
            _waits_for_a_message(seen)

        try:
            large = len(text) > LARGE
            if large or not header.interrupted:
                fence(header)
            if large:
                self._check_size(ref, text)
            return self._append(call, header, identity, text, fence)
        except _TakenBefore:
            return view.header(self.log, ref)
        except Fenced:
            raise not_found(ref.task_id) from None  # it has expired between the two reads

    def _append(
        self, call: Call, header: Header, identity: Identity, text: str, fence: Callable[[Header], None]
    ) -> Header:
        appender = Appender(self.log, self.clock, self.ids, header, header.end, fence)
        now = self.clock.now()

        def message_entry(number: int, writer: str) -> Entry:
            return Entry(number, "message", text, now, writer, turn=number, traceparent=call.traceparent)

        def working(number: int, writer: str) -> Entry:
            entry = status_entry(appender.header, number, writer, TaskState.WORKING, now, traceparent=call.traceparent)
            return replace(entry, turn=number)  # the turn that the message right before it opens

        def after(before: Header, entry: Entry) -> Header:
            due_at = now + START_WITHIN
            return replace(before.with_status(entry, due_at=due_at), turn=entry.turn, run=-1)

        appender.commit(working, after, first=message_entry, once=identity.once)
        return appender.header

    def _check_size(self, ref: TaskRef, text: str) -> None:
        """The agent could report nothing more in a task that is too large, and would fail it."""
        size = len(codec.dumps(fold(ref, self.log.read(ref))).encode()) + len(text.encode())
        if size > MAX_TASK_BYTES - ROOM_TO_END:
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


def _waits_for_a_message(header: Header) -> None:
    if header.interrupted:
        return
    metadata = {"taskId": header.ref.task_id, "state": header.state.value}
    if header.terminal:
        raise UnsupportedOperationError(
            f"The task has ended, in {header.state}: send a message without taskId to begin another one, with the same "
            "contextId to go on in its context.",
            metadata=metadata,
        )
    raise UnsupportedOperationError(
        f"The task is in {header.state} and takes no message while it runs: wait until it asks for one, or cancel it.",
        metadata=metadata,
    )
