"""All webhooks of a deployment, read from moto's table."""

from __future__ import annotations

import logging
from typing import Any
from unittest import mock

import pytest
from botocore.exceptions import ConnectTimeoutError

from builders.records import a_header, a_ref, a_webhook, message_entry
from builders.stores import TABLE, Store
from fakes.clock import FakeClock
from herald.adapters.aws import AwsClients
from herald.adapters.dynamodb import keys
from herald.adapters.dynamodb.every_webhook import EveryWebhook
from herald.ports import Unavailable

OTHER = a_ref("b" * 26, owner="bob")


@pytest.fixture
def every(aws: AwsClients, dynamo: Store, clock: FakeClock) -> EveryWebhook:
    """Three webhooks of two owners, beside their tasks."""
    for ref in (a_ref(), OTHER):
        assert dynamo.log.create(a_header(ref=ref), message_entry(), a_webhook("one", ref=ref))
    dynamo.webhooks.put(a_webhook("two"))
    return EveryWebhook(lambda: aws.dynamodb, TABLE, clock)


def found(every: EveryWebhook) -> set[tuple[str, str]]:
    return {(webhook.ref.owner, webhook.config_id) for webhook in every}


def test_the_webhooks_of_all_owners_are_found(every: EveryWebhook, dynamo: Store) -> None:
    assert found(every) == {("alice", "one"), ("alice", "two"), ("bob", "one")}
    assert dynamo.webhooks.get(OTHER, "one") in list(every)


def test_page_by_page(every: EveryWebhook, aws: AwsClients) -> None:
    plain = aws.dynamodb.scan

    def one_at_a_time(**request: Any) -> Any:
        return plain(**request, Limit=1)

    with mock.patch.object(aws.dynamodb, "scan", one_at_a_time):
        assert len(found(every)) == 3


def test_those_of_expired_tasks_are_not(every: EveryWebhook, clock: FakeClock) -> None:
    clock.advance(100 * 86_400)

    assert found(every) == set()


def test_what_herald_did_not_write_is_passed_over_and_said(
    every: EveryWebhook, aws: AwsClients, caplog: pytest.LogCaptureFixture
) -> None:
    place = {"pk": {"S": keys.pk(a_ref())}, "sk": {"S": "PUSH#foreign"}}
    aws.dynamodb.put_item(TableName=TABLE, Item={**place, "expiresAt": {"N": "9999999999"}, "url": {"S": "planted"}})

    with caplog.at_level(logging.WARNING):
        assert len(found(every)) == 3

    assert "passed over, for it can't be read: PUSH#foreign of TASK#acme#alice#" in caplog.text
    assert "planted" not in caplog.text


def test_a_table_that_does_not_answer_is_unavailable(every: EveryWebhook, aws: AwsClients) -> None:
    silent = ConnectTimeoutError(endpoint_url="https://dynamodb.eu-central-1.amazonaws.com")
    with mock.patch.object(aws.dynamodb, "scan", side_effect=silent), pytest.raises(Unavailable):
        list(every)
