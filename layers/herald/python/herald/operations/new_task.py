"""A message that makes a task: header, first entry and inline webhook in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from herald import correlation
from herald.operations.call import Call, Limits
from herald.operations.identity import IDEMPOTENCY_KEY, Identity
from herald.operations.open_tasks import OpenTasks
from herald.operations.registration import Registrar, Wish
from herald.ports import Clock, Ids, TaskLog, Unavailable
from herald.protocol.errors import A2AError, InvalidParamsError, invalid
from herald.protocol.states import TaskState
from herald.records import START_WITHIN, Caller, Entry, Header, TaskRef

DAY = 86_400_000  # ms
MAX_CONTEXT_ID = 256  # bytes of UTF-8: it is a part of index keys

Body = Callable[[dict[str, Any]], str]  # the message to be stored -> the body of its entry


@dataclass(frozen=True, slots=True)
class NewTasks:
    """Makes tasks."""

    log: TaskLog
    registrar: Registrar
    open_tasks: OpenTasks
    clock: Clock
    ids: Ids
    limits: Limits

    def make(
        self, call: Call, message: dict[str, Any], identity: Identity, body: Body, wish: Wish | None
    ) -> tuple[Header, list[Entry] | None]:
        """The header of the task that this send made, now or before; and its log where that is known without a read.

        Raises:
            InvalidParamsError: contextId is too long, the idempotencyKey was used for another message, or the webhook
                is of one origin more than the owner's may be.
            ResourceExhaustedError: the owner has as many open tasks as they may.
            Unavailable: the task of an earlier send is being removed.
        """
        context_id = message.get("contextId") or identity.context_id
        if len(context_id.encode()) > MAX_CONTEXT_ID:
            raise invalid("message.contextId", f"must be at most {MAX_CONTEXT_ID} bytes long")
        now = self.clock.now()
        ref = TaskRef(call.caller.tenant, call.caller.owner, identity.task_id)
        correlation.note(ref.task_id)
        end_by = now + self.limits.max_task_days * DAY
        header = Header(
            ref=ref,
            context_id=context_id,
            state=TaskState.SUBMITTED,
            status_at=now,
            status_number=-1,
            turn=0,
            opened_at=now,
            run=-1,
            end=0,
            created_at=now,
            end_by=end_by,
            expires_second=(end_by + self.limits.retention_days * DAY) // 1000,
            due_at=now + START_WITHIN,
            send_hash=identity.content_hash,
        )
        text = body({**message, "taskId": ref.task_id, "contextId": context_id})
        entry = Entry(0, "message", text, now, self.ids.token(), turn=0, traceparent=call.traceparent)
        webhook = self.registrar.make(wish, ref, 0, header.expires_second) if wish else None
        refused = self._refused(call.caller, wish, header.expires_second)
        if refused is None and self.log.create(header, entry, webhook):
            self.open_tasks.opened(call.caller)
            return header, [entry]
        known = self.log.header(ref)
        if known is None and refused:
            raise refused
        if known is None:
            raise Unavailable(f"task {ref.task_id} has expired and isn't removed yet")
        if known.send_hash != identity.content_hash:
            raise reused_key()
        if wish:
            self.registrar.ensure(wish, known)
        return known, None

    def _refused(self, owner: Caller, wish: Wish | None, expires_second: int) -> A2AError | None:
        """Why this owner may open no more tasks, or none with this webhook; the ones that they have stand."""
        try:
            self.open_tasks.check(owner)
            if wish:
                self.registrar.reserve(wish, owner, expires_second)
        except A2AError as refused:
            return refused
        return None


def reused_key() -> InvalidParamsError:
    """The error for an idempotencyKey that comes again with another message."""
    return invalid(f"metadata.{IDEMPOTENCY_KEY}", "was used for another message: choose a new one for each message")
