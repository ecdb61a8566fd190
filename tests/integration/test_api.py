"""The function api as Lambda loads it, with API Gateway's events, on moto's DynamoDB, S3 and Secrets Manager."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from moto import mock_aws

from builders.api import message, sending
from builders.events import REGION, rest_event, rpc_event
from builders.stores import BUCKET, TABLE
from herald.settings import SettingsError
from integration import pump
from integration.pump import Handler

RECEIVER = "http://127.0.0.1:9999/webhook"
CARD_PATH = "/.well-known/agent-card.json"


@dataclass(frozen=True)
class Deployed:
    handler: Handler

    def items(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = boto3.client("dynamodb").scan(TableName=TABLE)["Items"]
        return found

    def kinds(self) -> list[str]:
        return sorted(item["sk"]["S"].partition("#")[0] for item in self.items())

    def rpc(self, method: str, params: object, **event: Any) -> dict[str, Any]:
        answer = self.handler(rpc_event(method, params, **event), None)
        assert answer["statusCode"] == 200
        parsed: dict[str, Any] = json.loads(answer["body"])
        return parsed


@pytest.fixture
def deployed() -> Iterator[Deployed]:
    settings = {"HERALD_WEBHOOK_ALLOW": "127.0.0.1:*", "HERALD_BLOCKING_SECONDS": "0.3"}
    with mock_aws(), pump.deployed(settings):
        yield Deployed(pump.load("api"))


def test_a_message_is_a_header_an_entry_and_a_webhook_and_its_origin_is_its_owners(deployed: Deployed) -> None:
    config = {"taskPushNotificationConfig": {"url": RECEIVER, "token": "tok-1"}}

    task = deployed.rpc("SendMessage", sending(config=config))["result"]["task"]

    assert task["status"]["state"] == "TASK_STATE_SUBMITTED"
    assert deployed.kinds() == ["LOG", "ORIGINS", "PUSH", "TASK"]
    assert {item["pk"]["S"] for item in deployed.items()} == {f"TASK##alice#{task['id']}", "OWNER##alice"}
    assert "tok-1" not in str(deployed.items())


def test_b1_the_same_message_twice_writes_once(deployed: Deployed) -> None:
    first = deployed.rpc("SendMessage", sending())
    items = deployed.items()

    assert deployed.rpc("SendMessage", sending()) == first
    assert deployed.items() == items


def test_a_task_is_read_and_canceled_over_the_other_binding(deployed: Deployed) -> None:
    task = deployed.rpc("SendMessage", sending())["result"]["task"]

    got = deployed.handler(rest_event("GET", f"/tasks/{task['id']}"), None)
    canceled = deployed.handler(rest_event("POST", f"/tasks/{task['id']}:cancel"), None)
    again = deployed.handler(rest_event("POST", f"/tasks/{task['id']}:cancel"), None)

    assert json.loads(got["body"]) == task
    assert json.loads(canceled["body"])["status"]["state"] == "TASK_STATE_CANCELED"
    assert again["statusCode"] == 400
    assert json.loads(again["body"])["error"]["details"][0]["reason"] == "TASK_NOT_CANCELABLE"


def test_webhooks_are_kept_shown_without_secrets_and_deleted(deployed: Deployed) -> None:
    task_id = deployed.rpc("SendMessage", sending())["result"]["task"]["id"]
    config = {
        "taskId": task_id,
        "id": "c",
        "url": RECEIVER,
        "token": "tok-1",
        "authentication": {"scheme": "Bearer", "credentials": "sek"},
    }
    shown = {"taskId": task_id, "id": "c", "url": RECEIVER, "authentication": {"scheme": "Bearer"}}

    assert deployed.rpc("CreateTaskPushNotificationConfig", config)["result"] == shown
    assert deployed.rpc("GetTaskPushNotificationConfig", {"taskId": task_id, "id": "c"})["result"] == shown
    assert deployed.rpc("ListTaskPushNotificationConfigs", {"taskId": task_id})["result"] == {"configs": [shown]}
    assert "sek" not in str(deployed.items())
    for _ in range(2):
        assert deployed.rpc("DeleteTaskPushNotificationConfig", {"taskId": task_id, "id": "c"})["result"] is None
    assert deployed.rpc("ListTaskPushNotificationConfigs", {"taskId": task_id})["result"] == {}


def test_a_message_above_300_kb_lies_in_the_bucket_and_comes_back_whole(deployed: Deployed) -> None:
    text = "é" * 900_000

    task = deployed.rpc("SendMessage", sending(text=text))["result"]["task"]

    assert deployed.rpc("GetTask", {"id": task["id"]})["result"]["history"][0]["parts"] == [{"text": text}]
    objects = boto3.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]
    assert len(objects) == 1


def test_f11_a_blocking_send_answers_at_its_bound(deployed: Deployed) -> None:
    answer = deployed.rpc("SendMessage", {"message": message()})

    assert answer["result"]["task"]["status"]["state"] == "TASK_STATE_SUBMITTED"


def test_e9_another_owner_finds_nothing(deployed: Deployed) -> None:
    task_id = deployed.rpc("SendMessage", sending())["result"]["task"]["id"]

    assert deployed.rpc("GetTask", {"id": task_id}, owner="bob")["error"]["code"] == -32001


@pytest.mark.parametrize(
    "event",
    [
        {"resource": "/", "path": "/", "pathParameters": None},
        {"resource": "/", "path": "/base", "pathParameters": None},
    ],
)
def test_f4_the_endpoint_is_the_root_of_stage_and_custom_domain(deployed: Deployed, event: dict[str, Any]) -> None:
    answer = deployed.handler({**rpc_event("SendMessage", sending()), **event}, None)

    assert "result" in json.loads(answer["body"])


def test_e19_the_agent_layers_card_is_served_to_anyone(deployed: Deployed) -> None:
    event = rest_event("GET", CARD_PATH, owner="", headers={"A2A-Version": ""})
    event |= {"resource": CARD_PATH, "pathParameters": None}

    answer = deployed.handler(event, None)

    assert answer["statusCode"] == 200
    card = json.loads(answer["body"])
    assert card["name"] == "financial-analysis"
    assert card["supportedInterfaces"][1]["url"] == f"https://a1b2c3d4e5.execute-api.{REGION}.amazonaws.com/prod"


def test_each_request_is_one_json_line_with_its_id_and_no_content(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.StringIO()
    [stdout] = [each for each in logging.getLogger("herald").handlers if isinstance(each, logging.StreamHandler)]
    monkeypatch.setattr(stdout, "stream", written)

    deployed.rpc("SendMessage", sending(text="the-text"))

    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    [answered] = [line for line in lines if line["message"] == "answered"]
    assert answered["correlation_id"] == "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"
    assert answered["operation"] == "SendMessage"
    assert "the-text" not in str(lines)


def test_a_variable_that_is_missing_is_a_clear_deployment_error(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HERALD_TABLE")

    with pytest.raises(SettingsError, match="HERALD_TABLE is not set"):
        pump.load("api")
