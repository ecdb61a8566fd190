"""All webhooks of a deployment, for an operator: one reading of the whole table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from herald.adapters.aws import call
from herald.adapters.dynamodb import items, keys
from herald.ports import Clock
from herald.records import Webhook

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class EveryWebhook:
    """The webhooks of all tasks that haven't expired, in no order.

    Args:
        client: makes the client, or hands out the one there is.
    """

    def __init__(self, client: Callable[[], DynamoDBClient], table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def __iter__(self) -> Iterator[Webhook]:
        """Half a read unit for each 4 KB of the table. Raises Unavailable."""
        now = self._clock.now() // 1000
        start: dict[str, Any] = {}
        while True:
            page = call(
                self._client().scan,
                TableName=self._table,
                FilterExpression="begins_with(sk, :prefix)",
                ExpressionAttributeValues={":prefix": {"S": keys.PUSH}},
                **start,
            )
            for item in page["Items"]:
                if not items.expired(item, now):
                    yield items.webhook_from_image(item)
            if "LastEvaluatedKey" not in page:
                return
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
