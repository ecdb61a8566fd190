"""Given the sample events of one task's life, then each function's handler does its part with them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from herald.webhooks import verify
from integration import life as lives
from integration import make_events
from integration.life import ASKED, EVENTS, RAN, ROOT, RUNG, SENT, SENT_AGAIN, Life, event, function_of

TURN = event(RAN)
TASK = TURN["taskId"]
DOORBELL = json.loads(event(RUNG)["Records"][0]["body"])
KEY = DOORBELL["key"]
SECRET = "whsec_ZXhhbXBsZSBzZWNyZXQgb2YgdGhlIHJlY2VpdmVyIQ=="


@pytest.fixture
def life() -> Iterator[Life]:
    with lives.beginning() as life:
        yield life


def test_the_files_stand_in_the_order_of_a_life_and_cover_every_function(life: Life) -> None:
    assert [name[:2] for name in EVENTS] == [f"{number:02d}" for number in range(len(EVENTS))]
    covered = {function_of(name, life.stack.functions) for name in EVENTS}
    assert covered == {app.parent.name for app in (ROOT / "functions").glob("*/app.py")} == set(life.stack.functions)


def test_00_a_token_is_its_subjects_and_opens_the_stage(life: Life) -> None:
    answer = life.handle("00-authorize-token")
    sent = event(SENT)["requestContext"]["authorizer"]
    assert answer["policyDocument"]["Statement"] == [
        {
            "Effect": "Allow",
            "Action": "execute-api:Invoke",
            "Resource": "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/*",
        }
    ]
    assert {**answer["context"], "principalId": answer["principalId"], "integrationLatency": 31} == sent


def test_01_anybody_reads_the_card(life: Life) -> None:
    card = life.answer("01-api-agent-card")
    assert card["name"] == "financial-analysis"
    assert [interface["protocolBinding"] for interface in card["supportedInterfaces"]] == ["JSONRPC", "HTTP+JSON"]
    assert card["capabilities"]["pushNotifications"] is True


def test_02_a_message_becomes_a_task_and_a_webhook(life: Life) -> None:
    answer = life.answer(SENT)
    assert (answer["id"], answer["result"]["task"]["id"]) == (1, TASK)
    assert answer["result"]["task"]["status"]["state"] == "TASK_STATE_SUBMITTED"
    assert sorted(life.items) == ["LOG#000000000000", "ORIGINS", "PUSH#ledger", "TASK"]
    assert life.items["PUSH#ledger"]["key"]["S"] == KEY
    assert "whsec_" not in json.dumps(life.items["PUSH#ledger"])


def test_03_the_same_message_over_the_other_binding_changes_nothing(life: Life) -> None:
    life.live(SENT)
    before = life.items
    assert life.answer(SENT_AGAIN)["task"]["id"] == TASK
    assert life.items == before


def test_04_the_new_message_starts_one_execution(life: Life) -> None:
    assert life.handle("04-start-worker-message") == {"batchItemFailures": []}
    assert life.handle("04-start-worker-message") == {"batchItemFailures": []}
    assert life.executions() == [f"{TASK}-0-1767225600"]


@pytest.mark.parametrize("name", ["05-ring-webhooks-webhook", "07-ring-webhooks-status", "08-ring-webhooks-artifact"])
def test_05_07_08_what_is_new_rings_the_webhook(life: Life, name: str) -> None:
    life.live(SENT)
    assert life.handle(name) == {"batchItemFailures": []}
    assert life.doorbells() == [(KEY, DOORBELL)]


def test_the_files_are_what_make_events_writes(tmp_path: Path) -> None:
    make_events.main(tmp_path)

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        path.name: path.read_text() for path in EVENTS.values()
    }


def test_06_a_turn_runs_to_its_end(life: Life) -> None:
    life.live(SENT)
    assert life.handle(RAN) == {"outcome": "done"}
    kinds = [item["kind"]["S"] for sk, item in sorted(life.items.items()) if sk.startswith("LOG#")]
    assert kinds == ["message", "run", "status", "status", "artifact", "artifact", "artifact", "status"]
    assert life.state == "TASK_STATE_COMPLETED"


def test_09_10_a_doorbell_sends_all_that_is_owed_signed_by_a_published_key(life: Life) -> None:
    life.live(SENT, RAN)
    assert life.handle(RUNG) == {"batchItemFailures": []}
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
    life.live(SENT, RAN, RUNG, RUNG)
    assert len(life.received) == 7


def test_11_the_task_tells_its_end_and_one_message_of_its_history(life: Life) -> None:
    life.live(SENT, RAN)
    task = life.answer(ASKED)
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
    assert json.loads(started["input"]) == TURN
