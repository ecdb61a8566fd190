"""SendMessage (A2A specification section 3.1.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from herald.operations import input_modes, references, view, waiting
from herald.operations.call import Call, Limits, not_found
from herald.operations.follow_up import FollowUps
from herald.operations.identity import Identity, idempotency_key, identify
from herald.operations.new_task import NewTasks
from herald.operations.registration import Registrar, Wish
from herald.ports import Clock, Ids, TaskLog
from herald.protocol import codec
from herald.protocol.errors import InvalidAgentResponseError, invalid
from herald.protocol.model import Message
from herald.protocol.requests import SendMessageConfiguration, SendMessageRequest

INLINE = "configuration.taskPushNotificationConfig."

Reply = Callable[[SendMessageRequest], Awaitable[Message | None]]
"""The adopter's ``agent.reply.reply``: a message for answers that need no task, None to make a task."""


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Makes a task of a message, or gives a message to a task that there is.

    The same send a second time changes nothing and is answered with the task as it stands. The answer is given after
    everything it names is stored. A blocking call returns when the task has ended or waits for the client, and
    ``Limits.blocking_seconds`` after it came in at the latest, with the Task as it stands then.

    Raises:
        TaskNotFoundError: taskId names no task of the caller's.
        UnsupportedOperationError: the task has ended.
        InvalidParamsError: a field is wrong.
        ContentTypeNotSupportedError: the Agent Card doesn't list the media type of a part.
        InvalidAgentResponseError: the adopter's reply is no Message.
    """

    log: TaskLog
    registrar: Registrar
    new_tasks: NewTasks
    follow_ups: FollowUps
    clock: Clock
    ids: Ids
    limits: Limits
    reply: Reply | None = None

    async def __call__(self, call: Call, request: SendMessageRequest) -> dict[str, Any]:
        give_up = self.clock.now() + round(self.limits.blocking_seconds * 1000)
        input_modes.check(request.message.parts, self.limits.input_modes)
        message = request.message.wire()
        settings = request.configuration or SendMessageConfiguration()
        key = idempotency_key(request.metadata, request.message.metadata)
        identity = identify(call.caller, message, key, self.limits.idempotent_send, self.ids)
        wish = self._wish(call, request)
        references.check(
            self.log, call, request.message.reference_task_ids, lambda: self._sent_before(call, message, identity)
        )
        if self.reply and not message.get("taskId"):
            direct = await self.reply(request)
            if direct is not None:
                return {"message": self._direct(direct, message.get("contextId") or identity.context_id)}

        def body(stored: dict[str, Any]) -> str:
            entry: dict[str, Any] = {"message": stored}
            if request.metadata:
                entry["metadata"] = request.metadata
            if settings.accepted_output_modes:
                entry["acceptedOutputModes"] = settings.accepted_output_modes
            if call.extensions:
                entry["extensions"] = call.extensions
            return codec.dumps(entry)

        entries = None
        if message.get("taskId"):
            if wish:  # a message mustn't be taken by a call that then fails
                ref = call.task(message["taskId"])
                if self.log.header(ref) is None:  # nor anything be reserved for a task that isn't there
                    raise not_found(ref.task_id)
                self.registrar.check_room(wish, ref)
            header, entries = self.follow_ups.take(call, message, identity, body)
            if wish:
                self.registrar.ensure(wish, header)
        else:
            header, entries = self.new_tasks.make(call, message, identity, body, wish)
        if not settings.return_immediately:
            waiting.settled(self.log, self.clock, header, give_up)
            entries = None
        return {"task": view.task(header.ref, entries or self.log.read(header.ref), settings.history_length)}

    def _sent_before(self, call: Call, message: dict[str, Any], identity: Identity) -> bool:
        if identity.once is None:
            return False
        if task_id := message.get("taskId"):
            return self.log.taken(call.task(task_id), identity.once[0]) is not None
        return self.log.header(call.task(identity.task_id)) is not None

    def _wish(self, call: Call, request: SendMessageRequest) -> Wish | None:
        config = request.configuration.task_push_notification_config if request.configuration else None
        if config is None:
            return None
        if config.task_id and config.task_id != request.message.task_id:
            raise invalid(f"{INLINE}taskId", "must be left out: the webhook is registered on the task of this message")
        if config.tenant and config.tenant != call.caller.tenant:
            raise invalid(f"{INLINE}tenant", "must be left out: the webhook is of the tenant that sends this message")
        return self.registrar.check(config, INLINE, inline=True)

    def _direct(self, message: object, context_id: str) -> dict[str, Any]:
        if not isinstance(message, Message) or not message.parts:
            raise InvalidAgentResponseError("The agent's reply isn't a Message with at least one part.")
        wire = message.wire()
        return {
            **wire,
            "messageId": wire.get("messageId") or self.ids.token(),
            "contextId": context_id,
            "role": "ROLE_AGENT",
        }
