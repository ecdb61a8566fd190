"""Given the sample events of one task's life, then each function's handler does its part with them.

The clock stands at the time of the samples and names come in one order, so that the ids in the files are those that the
handlers make.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from builders.stores import TABLE
from fakes.clock import FakeClock, SequentialIds
from herald import bootstrap
from herald.adapters.http import PinnedTransport, SystemResolver
from herald.entrypoints import api, publish_keys, ring_webhooks, run_agent, send_webhooks, start_worker, sweep
from herald.ports import Answer
from herald.webhooks import verify
from integration.pump import Handler, Stack, deployed

ROOT = Path(__file__).parents[2]
EVENTS = {path.stem: path for path in sorted((ROOT / "events").glob("*.json"))}

TASK = "5k3reeo776faviufje3ve5egoq"
KEY = "aaaaaaadaaaaaaaaaaaaaaaaaa"
SECRET = "whsec_ZXhhbXBsZSBzZWNyZXQgb2YgdGhlIHJlY2VpdmVyIQ=="
TURN = {"tenant": "", "owner": "AROAEXAMPLEEXAMPLEEX", "taskId": TASK, "turn": 0}


def event(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(EVENTS[name].read_text())
    return found


@dataclass
class Life:
    """The deployed stack, and a receiver that takes everything."""

    stack: Stack
    clock: FakeClock
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def handle(self, name: str) -> Any:
        """The event through its function, the part of its name after the number."""
        return self.stack.invoke(function_of(name, self.stack.functions), event(name))

    def answer(self, name: str) -> Any:
        """The JSON body of an API answer, which must be a 200."""
        response = self.handle(name)
        assert (response["statusCode"], response["isBase64Encoded"]) == (200, False)
        return json.loads(response["body"])

    def live(self, *names: str) -> None:
        for name in names:
            self.handle(name)

    @property
    def items(self) -> dict[str, Mapping[str, Any]]:
        """What the table holds, by sort key."""
        return {item["sk"]["S"]: item for item in boto3.client("dynamodb").scan(TableName=TABLE)["Items"]}

    @property
    def state(self) -> str:
        return str(self.items["TASK"]["state"]["S"])

    def executions(self) -> list[str]:
        """Those that were started; here they go no further."""
        listed = boto3.client("stepfunctions").list_executions(stateMachineArn=self.stack.machine_arn)["executions"]
        return [execution["name"] for execution in listed]

    def doorbells(self) -> list[tuple[str, Any]]:
        """Group and body of what is queued."""
        events = iter(self.stack.doorbell, None)
        records = [record for event in events for record in event["Records"]]
        return [(record["attributes"]["MessageGroupId"], json.loads(record["body"])) for record in records]


def function_of(name: str, functions: Iterable[str]) -> str:
    return next(function for function in functions if name[3:].startswith(function.replace("_", "-")))


@pytest.fixture
def life(monkeypatch: pytest.MonkeyPatch) -> Iterator[Life]:
    with mock_aws(), deployed() as stack:
        clock = FakeClock()
        platform = bootstrap.Platform(os.environ, clock=clock, ids=SequentialIds())
        stack.functions |= functions_of(platform)
        made = Life(stack, clock)

        def post(_: object, url: str, address: str, headers: Mapping[str, str], body: bytes, seconds: float) -> Answer:
            assert (url, address) == ("https://client.example.com/notifications", "93.184.215.14")
            made.received.append((dict(headers), body))
            return Answer(204, {}, b"", 3)

        monkeypatch.setattr(SystemResolver, "resolve", lambda *_: ["93.184.215.14"])
        monkeypatch.setattr(PinnedTransport, "post", post)
        yield made


def functions_of(platform: bootstrap.Platform) -> dict[str, Handler]:
    """All functions on one platform, with its clock and its ids."""
    watch = send_webhooks.DeliveryWatch()
    return {
        "api": api.handler_for(platform, ROOT / "layers/agent/python/agent/card.yaml"),
        "publish_keys": publish_keys.handler_for(bootstrap.publish_keys(platform)),
        "start_worker": start_worker.handler_for(bootstrap.start_worker(platform)),
        "run_agent": run_agent.handler_for(bootstrap.run_agent(platform)),
        "ring_webhooks": ring_webhooks.handler_for(bootstrap.ring_webhooks(platform)),
        "send_webhooks": send_webhooks.handler_for(bootstrap.send_webhooks(platform, watch), watch),
        "sweep": sweep.handler_for(bootstrap.sweep(platform)),
    }


SENT = "02-api-send-message-jsonrpc"
RAN = "06-run-agent-turn"


def test_the_files_stand_in_the_order_of_a_life_and_cover_every_function(life: Life) -> None:
    assert [name[:2] for name in EVENTS] == [f"{number:02d}" for number in range(1, len(EVENTS) + 1)]
    covered = {function_of(name, life.stack.functions) for name in EVENTS}
    assert covered == {app.parent.name for app in (ROOT / "functions").glob("*/app.py")} == set(life.stack.functions)


def test_01_anybody_reads_the_card(life: Life) -> None:
    card = life.answer("01-api-agent-card")
    assert card["name"] == "financial-analysis"
    assert [interface["protocolBinding"] for interface in card["supportedInterfaces"]] == ["JSONRPC", "HTTP+JSON"]
    assert card["capabilities"]["pushNotifications"] is True


def test_02_a_message_becomes_a_task_and_a_webhook(life: Life) -> None:
    answer = life.answer(SENT)
    assert (answer["id"], answer["result"]["task"]["id"]) == (1, TASK)
    assert answer["result"]["task"]["status"]["state"] == "TASK_STATE_SUBMITTED"
    assert sorted(life.items) == ["LOG#000000000000", "PUSH#ledger", "TASK"]
    assert life.items["PUSH#ledger"]["key"]["S"] == KEY
    assert "whsec_" not in json.dumps(life.items["PUSH#ledger"])


def test_03_the_same_message_over_the_other_binding_changes_nothing(life: Life) -> None:
    life.live(SENT)
    before = life.items
    assert life.answer("03-api-send-message-http")["task"]["id"] == TASK
    assert life.items == before


def test_04_the_new_message_starts_one_execution(life: Life) -> None:
    assert life.handle("04-start-worker-message") == {"batchItemFailures": []}
    assert life.handle("04-start-worker-message") == {"batchItemFailures": []}
    assert life.executions() == [f"{TASK}-0-1767225600"]


@pytest.mark.parametrize("name", ["05-ring-webhooks-webhook", "07-ring-webhooks-status", "08-ring-webhooks-artifact"])
def test_05_07_08_what_is_new_rings_the_webhook(life: Life, name: str) -> None:
    life.live(SENT)
    assert life.handle(name) == {"batchItemFailures": []}
    doorbell = json.loads(event("09-send-webhooks-doorbell")["Records"][0]["body"])
    assert life.doorbells() == [(KEY, doorbell)]


@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("04-start-worker-message", [SENT]),
        ("05-ring-webhooks-webhook", [SENT]),
        ("07-ring-webhooks-status", [SENT, RAN]),
        ("08-ring-webhooks-artifact", [SENT, RAN]),
    ],
)
def test_stream_records_have_the_shape_of_what_is_stored(life: Life, name: str, after: list[str]) -> None:
    life.live(*after)
    image = event(name)["Records"][0]["dynamodb"]["NewImage"]
    stored = life.items[image["sk"]["S"]]
    assert set(image) == set(stored)
    same = [attribute for attribute in image if attribute not in ("body", "sealed", "at", "writer")]
    assert {attribute: image[attribute] for attribute in same} == {attribute: stored[attribute] for attribute in same}


def test_06_a_turn_runs_to_its_end(life: Life) -> None:
    life.live(SENT)
    assert life.handle(RAN) == {"outcome": "done"}
    kinds = [item["kind"]["S"] for sk, item in sorted(life.items.items()) if sk.startswith("LOG#")]
    assert kinds == ["message", "run", "status", "status", "artifact", "artifact", "artifact", "status"]
    assert life.state == "TASK_STATE_COMPLETED"


def test_09_10_a_doorbell_sends_all_that_is_owed_signed_by_a_published_key(life: Life) -> None:
    life.live(SENT, RAN)
    assert life.handle("09-send-webhooks-doorbell") == {"batchItemFailures": []}
    jwks = life.answer("10-publish-keys-jwks")
    now = life.clock.now() / 1000
    by_key = [verify(body, headers, jwks=jwks, now=now) for headers, body in life.received]
    by_secret = [verify(body, headers, secret=SECRET, now=now) for headers, body in life.received]
    assert by_key == by_secret
    assert [(one.number, one.kind) for one in by_key] == [
        (0, "task"),
        (2, "statusUpdate"),
        (3, "statusUpdate"),
        (4, "artifactUpdate"),
        (5, "artifactUpdate"),
        (6, "artifactUpdate"),
        (7, "statusUpdate"),
    ]
    assert {one.task_id for one in by_key} == {TASK}
    assert by_key[-1].content["status"]["state"] == "TASK_STATE_COMPLETED"
    assert not any("notification-token" in name.lower() for headers, _ in life.received for name in headers)


def test_09_a_doorbell_answered_twice_sends_nothing_twice(life: Life) -> None:
    life.live(SENT, RAN, "09-send-webhooks-doorbell", "09-send-webhooks-doorbell")
    assert len(life.received) == 7


def test_11_the_task_tells_its_end_and_one_message_of_its_history(life: Life) -> None:
    life.live(SENT, RAN)
    task = life.answer("11-api-get-task-http")
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert [message["parts"][0]["text"] for message in task["history"]] == [
        "Read 2 rows. Computing margins and changes of Fjordlight Instruments AS, 2024-Q3 to 2024-Q4."
    ]
    (artifact,) = task["artifacts"]
    figures = artifact["parts"][0]["data"]["periods"][-1]
    assert (figures["grossMargin"], figures["change"]["revenue"]["percent"]) == (0.4890, 32.53)
    assert base64.b64decode(artifact["parts"][-1]["raw"]).startswith(b"<svg ")


def test_12_the_schedule_starts_what_was_not_started(life: Life) -> None:
    life.live(SENT)
    life.clock.advance(61)
    life.handle("12-sweep-schedule")
    assert life.executions() == [f"{TASK}-0-1767225600"]


def test_12_the_schedule_leaves_alone_what_is_not_due(life: Life) -> None:
    life.live(SENT)
    assert life.handle("12-sweep-schedule") == {}
    assert life.executions() == []


@pytest.mark.parametrize("name", ["13-sweep-caught-turn", "14-sweep-stopped-execution"])
def test_13_14_an_execution_that_stopped_ends_its_task(life: Life, name: str) -> None:
    life.live(SENT)
    assert life.handle(name) == {"ended": 1}
    assert life.state == "TASK_STATE_FAILED"
    assert life.handle(name) == {"ended": 0}


def test_15_a_task_is_canceled_and_what_stops_after_it_changes_nothing(life: Life) -> None:
    life.live(SENT)
    assert life.answer("15-api-cancel-task-http")["status"]["state"] == "TASK_STATE_CANCELED"
    assert life.handle("13-sweep-caught-turn") == {"ended": 0}
    assert life.state == "TASK_STATE_CANCELED"


def test_the_turn_is_the_input_that_start_worker_gives(life: Life) -> None:
    life.live("04-start-worker-message")
    arn = life.stack.machine_arn.replace(":stateMachine:", ":execution:")
    started = boto3.client("stepfunctions").describe_execution(executionArn=f"{arn}:{TASK}-0-1767225600")
    assert json.loads(started["input"]) == event(RAN) == TURN
