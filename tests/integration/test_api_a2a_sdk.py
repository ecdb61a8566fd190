"""a2a-sdk's own client, an independent implementation, against the function's handler over both bindings."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.client import Client, ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.types.a2a_pb2 import (
    AuthenticationInfo,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import (
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from google.protobuf.json_format import MessageToDict

from builders.api import HOOK, ApiBench
from builders.events import rest_event
from herald.protocol.states import TaskState as State

BASE = "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/prod"


class Gateway(httpx.AsyncBaseTransport):
    """API Gateway in front of the handler: an httpx request becomes an event, its answer an httpx response."""

    def __init__(self, api: ApiBench) -> None:
        self._api = api

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode().partition("?")[0].removeprefix("/prod") or "/"
        body = request.content
        event = rest_event(
            request.method,
            path,
            base64.b64encode(body).decode() if body else None,
            headers=dict(request.headers),
            query=dict(request.url.params) or None,
        )
        event["headers"] = dict(request.headers)
        event["multiValueHeaders"] = {name: [value] for name, value in request.headers.items()}
        event["isBase64Encoded"] = bool(body)
        # A thread of its own: Lambda's has no running event loop either.
        answer: dict[str, Any] = await asyncio.to_thread(self._api.http, event)
        assert answer["isBase64Encoded"] is False
        return httpx.Response(answer["statusCode"], headers=answer["headers"], content=answer["body"].encode())


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


@pytest.fixture(params=["JSONRPC", "HTTP+JSON"])
def binding(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@asynccontextmanager
async def connected(api: ApiBench, binding: str) -> AsyncIterator[Client]:
    """A client that has read the card and chosen a binding from it."""
    async with httpx.AsyncClient(transport=Gateway(api)) as http:
        card = await A2ACardResolver(http, BASE).get_agent_card()
        config = ClientConfig(
            httpx_client=http, polling=True, supported_protocol_bindings=[binding], use_client_preference=True
        )
        async with ClientFactory(config).create(card) as client:
            yield client


def drive(api: ApiBench, binding: str, story: Callable[[Client], Awaitable[None]]) -> None:
    async def run() -> None:
        async with connected(api, binding) as client:
            await story(client)

    asyncio.run(run())


def a_request(text: str = "hi", message_id: str = "m1", **members: Any) -> SendMessageRequest:
    return SendMessageRequest(
        message=Message(message_id=message_id, role=Role.ROLE_USER, parts=[Part(text=text)], **members)
    )


async def send(client: Client, request: SendMessageRequest) -> Task:
    [answer] = [answer async for answer in client.send_message(request)]
    return answer.task


def test_send_get_cancel(api: ApiBench, binding: str) -> None:
    async def story(client: Client) -> None:
        task = await send(client, a_request())
        assert task.status.state == TaskState.TASK_STATE_SUBMITTED
        assert [part.text for part in task.history[0].parts] == ["hi"]

        got = await client.get_task(GetTaskRequest(id=task.id, history_length=0))
        assert (got.id, got.context_id, list(got.history)) == (task.id, task.context_id, [])

        canceled = await client.cancel_task(CancelTaskRequest(id=task.id))
        assert canceled.status.state == TaskState.TASK_STATE_CANCELED

    drive(api, binding, story)


def test_a_follow_up_goes_on_with_the_task(api: ApiBench, binding: str) -> None:
    async def story(client: Client) -> None:
        task = await send(client, a_request())
        api.put_status(api.ref(task.id), State.INPUT_REQUIRED, "Which one?")

        task = await send(client, a_request("that one", "m2", task_id=task.id))

        assert task.status.state == TaskState.TASK_STATE_WORKING
        assert [message.parts[0].text for message in task.history] == ["hi", "Which one?", "that one"]

    drive(api, binding, story)


def test_webhooks(api: ApiBench, binding: str) -> None:
    async def story(client: Client) -> None:
        task = await send(client, a_request())
        config = TaskPushNotificationConfig(
            id="c",
            task_id=task.id,
            url=HOOK,
            token="tok",
            authentication=AuthenticationInfo(scheme="Bearer", credentials="sek"),
        )
        shown = {"id": "c", "taskId": task.id, "url": HOOK, "authentication": {"scheme": "Bearer"}}

        assert MessageToDict(await client.create_task_push_notification_config(config)) == shown
        got = await client.get_task_push_notification_config(
            GetTaskPushNotificationConfigRequest(task_id=task.id, id="c")
        )
        assert MessageToDict(got) == shown
        listed = await client.list_task_push_notification_configs(
            ListTaskPushNotificationConfigsRequest(task_id=task.id)
        )
        assert [each.id for each in listed.configs] == ["c"]
        for _ in range(2):
            await client.delete_task_push_notification_config(
                DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="c")
            )
        listed = await client.list_task_push_notification_configs(
            ListTaskPushNotificationConfigsRequest(task_id=task.id)
        )
        assert not listed.configs

    drive(api, binding, story)


def test_an_inline_webhook_with_every_message_is_one(api: ApiBench, binding: str) -> None:
    async def story(client: Client) -> None:
        request = a_request()
        request.configuration.task_push_notification_config.url = HOOK
        task = await send(client, request)
        await send(client, request)

        listed = await client.list_task_push_notification_configs(
            ListTaskPushNotificationConfigsRequest(task_id=task.id)
        )
        assert [each.url for each in listed.configs] == [HOOK]

    drive(api, binding, story)


def test_errors_arrive_as_the_sdks_own(api: ApiBench, binding: str) -> None:
    async def story(client: Client) -> None:
        task = await send(client, a_request())
        await client.cancel_task(CancelTaskRequest(id=task.id))

        with pytest.raises(TaskNotFoundError):
            await client.get_task(GetTaskRequest(id="nope"))
        with pytest.raises(TaskNotCancelableError):
            await client.cancel_task(CancelTaskRequest(id=task.id))
        with pytest.raises(UnsupportedOperationError):
            await send(client, a_request("x", "m2", task_id=task.id))
        with pytest.raises(InvalidParamsError):
            await client.list_tasks(ListTasksRequest(page_token="garbage"))
        with pytest.raises(InvalidParamsError):
            await client.create_task_push_notification_config(
                TaskPushNotificationConfig(task_id=task.id, url="http://169.254.169.254/")
            )

    drive(api, binding, story)
