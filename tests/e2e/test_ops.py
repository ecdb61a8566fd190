"""Three troubles on the deployed stack, each found and mended as docs/operations.md says, by its commands alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from local.environments import ROOT
from local.stack import Place

from e2e.client import Client
from e2e.cloud import Cloud
from e2e.loopback import Meeting, Receiver
from e2e.waiting import wait_for

Ops = Callable[..., Any]


@pytest.fixture
def ops(place: Place, cloud: Cloud) -> Ops:
    """``ops("task", id)``: what a command prints with --json; it must end with ``code``."""

    def typed(*words: str, code: int = 0) -> Any:
        environment = {**os.environ, "LOCAL_DIR": str(place.folder), "PORT": str(place.port)}
        command = [sys.executable, "-m", "local.ops", *words, "--json"]
        ended = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert ended.returncode == code, ended.stdout + ended.stderr
        assert "Traceback" not in ended.stderr
        return json.loads(ended.stdout) if ended.stdout else ended.stderr

    return typed


def test_a_disabled_webhook_is_found_and_mended(client: Client, cloud: Cloud, receiver: Receiver, ops: Ops) -> None:
    receiver.answers.append(410)
    task_id = client.start({"complete": "Done"}, webhook={**receiver.config, "id": "books"})
    client.wait_for_end(task_id)
    name = f"{task_id}/books"

    def disabled() -> list[Any]:
        return [each for each in ops("webhooks")["webhooks"] if each["webhook"] == name and each["state"] == "disabled"]

    (found,) = wait_for("the webhook to be disabled", disabled)
    assert found["reason"] == "gone: the receiver answered 410"
    (attempt,) = ops("attempts", name, "--owner", cloud.owner)["attempts"]
    assert (attempt["outcome"], attempt["status"]) == ("gone", 410)

    assert ops("resume", name, "--owner", cloud.owner)["rung"] is True
    receiver.wait_for_end(task_id)
    wait_for("the webhook to be well", lambda: name not in [each["webhook"] for each in ops("webhooks")["webhooks"]])
    ops("replay", name, "--owner", cloud.owner)
    # What was refused and what was delivered, then all of it once more.
    numbers = cloud.to_send(task_id)
    wait_for("the replay", lambda: len(receiver.of(task_id)) == 1 + 2 * len(numbers))
    assert receiver.token not in json.dumps(ops("task", task_id))


@contextmanager
def unheard(cloud: Cloud) -> Iterator[None]:
    """Nobody hears of executions that end while the block runs."""
    rules = [rule["Name"] for rule in cloud.events.list_rules()["Rules"]]
    [rule] = [name for name in rules if f"{cloud.addresses['stackName']}-SweepFunctionExecutionEnded" in name]
    cloud.events.disable_rule(Name=rule)
    try:
        yield
    finally:
        cloud.events.enable_rule(Name=rule)


def test_a_stuck_execution_is_found_and_mended(client: Client, cloud: Cloud, meeting: Meeting, ops: Ops) -> None:
    task_id = client.start({"working": "Reading"}, {"meet": meeting.url}, {"complete": "Done"})
    meeting.wait_until_reached()
    (execution,) = ops("task", task_id)["executions"]
    with unheard(cloud):
        arn = cloud.addresses["stateMachineArn"].replace(":stateMachine:", ":execution:")
        cloud.stepfunctions.stop_execution(executionArn=f"{arn}:{execution['name']}", error="Console")
        wait_for("the execution to stop", lambda: cloud.executions(task_id) == ["ABORTED"])

    stuck = ops("tasks", "--stuck")["tasks"]
    assert [each["task"] for each in stuck] == [task_id]
    (hint,) = ops("task", task_id)["hints"]
    assert hint.startswith("It is stuck: its execution is over (ABORTED) and it hasn't ended.")

    assert ops("restart", task_id)["execution"] == f"{execution['name']}-r2"
    second = {"#3 run", "#4 status"}
    wait_for("the second run", lambda: second <= {each["what"] for each in ops("task", task_id)["timeline"]})
    meeting.release()
    assert client.wait_for_end(task_id)["status"]["state"] == "TASK_STATE_COMPLETED"
    assert ops("tasks", "--stuck")["tasks"] == []


def test_a_poisoned_stream_record_is_found_and_mended(
    client: Client, cloud: Cloud, receiver: Receiver, meeting: Meeting, ops: Ops
) -> None:
    task_id = client.start({"meet": meeting.url}, {"complete": "Done"}, webhook=receiver.config)
    meeting.wait_until_reached()
    cloud.dynamodb.put_item(
        TableName=cloud.addresses["table"],
        Item={
            "pk": {"S": cloud.partition(task_id)},
            "sk": {"S": "PUSH#imported"},
            "snapshot": {"S": "due"},
            "expiresAt": {"N": "4000000000"},
        },
    )

    def given_up() -> bool:
        letters = ops("drain-dead-letters", "--dry-run")["letters"]
        return any("that ring_webhooks gave up on" in each["what"] for each in letters)

    wait_for("a reader to give up", given_up)
    (letter, *_) = ops("drain-dead-letters", code=3)["letters"]
    assert f"remove-unreadable {task_id}" in letter["done"]
    removed = ops("remove-unreadable", task_id)["unreadable"]
    assert removed == [
        {"item": "PUSH#imported", "why": "it has no state", "has": ["expiresAt", "snapshot"], "deleted": True}
    ]
    meeting.release()
    client.wait_for_end(task_id)

    def drained() -> bool:
        told = ops("drain-dead-letters")["letters"]
        assert all(each["settled"] for each in told)
        return not told

    wait_for("the queues to be empty", drained)
    receiver.wait_for_end(task_id)
