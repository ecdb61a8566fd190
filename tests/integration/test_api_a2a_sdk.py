"""a2a-sdk's own client, an independent implementation, against the function's handler over both bindings."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import httpx
import pytest
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.client import Client, ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.client.errors import A2AClientError
from a2a.types.a2a_pb2 import (
    AuthenticationInfo,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import (
    ContentTypeNotSupportedError,
    ExtendedAgentCardNotConfiguredError,
    ExtensionSupportRequiredError,
    InternalError,
    InvalidAgentResponseError,
    InvalidParamsError,
    InvalidRequestError,
    JSONParseError,
    MethodNotFoundError,
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
    VersionNotSupportedError,
)
from google.protobuf.json_format import MessageToDict, ParseDict

from builders.api import CARD, HOOK, ApiBench
from builders.front_door import Transport
from herald.operations.call import Limits
from herald.ports import Unavailable
from herald.protocol.errors import A2AError
from herald.protocol.model import Message as OurMessage
from herald.protocol.model import Part as OurPart
from herald.protocol.model import Role as OurRole
from herald.protocol.states import TaskState as State

Json = dict[str, Any]

BASE = "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/prod"


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


@pytest.fixture(params=["JSONRPC", "HTTP+JSON"])
def binding(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@asynccontextmanager
async def connected(
    api: ApiBench,
    binding: str,
    change: Callable[[Json], Json] = lambda event: event,
    capabilities: Json | None = None,
    *,
    polling: bool = True,
) -> AsyncIterator[Client]:
    """A client that has read the card and chosen a binding from it.

    Args:
        change: what happens to its requests on their way.
        capabilities: what it takes the card to say.
        polling: it asks for no stream.
    """
    async with httpx.AsyncClient(transport=Transport(lambda event: api.http(change(event)))) as http:
        card = await A2ACardResolver(http, BASE).get_agent_card()
        for name, value in (capabilities or {}).items():
            setattr(card.capabilities, name, value)
        config = ClientConfig(
            httpx_client=http,
            polling=polling,
            streaming=not polling,
            supported_protocol_bindings=[binding],
            use_client_preference=True,
        )
        async with ClientFactory(config).create(card) as client:
            yield client


def drive(api: ApiBench, binding: str, story: Callable[[Client], Awaitable[None]], **more: Any) -> None:
    async def run() -> None:
        async with connected(api, binding, **more) as client:
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


def test_lists(api: ApiBench, binding: str) -> None:
    async def story(client: Client) -> None:
        tasks = [await send(client, a_request(message_id=f"m{number}", context_id="ctx")) for number in range(3)]
        await send(client, a_request(message_id="other", context_id="another"))
        api.put_artifact(api.ref(tasks[1].id))
        api.put_status(api.ref(tasks[1].id), State.COMPLETED, "Done")

        first = await client.list_tasks(ListTasksRequest(context_id="ctx", page_size=2, include_artifacts=True))
        then = await client.list_tasks(
            ListTasksRequest(context_id="ctx", page_size=2, include_artifacts=True, page_token=first.next_page_token)
        )

        assert (first.page_size, first.total_size, then.total_size, then.next_page_token) == (2, 3, 3, "")
        assert sorted(task.id for task in (*first.tasks, *then.tasks)) == sorted(task.id for task in tasks)
        [done] = (await client.list_tasks(ListTasksRequest(status=TaskState.TASK_STATE_COMPLETED))).tasks
        assert (done.id, done.status.message.parts[0].text, list(done.artifacts)) == (tasks[1].id, "Done", [])
        after = ListTasksRequest(history_length=0)
        after.status_timestamp_after.FromJsonString("2026-01-01T00:00:00Z")
        found = await client.list_tasks(after)
        assert (found.total_size, [list(task.history) for task in found.tasks]) == (4, [[]] * 4)
        after.status_timestamp_after.FromJsonString("2026-01-01T00:00:00.000000001Z")
        assert (await client.list_tasks(after)).total_size == 0

    drive(api, binding, story)


def test_the_extended_card(binding: str) -> None:
    api = ApiBench(extended_text="description: More than the public one.")

    async def story(client: Client) -> None:
        card = await client.get_extended_agent_card(GetExtendedAgentCardRequest())
        assert card.description == "More than the public one."
        assert [each.protocol_binding for each in card.supported_interfaces] == ["JSONRPC", "HTTP+JSON"]

    drive(api, binding, story)


def test_a_message_instead_of_a_task(binding: str) -> None:
    async def reply(_: object) -> OurMessage:
        return OurMessage(message_id="r", role=OurRole.AGENT, parts=[OurPart(data={"n": [1, None, 1.5]})])

    async def story(client: Client) -> None:
        [answer] = [answer async for answer in client.send_message(a_request())]
        assert answer.WhichOneof("payload") == "message"
        assert MessageToDict(answer.message.parts[0]) == {"data": {"n": [1.0, None, 1.5]}}

    drive(ApiBench(reply=reply), binding, story)


def test_parts_and_metadata_of_every_kind(api: ApiBench, binding: str) -> None:
    async def story(client: Client) -> None:
        request = a_request(context_id="ctx", extensions=["urn:x"])
        request.message.parts.add(raw=b"\x00\xff", media_type="text/x", filename="f")
        request.message.parts.add(url="https://example.com/x", media_type="text/html")
        ParseDict({"data": {"a": [None, True, "é"]}, "mediaType": "text/json"}, request.message.parts.add())
        request.message.metadata.update({"n": 0, "urn:x": {"a": 1}})
        request.configuration.accepted_output_modes.append("text/plain")

        task = await send(client, request)

        [stored] = task.history
        assert MessageToDict(stored) == {**MessageToDict(request.message), "taskId": task.id}

    drive(api, binding, story)


# ---- errors ----


async def get(client: Client) -> None:
    await client.get_task(GetTaskRequest(id="nope"))


async def send_one(client: Client) -> None:
    await send(client, a_request())


async def cancel_twice(client: Client) -> None:
    task = await send(client, a_request())
    await client.cancel_task(CancelTaskRequest(id=task.id))
    await client.cancel_task(CancelTaskRequest(id=task.id))


async def subscribe(client: Client) -> None:
    async for _ in client.subscribe(SubscribeToTaskRequest(id="t")):
        pass


async def list_webhooks(client: Client) -> None:
    await client.list_task_push_notification_configs(ListTaskPushNotificationConfigsRequest(task_id="t"))


async def bad_webhook(client: Client) -> None:
    task = await send(client, a_request())
    await client.create_task_push_notification_config(
        TaskPushNotificationConfig(task_id=task.id, url="http://169.254.169.254/")
    )


async def bad_token(client: Client) -> None:
    await client.list_tasks(ListTasksRequest(page_token="garbage"))


async def get_extended(client: Client) -> None:
    await client.get_extended_agent_card(GetExtendedAgentCardRequest())


async def send_image(client: Client) -> None:
    request = a_request()
    request.message.parts.add(url="https://example.com/a.gif", media_type="image/gif")
    await send(client, request)


async def send_two(client: Client) -> None:
    await send(client, a_request())
    await send(client, a_request(message_id="m2"))


def on_the_way(**members: Any) -> Callable[[Json], Json]:
    """Requests of operations arrive changed; the card's don't."""

    def change(event: Json) -> Json:
        if event["path"].startswith("/.well-known"):
            return event
        headers = {**event["headers"], **members.get("headers", {})}
        many = {name: [value] for name, value in headers.items()}
        return {**event, **members, "headers": headers, "multiValueHeaders": many}

    return change


def unreadable(event: Json) -> Json:
    return {**on_the_way()(event), "body": base64.b64encode(b"{").decode()}


def unnamed(event: Json) -> Json:
    return {**on_the_way()(event), "requestContext": {**event["requestContext"], "authorizer": None}}


def lacking(event: Json) -> Json:
    authorizer = {"owner": "alice", "tenant": "", "missing": "a2a"}
    return {**on_the_way()(event), "requestContext": {**event["requestContext"], "authorizer": authorizer}}


async def nonsense(_: object) -> Any:
    return "no message"


REQUIRING = CARD.replace(
    "version:", 'capabilities: {extensions: [{uri: "urn:x", required: true}], pushNotifications: true}\nversion:'
)


@dataclass(frozen=True)
class Told:
    """How a client is brought to an error, and what its SDK makes of it.

    Attributes:
        over_rest: what it is over HTTP+JSON, if not the same.
        envelope: it is an error of JSON-RPC's envelope, and there is none over HTTP+JSON.
    """

    story: Callable[[Client], Awaitable[None]]
    over_rpc: type[Exception]
    over_rest: type[Exception] | None = None
    bench: Callable[[], ApiBench] = ApiBench
    change: Callable[[Json], Json] = lambda event: event
    capabilities: Json = field(default_factory=dict)
    envelope: bool = False


def failing(error: Exception) -> ApiBench:
    api = ApiBench()
    api.log.fail_next("create", error)
    return api


# What leaves the status 200 is a failure of the transport for a client of JSON-RPC; and a client of HTTP+JSON knows the
# reasons of A2A only. Either way it is A2AClientError, with the status in its message.
ERRORS: dict[str, Told] = {
    "TASK_NOT_FOUND": Told(get, TaskNotFoundError),
    "TASK_NOT_CANCELABLE": Told(cancel_twice, TaskNotCancelableError),
    "PUSH_NOTIFICATION_NOT_SUPPORTED": Told(
        list_webhooks,
        PushNotificationNotSupportedError,
        bench=lambda: ApiBench(limits=Limits(push_notifications=False)),
    ),
    "UNSUPPORTED_OPERATION": Told(get_extended, UnsupportedOperationError, capabilities={"extended_agent_card": True}),
    "CONTENT_TYPE_NOT_SUPPORTED": Told(
        send_image,
        ContentTypeNotSupportedError,
        bench=lambda: ApiBench(limits=Limits(input_modes=("text/plain",))),
    ),
    "INVALID_AGENT_RESPONSE": Told(send_one, InvalidAgentResponseError, bench=lambda: ApiBench(reply=nonsense)),
    "EXTENDED_AGENT_CARD_NOT_CONFIGURED": Told(
        get_extended,
        ExtendedAgentCardNotConfiguredError,
        bench=lambda: ApiBench(limits=Limits(extended_agent_card=True)),
        capabilities={"extended_agent_card": True},
    ),
    "EXTENSION_SUPPORT_REQUIRED": Told(get, ExtensionSupportRequiredError, bench=lambda: ApiBench(card_text=REQUIRING)),
    "VERSION_NOT_SUPPORTED": Told(get, VersionNotSupportedError, change=on_the_way(headers={"a2a-version": "0.3"})),
    "PARSE_ERROR": Told(send_one, JSONParseError, A2AClientError, change=unreadable),
    "INVALID_REQUEST": Told(
        send_one, InvalidRequestError, change=on_the_way(body=base64.b64encode(b"[]").decode()), envelope=True
    ),
    "METHOD_NOT_FOUND": Told(
        get,
        MethodNotFoundError,
        change=lambda event: (
            {
                **on_the_way()(event),
                "pathParameters": {"proxy": "nothing"} if event["pathParameters"] else None,
                "body": (
                    base64.b64encode(base64.b64decode(event["body"]).replace(b"GetTask", b"Nothing")).decode()
                    if event["body"]
                    else None
                ),
            }
            if "well-known" not in event["path"]
            else event
        ),
    ),
    "INVALID_PARAMS": Told(bad_webhook, InvalidParamsError),
    "INVALID_PARAMS of a token": Told(bad_token, InvalidParamsError),
    "INTERNAL_ERROR": Told(send_one, InternalError, bench=lambda: failing(RuntimeError("secret"))),
    "UNSUPPORTED_MEDIA_TYPE": Told(
        send_one,
        ContentTypeNotSupportedError,
        A2AClientError,
        change=on_the_way(headers={"content-type": "text/plain"}),
    ),
    "METHOD_NOT_ALLOWED": Told(send_one, A2AClientError, change=on_the_way(httpMethod="PUT")),
    "REQUEST_TOO_LARGE": Told(
        send_one, A2AClientError, change=on_the_way(body=base64.b64encode(b" " * 4_194_305).decode())
    ),
    "UNAUTHENTICATED": Told(get, A2AClientError, change=unnamed),
    "PERMISSION_DENIED": Told(get, A2AClientError, change=lacking),
    "RESOURCE_EXHAUSTED": Told(send_two, A2AClientError, bench=lambda: ApiBench(limits=Limits(open_tasks_per_owner=1))),
    "UNAVAILABLE": Told(
        send_one, InternalError, A2AClientError, bench=lambda: failing(Unavailable("ThrottlingException"))
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_arrives_as_the_sdks_own(binding: str, name: str) -> None:
    told = ERRORS[name]
    if told.envelope and binding != "JSONRPC":
        pytest.skip("HTTP+JSON has no envelope")
    wanted = told.over_rpc if binding == "JSONRPC" else told.over_rest or told.over_rpc
    api = told.bench()
    answers: list[str] = []

    def http(event: Json) -> Json:
        answer = api.handler(event, None)
        answers.append(answer["body"])
        return answer

    async def story(client: Client) -> None:
        with pytest.raises(Exception) as raised:  # noqa: PT011 - the class is what is looked at
            await told.story(client)
        assert type(raised.value) is wanted, raised.value

    with mock.patch.object(api, "http", http):
        drive(api, binding, story, change=told.change, capabilities=told.capabilities)

    assert f'"reason":"{name.partition(" ")[0]}"' in answers[-1]
    assert "secret" not in answers[-1]
    assert "Throttling" not in answers[-1]


def test_every_error_is_tried() -> None:
    rows = {kind.row.reason for kind in _kinds(A2AError)}

    assert rows == {name.partition(" ")[0] for name in ERRORS}


def _kinds(kind: type[A2AError]) -> list[type[A2AError]]:
    return [each for child in kind.__subclasses__() for each in (child, *_kinds(child))]


def test_a_stream_is_refused_as_unsupported(api: ApiBench, binding: str) -> None:
    async def story(client: Client) -> None:
        with pytest.raises(UnsupportedOperationError):
            await subscribe(client)
        with pytest.raises(UnsupportedOperationError):
            await send(client, a_request())

    drive(api, binding, story, capabilities={"streaming": True}, polling=False)
