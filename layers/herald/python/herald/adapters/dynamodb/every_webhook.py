"""All webhooks of a deployment, for an operator: one reading of the whole table."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from herald.adapters.aws import call
from herald.adapters.dynamodb import items, keys
from herald.adapters.dynamodb.items import UNREADABLE
from herald.ports import Clock
from herald.records import Webhook

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


logger = logging.getLogger(__name__)


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
        """Half a read unit for each 4 KB of the table. Names what it can't read, and goes on. Raises Unavailable."""
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
                if (webhook := self._read(item, now)) is not None:
                    yield webhook
            if "LastEvaluatedKey" not in page:
                return
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def _read(self, item: items.Image, now_second: int) -> Webhook | None:
        try:
            return None if items.expired(item, now_second) else items.webhook_from_image(item)
        except UNREADABLE:
            # One that Herald didn't write must not hold up the others.
            logger.warning("passed over, for it can't be read: %s of %s", item["sk"]["S"], item["pk"]["S"])
            return None
