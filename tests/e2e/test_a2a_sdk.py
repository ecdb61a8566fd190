"""a2a-sdk's client on what comes after a task's first road: lists, the webhook's own operations, cancellation, errors.

test_road.py has what comes before: the card, SendMessage with a webhook, the notifications and GetTask.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx
import pytest
from a2a.client import Client, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as a2a
from a2a.utils.errors import ContentTypeNotSupportedError, TaskNotCancelableError, TaskNotFoundError
from google.protobuf.json_format import ParseDict

from e2e.client import message, script
from e2e.loopback import Receiver, genuine


@asynccontextmanager
async def connected(addresses: Mapping[str, str], binding: str, token: str) -> AsyncIterator[Client]:
    """A client that has read the card; its calls wait for the task's end or for a question."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
        config = ClientConfig(httpx_client=http, streaming=False, supported_protocol_bindings=[binding])
        yield await ClientFactory(config).create_from_url(addresses["baseUrl"])


async def send(client: Client, said: dict[str, object]) -> a2a.Task:
    [answer] = [event async for event in client.send_message(ParseDict({"message": said}, a2a.SendMessageRequest()))]
    return answer.task


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
def test_a2a_sdk_s_client_lists_registers_cancels_and_knows_the_errors(
    binding: str, addresses: Mapping[str, str], receiver: Receiver, token: str
) -> None:
    async def story() -> None:
        async with connected(addresses, binding, token) as client:
            ended = await send(client, message(script({"complete": "Done"})))
            assert ended.status.state == a2a.TASK_STATE_COMPLETED
            waiting = await send(client, message(script({"require_input": "Go on?"}), contextId=ended.context_id))
            assert waiting.status.state == a2a.TASK_STATE_INPUT_REQUIRED

            ask = a2a.ListTasksRequest(context_id=ended.context_id, page_size=1)
            first = await client.list_tasks(ask)
            ask.page_token = first.next_page_token
            second = await client.list_tasks(ask)
            assert [task.id for task in [*first.tasks, *second.tasks]] == [waiting.id, ended.id]
            assert (first.total_size, second.total_size, second.next_page_token) == (2, 2, "")

            wanted = a2a.TaskPushNotificationConfig(
                task_id=waiting.id, id="mine", url=receiver.url, token=receiver.token
            )
            made = await client.create_task_push_notification_config(wanted)
            assert (made.id, made.task_id, made.url) == ("mine", waiting.id, receiver.url)
            got = await client.get_task_push_notification_config(
                a2a.GetTaskPushNotificationConfigRequest(task_id=waiting.id, id="mine")
            )
            assert (got.url, got.token) == (receiver.url, "")  # a token is never given back
            everything = a2a.ListTaskPushNotificationConfigsRequest(task_id=waiting.id)
            listed = await client.list_task_push_notification_configs(everything)
            assert [config.id for config in listed.configs] == ["mine"]

            canceled = await client.cancel_task(a2a.CancelTaskRequest(id=waiting.id))
            assert canceled.status.state == a2a.TASK_STATE_CANCELED
            arrived = await asyncio.to_thread(receiver.wait_for_state, waiting.id, "TASK_STATE_CANCELED")
            assert len(genuine(arrived)) == 2  # the task as it was registered, and its end

            gone = a2a.DeleteTaskPushNotificationConfigRequest(task_id=waiting.id, id="mine")
            await client.delete_task_push_notification_config(gone)
            await client.delete_task_push_notification_config(gone)
            assert not (await client.list_task_push_notification_configs(everything)).configs

            with pytest.raises(TaskNotCancelableError):
                await client.cancel_task(a2a.CancelTaskRequest(id=waiting.id))
            with pytest.raises(TaskNotFoundError):
                await client.get_task(a2a.GetTaskRequest(id="no-such-task"))
            with pytest.raises(ContentTypeNotSupportedError):
                await send(client, message({"raw": "AAAA", "mediaType": "video/mp4"}))

    asyncio.run(story())
