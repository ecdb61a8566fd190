"""The whole road: a message in, a task, an agent, signed notifications in order, and GetTask that says the same."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest
from a2a.client import ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as a2a
from demo.folding import amount_to, differences
from google.protobuf.json_format import MessageToDict, ParseDict
from local.environments import ROOT

from e2e.client import Client, message, said, script
from e2e.cloud import Cloud
from e2e.loopback import Arrival, Meeting, Receiver, genuine

Json = dict[str, Any]

FILE = ROOT / "examples" / "fjordlight-instruments.csv"
WORDS = "How did gross margin and cash flow develop?"
CSV = {"raw": b64encode(FILE.read_bytes()).decode(), "mediaType": "text/csv", "filename": FILE.name}
TWO_COMPANIES = (
    "entity,period,revenue,cost_of_goods_sold,operating_cash_flow\nNorth,2024,1000,600,50\nSouth,2024,2000,1500,70\n"
)


def differing(arrivals: list[Arrival], task: Json) -> list[str]:
    """Where what the notifications amount to differs from the task."""
    return list(differences(amount_to(arrival.event for arrival in arrivals), task))


@pytest.mark.parametrize("transport", ["JSONRPC", "HTTP+JSON"])
def test_a2a_sdk_s_client_sends_the_example_and_every_notification_arrives_signed_and_genuine(
    transport: str, addresses: Mapping[str, str], cloud: Cloud, receiver: Receiver, token: str
) -> None:
    sent = {"message": message({"text": WORDS}, CSV), "configuration": {"taskPushNotificationConfig": receiver.config}}

    async def drive() -> tuple[Json, list[Arrival], Json]:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
            config = ClientConfig(
                httpx_client=http, streaming=False, polling=True, supported_protocol_bindings=[transport]
            )
            sdk = await ClientFactory(config).create_from_url(addresses["baseUrl"])
            [answer] = [event async for event in sdk.send_message(ParseDict(sent, a2a.SendMessageRequest()))]
            arrived = await asyncio.to_thread(receiver.wait_for_end, answer.task.id)
            task = await sdk.get_task(a2a.GetTaskRequest(id=answer.task.id))
            return MessageToDict(answer.task), arrived, MessageToDict(task)

    answered, arrived, task = asyncio.run(drive())

    assert answered["status"]["state"] == "TASK_STATE_SUBMITTED"
    assert genuine(arrived) == cloud.to_send(answered["id"])
    assert [(arrival.headers["content-type"], arrival.headers["a2a-version"]) for arrival in arrived] == [
        ("application/a2a+json", "1.0")
    ] * len(arrived)
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert differing(arrived, task) == []
    [artifact] = task["artifacts"]
    figures = artifact["parts"][0]["data"]
    assert figures["entity"] == "Fjordlight Instruments AS"
    # By hand, from the file's second line: 18,420,000 - 10,278,400 = 8,141,600, and that over 18,420,000 = 0.44199…
    first = figures["periods"][0]
    assert (first["period"], first["grossProfit"]) == ("2023-Q1", 8_141_600)
    assert first["grossMargin"] == pytest.approx(0.442, abs=0.0001)
    assert {part.get("mediaType") for part in artifact["parts"]} == {
        "application/json",
        "text/markdown",
        "image/svg+xml",
    }


def test_an_inline_webhook_is_sent_the_task_first_and_then_each_change(
    client: Client, cloud: Cloud, receiver: Receiver
) -> None:
    task_id = client.start(
        {"working": "one"},
        {"artifact": {"id": "a", "text": "first "}},
        {"artifact": {"id": "a", "text": "last", "append": True, "last": True}},
        {"complete": "done"},
        webhook=receiver.config,
    )
    arrived = receiver.wait_for_end(task_id)

    assert [next(iter(arrival.event)) for arrival in arrived] == [
        "task",
        "statusUpdate",
        "artifactUpdate",
        "artifactUpdate",
        "statusUpdate",
    ]
    assert [arrival.state for arrival in arrived if arrival.state] == [
        "TASK_STATE_SUBMITTED",
        "TASK_STATE_WORKING",
        "TASK_STATE_COMPLETED",
    ]
    assert genuine(arrived) == cloud.to_send(task_id) == [0, 2, 3, 4, 5]
    assert differing(arrived, client.task(task_id)) == []


def test_a_question_is_answered_and_the_task_is_completed(client: Client, cloud: Cloud, receiver: Receiver) -> None:
    asked = client.send(message({"text": "What about the margin?"}, {"text": TWO_COMPANIES}), webhook=receiver.config)
    task_id = asked["task"]["id"]
    receiver.wait_for_state(task_id, "TASK_STATE_INPUT_REQUIRED")
    question = client.task(task_id)
    assert question["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert "North" in said(question)

    answered = client.send(message({"text": "South"}, taskId=task_id))
    assert answered["task"]["id"] == task_id
    assert answered["task"]["status"]["state"] == "TASK_STATE_WORKING"
    arrived = receiver.wait_for_end(task_id)

    task = client.task(task_id)
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert task["artifacts"][0]["parts"][0]["data"]["entity"] == "South"
    assert genuine(arrived) == cloud.to_send(task_id)
    assert differing(arrived, task) == ["task.history"]  # the client isn't told what it has said itself
    assert cloud.executions(task_id) == ["SUCCEEDED", "SUCCEEDED"]


def test_a_message_sent_twice_is_one_task_and_one_execution(
    client: Client, cloud: Cloud, receiver: Receiver, meeting: Meeting
) -> None:
    told = message(script({"meet": meeting.url}, {"complete": "done"}))
    first = client.send(told, webhook=receiver.config)["task"]
    meeting.wait_until_reached()
    second = client.send(told, webhook=receiver.config)["task"]
    meeting.release()
    receiver.wait_for_end(first["id"])
    third = client.send(told, webhook=receiver.config)["task"]
    cloud.wait_until_no_doorbell_is_left()

    assert second["id"] == third["id"] == first["id"]
    assert third["status"]["state"] == "TASK_STATE_COMPLETED"
    assert cloud.executions(first["id"]) == ["SUCCEEDED"]
    assert [kind for _, kind, _ in cloud.log(first["id"])] == ["message", "run", "status"]
    assert genuine(receiver.of(first["id"])) == cloud.to_send(first["id"]) == [0, 2]


def test_a_send_that_waits_is_answered_with_the_finished_task(client: Client) -> None:
    answer = client.send(
        message(script({"artifact": {"id": "a", "text": "all of it"}}, {"complete": "done"})), wait=True
    )

    assert answer["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert answer["task"]["artifacts"] == [{"artifactId": "a", "parts": [{"text": "all of it"}]}]


def test_an_answer_without_a_task_comes_from_the_adopter_s_reply(client: Client) -> None:
    answer = client.send(message({"text": "ping"}))

    assert answer["message"]["parts"] == [{"text": "pong"}]
    assert answer["message"]["role"] == "ROLE_AGENT"


def test_a_large_artifact_lies_in_the_bucket_and_arrives_whole(
    client: Client, cloud: Cloud, receiver: Receiver
) -> None:
    size = 400_000
    task_id = client.start({"artifact": {"id": "a", "bytes": size}}, {"complete": "done"}, webhook=receiver.config)
    arrived = receiver.wait_for_end(task_id)

    [stored] = [item for item in cloud.task_items(task_id, "LOG#") if item["kind"]["S"] == "artifact"]
    assert "body" not in stored
    [sent] = [arrival for arrival in arrived if "artifactUpdate" in arrival.event]
    assert cloud.stored_body(stored["bodyKey"]["S"]).encode() == sent.body
    assert sent.event["artifactUpdate"]["artifact"]["parts"] == [{"text": "x" * size}]
    assert genuine(arrived) == cloud.to_send(task_id)
    assert client.task(task_id)["artifacts"][0]["parts"] == [{"text": "x" * size}]


def test_the_readme_s_curl_sends_a_message_and_is_sent_its_notifications(
    addresses: Mapping[str, str], client: Client, new_receiver: Callable[..., Receiver], token: str
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = [text for text in re.findall(r"```sh\n(.*?)```", readme, re.DOTALL) if "BASE=$(" in text]
    [secret] = re.findall(r'"token": "(whsec_[^"]+)"', block)
    receiver = new_receiver(token=secret)
    command = re.sub(r"BASE=.*", f"BASE='{addresses['baseUrl']}'", block)
    command, minted = re.subn(r"TOKEN=\$\(make -s token.*\)", f"TOKEN='{token}'", command)
    assert minted == 1
    command = command.replace("http://127.0.0.1:9000/hook", receiver.url)
    environment = {**os.environ, "no_proxy": "127.0.0.1,localhost"}

    done = subprocess.run(
        ["/bin/sh", "-euc", command], env=environment, capture_output=True, text=True, check=True, timeout=90
    )

    task = json.loads(done.stdout)["task"]
    assert task["status"]["state"] == "TASK_STATE_SUBMITTED"
    arrived = receiver.wait_for_end(task["id"])
    assert arrived[-1].state == "TASK_STATE_COMPLETED"
    assert genuine(arrived)[0] == 0
    assert differing(arrived, client.task(task["id"])) == []
