"""The four operations on a task's webhooks (A2A specification sections 3.1.7 to 3.1.10)."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from herald.operations import view
from herald.operations.call import Call, Limits
from herald.operations.registration import Registrar
from herald.operations.webhook_fields import may_be_id
from herald.ports import TaskLog, Webhooks
from herald.protocol import codec
from herald.protocol.errors import ParseError, PushNotificationNotSupportedError, TaskNotFoundError, invalid
from herald.protocol.requests import (
    CreateTaskPushNotificationConfigRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
)
from herald.records import Header, TaskRef, Webhook


@dataclass(frozen=True, slots=True)
class _PushConfigs:
    log: TaskLog
    webhooks: Webhooks
    registrar: Registrar
    limits: Limits

    def _task(self, call: Call, task_id: str) -> Header:
        if not self.limits.push_notifications:
            raise PushNotificationNotSupportedError("This agent sends no push notifications: poll with GetTask.")
        return view.header(self.log, call.task(task_id))

    def _shown(self, webhook: Webhook) -> dict[str, Any]:
        return self.registrar.shown(webhook, self.registrar.secrets(webhook))


class CreateTaskPushNotificationConfig(_PushConfigs):
    """Registers a webhook, in place of one with the same id. Its first notification is the task as it stands now.

    Raises:
        TaskNotFoundError: there is no such task of the caller's.
        InvalidParamsError: a field is wrong, or the task has all the webhooks it may have.
        PushNotificationNotSupportedError: the card says so.
    """

    async def __call__(self, call: Call, request: CreateTaskPushNotificationConfigRequest) -> dict[str, Any]:
        header = self._task(call, request.task_id)
        wish = self.registrar.check(request)
        return self.registrar.shown(self.registrar.register(wish, header), wish.secrets)


class GetTaskPushNotificationConfig(_PushConfigs):
    """Shows one webhook, without its secrets.

    Raises:
        TaskNotFoundError: there is no such task of the caller's, or it has no such webhook.
    """

    async def __call__(self, call: Call, request: GetTaskPushNotificationConfigRequest) -> dict[str, Any]:
        header = self._task(call, request.task_id)
        webhook = self.webhooks.get(header.ref, request.id) if may_be_id(request.id) else None
        if webhook is None:
            raise TaskNotFoundError(
                "This task has no webhook with this id. ListTaskPushNotificationConfigs shows those it has.",
                metadata={"taskId": header.ref.task_id, "id": request.id[:128]},
            )
        return self._shown(webhook)


class ListTaskPushNotificationConfigs(_PushConfigs):
    """Shows the webhooks of a task by id, without their secrets; all of them unless pageSize asks for fewer.

    Raises:
        TaskNotFoundError: there is no such task of the caller's.
        InvalidParamsError: pageToken isn't one of this list's.
    """

    async def __call__(self, call: Call, request: ListTaskPushNotificationConfigsRequest) -> dict[str, Any]:
        header = self._task(call, request.task_id)
        webhooks: Sequence[Webhook] = self.webhooks.list(header.ref)
        if request.page_token:
            after = _opened(header.ref, request.page_token)
            webhooks = [webhook for webhook in webhooks if webhook.config_id > after]
        page = webhooks[: request.page_size] if request.page_size else webhooks
        answer: dict[str, Any] = {"configs": [self._shown(webhook) for webhook in page]} if page else {}
        if len(page) < len(webhooks):
            answer["nextPageToken"] = _page_token(header.ref, page[-1].config_id)
        return answer


class DeleteTaskPushNotificationConfig(_PushConfigs):
    """Deletes a webhook; deleting one that isn't there is the same. At most an attempt under way still arrives.

    Raises:
        TaskNotFoundError: there is no such task of the caller's.
    """

    async def __call__(self, call: Call, request: DeleteTaskPushNotificationConfigRequest) -> None:
        header = self._task(call, request.task_id)
        if may_be_id(request.id):
            self.webhooks.delete(header.ref, request.id)


def _page_token(ref: TaskRef, config_id: str) -> str:
    """Names the last config shown, which needn't be there any more. Unpadded, to stand in a query string as it is."""
    return base64.urlsafe_b64encode(codec.canonical([ref.task_id, config_id])).decode().rstrip("=")


def _opened(ref: TaskRef, token: str) -> str:
    try:
        task_id, config_id = codec.loads(base64.urlsafe_b64decode(token + "=="))
        if task_id == ref.task_id and isinstance(config_id, str):
            return config_id
    except (ParseError, ValueError, TypeError):
        pass
    raise invalid("pageToken", "isn't one of this list's: begin again without it")
