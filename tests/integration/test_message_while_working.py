"""A message to a working task through the whole stack: from one client's calls to the other's notifications."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from unittest import mock

import pytest
from moto import mock_aws

from builders.agents import MEANWHILE
from builders.events import rpc_event
from herald.adapters.dns import SystemResolver
from herald.adapters.http import PinnedTransport
from herald.ports import Answer
from integration.pump import MOTO, Stack, deployed, load

FUNCTIONS = ("api", "start_worker", "run_agent", "ring_webhooks", "send_webhooks", "sweep")


@dataclass
class Scene:
    """The deployed stack, and what a receiver has got."""

    stack: Stack
    notified: list[dict[str, Any]]
    task_id: str = ""

    def rpc(self, method: str, params: object) -> dict[str, Any]:
        """A JSON-RPC response, from a thread of its own: the caller may be an agent in the middle of its run."""
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(self.stack.invoke, "api", rpc_event(method, params)).result(30)
        found: dict[str, Any] = json.loads(answer["body"])
        return found

    def send(self, text: str, message_id: str = "m1", *, now: bool = True, **members: Any) -> dict[str, Any]:
        """SendMessage; the first makes the task and registers the webhook."""
        config: dict[str, Any] = {"returnImmediately": now}
        message = {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": text}], **members}
        if self.task_id:
            message["taskId"] = self.task_id
        else:
            config["taskPushNotificationConfig"] = {"url": "https://client.example/hook"}
        task: dict[str, Any] = self.rpc("SendMessage", {"message": message, "configuration": config})["result"]["task"]
        self.task_id = task["id"]
        return task

    @property
    def task(self) -> dict[str, Any]:
        found: dict[str, Any] = self.rpc("GetTask", {"id": self.task_id})["result"]
        return found


@pytest.fixture
def scene() -> Iterator[Scene]:
    notified: list[dict[str, Any]] = []

    def post(_: object, url: str, address: str, headers: object, body: bytes, seconds: float) -> Answer:
        notified.append(json.loads(body))
        return Answer(204, {}, b"", 3)

    with (
        mock_aws(config=MOTO),
        deployed({"HERALD_AGENT": "builders.agents:Obedient"}) as stack,
        mock.patch.object(SystemResolver, "resolve", return_value=["93.184.216.34"]),
        mock.patch.object(PinnedTransport, "post", post),
    ):
        for function in FUNCTIONS:
            stack.functions[function] = load(function)
        yield Scene(stack, notified)


def told(notification: dict[str, Any]) -> tuple[str, str]:
    status = (notification.get("task") or notification["statusUpdate"])["status"]
    return status["state"], status.get("message", {"parts": [{"text": ""}]})["parts"][0]["text"]


def test_b4_b15_a_message_sent_while_the_agent_works_is_a_turn_and_its_context_is_the_tasks(scene: Scene) -> None:
    answers: list[dict[str, Any]] = []
    scene.send("work meanwhile complete")
    MEANWHILE.append(lambda: answers.append(scene.send("work complete", "m2")))

    scene.stack.pump()

    assert scene.task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert answers[0]["status"]["state"] == "TASK_STATE_WORKING"  # not held up, and not held back
    assert [told(notification) for notification in scene.notified] == [
        ("TASK_STATE_SUBMITTED", ""),
        ("TASK_STATE_WORKING", "Working"),
        ("TASK_STATE_WORKING", "Done"),  # the first turn's ending, which gave way
        ("TASK_STATE_WORKING", "Working"),
        ("TASK_STATE_COMPLETED", "Done"),
    ]
    contexts = {message["contextId"] for message in scene.task["history"]}
    contexts |= {(said.get("task") or said["statusUpdate"])["contextId"] for said in scene.notified}
    assert contexts == {answers[0]["contextId"]} == {scene.task["contextId"]}


def test_b6_the_same_message_after_the_end_is_known_and_another_one_is_refused(scene: Scene) -> None:
    scene.send("meanwhile read complete")
    MEANWHILE.append(lambda: scene.send("and this", "m2"))
    scene.stack.pump()

    assert scene.send("and this", "m2") == scene.task
    message = {"messageId": "m3", "role": "ROLE_USER", "parts": [{"text": "x"}], "taskId": scene.task_id}
    assert scene.rpc("SendMessage", {"message": message})["error"]["code"] == -32004


def test_e11_an_agent_gets_what_the_client_refers_to_and_nothing_of_others(scene: Scene) -> None:
    first = scene.send("complete")["id"]
    scene.stack.pump()
    scene.task_id = ""

    second = scene.send("complete", "m2", referenceTaskIds=[first])
    stranger = {"messageId": "m3", "role": "ROLE_USER", "parts": [{"text": "x"}], "referenceTaskIds": [first]}
    answer = scene.stack.invoke("api", rpc_event("SendMessage", {"message": stranger}, owner="bob"))
    unknown = {**stranger, "referenceTaskIds": ["aaaaaaaaaaaaaaaaaaaaaaaaaa"]}
    other = scene.stack.invoke("api", rpc_event("SendMessage", {"message": unknown}, owner="bob"))

    assert second["history"][0]["referenceTaskIds"] == [first]
    error = json.loads(answer["body"])["error"]
    assert (error["code"], error["data"][1]["fieldViolations"][0]["field"]) == (-32602, "message.referenceTaskIds[0]")
    assert answer["body"] == other["body"]
