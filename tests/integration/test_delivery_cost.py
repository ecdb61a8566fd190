"""What a notification costs at AWS, call by call: a healthy one is one conditional update, only failures record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import pytest
from botocore import client as botocore_client
from moto import mock_aws

from builders.deliveries import URL, Road
from builders.records import KEY, a_header, a_ref, a_webhook, artifact_entry, message_entry
from builders.stores import AWS_ENVIRONMENT, Store, dynamo_store
from fakes.clock import START
from fakes.world import answer
from herald.adapters.aws import AwsClients
from herald.records import Doorbell

BELL = Doorbell(a_ref(), "cfg-1", KEY)
Calls = list[tuple[str, Mapping[str, Any]]]


@dataclass
class Scene:
    """The delivery loop over moto's table; receivers and the queue are fakes."""

    road: Road
    store: Store

    def entry(self, number: int) -> None:
        assert self.store.log.put(a_ref(), artifact_entry(number), a_header().expires_second)

    def answer(self) -> Calls:
        """Answer the webhook's doorbell; the calls that DynamoDB gets."""
        delivery = replace(self.road.delivery, log=self.store.log, webhooks=self.store.webhooks)
        with _watched() as calls:
            delivery.answer(BELL, lambda: 300)
        return calls


@contextmanager
def _watched() -> Iterator[Calls]:
    client: Any = botocore_client.BaseClient
    plain, calls = client._make_api_call, []

    def make(self: Any, operation: str, parameters: Mapping[str, Any]) -> Any:
        calls.append((operation, parameters))
        return plain(self, operation, parameters)

    with mock.patch.object(client, "_make_api_call", make):
        yield calls


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """A task of one message, and its active webhook, which has had one success."""
    for name, value in AWS_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        road = Road()
        store = dynamo_store(AwsClients(), road.clock)
        store.log.create(a_header(), message_entry(0), None)
        due_at = START + 3_020_651  # this key's own time within the hour
        store.webhooks.put(a_webhook(due_at=due_at, delivered=1, first_success_at=START, last_success_at=START))
        yield Scene(road, store)


def names(calls: Calls) -> list[str]:
    return [name for name, _ in calls]


def test_a_healthy_notification_is_a_read_of_the_webhook_one_of_the_log_and_one_update(scene: Scene) -> None:
    scene.entry(1)
    scene.road.clock.advance(1)

    calls = scene.answer()

    assert names(calls) == ["GetItem", "Query", "UpdateItem"]
    update = calls[2][1]
    # The cursor and the success, and nothing else: no index is written.
    assert update["UpdateExpression"] == (
        "SET #cursor = :new_cursor, #delivered = :new_delivered, #lastSuccessAt = :new_lastSuccessAt"
    )
    assert update["ConditionExpression"] == (
        "#key = :key AND #cursor = :cursor AND expiresAt > :now AND attribute_not_exists(#snapshot)"
    )


def test_ten_notifications_of_one_doorbell_share_the_read_of_the_log(scene: Scene) -> None:
    for number in range(1, 11):
        scene.entry(number)

    calls = scene.answer()

    assert names(calls) == ["GetItem", "Query", "UpdateItem", *["GetItem", "UpdateItem"] * 9]


def test_the_index_is_written_once_an_hour(scene: Scene) -> None:
    scene.entry(1)
    scene.road.clock.advance(3_600)

    update = scene.answer()[2][1]

    assert update["UpdateExpression"].startswith("SET #cursor = :new_cursor, #dueAt = :new_dueAt,")


def test_a_failure_is_a_record_and_an_update(scene: Scene) -> None:
    scene.entry(1)
    scene.road.transport.script(URL, answer(500, b"oops"))

    calls = scene.answer()

    assert names(calls) == ["GetItem", "Query", "PutItem", "UpdateItem"]
    assert calls[2][1]["Item"]["sk"] == {"S": f"TRY#{KEY}#000000000001#000001"}


def test_a_refusal_by_the_guard_also_looks_at_the_attempts_before_it(scene: Scene) -> None:
    scene.entry(1)
    scene.road.resolver.set("client.example", ["10.0.0.1"])

    assert names(scene.answer()) == ["GetItem", "Query", "Query", "PutItem", "UpdateItem"]


def test_a_doorbell_too_many_is_one_read_of_the_webhook_and_one_of_the_log(scene: Scene) -> None:
    assert names(scene.answer()) == ["GetItem", "Query"]


def test_a_command_of_an_operators_is_a_read_and_an_update(scene: Scene) -> None:
    control = replace(scene.road.control, log=scene.store.log, webhooks=scene.store.webhooks)
    webhook = scene.store.webhooks.get(a_ref(), "cfg-1")
    assert webhook is not None

    with _watched() as calls:
        control.pause(webhook)

    assert names(calls) == ["GetItem", "UpdateItem"]
