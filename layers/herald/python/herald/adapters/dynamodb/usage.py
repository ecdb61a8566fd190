"""Usage on DynamoDB: a sparse index of open tasks, to be counted, and one small item with an owner's origins."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from herald.adapters.aws import call
from herald.adapters.dynamodb import items, keys
from herald.adapters.dynamodb.table import get_item, write
from herald.ports import Clock
from herald.records import Caller, OriginsInUse

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

INDEX = "open"


class DynamoUsage:
    """What an owner has in use, in the Tasks table.

    Args:
        client: makes the client, or hands out the one there is.
        owner_shards: number of partitions that an owner's tasks lie in.
    """

    def __init__(self, client: Callable[[], DynamoDBClient], table: str, clock: Clock, owner_shards: int = 1) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._owner_shards = owner_shards

    def open_tasks(self, owner: Caller, at_most: int) -> int:
        count = 0
        for partition in keys.open_keys(owner, self._owner_shards):
            if count < at_most:
                count += self._count(partition, at_most - count)
        return count

    def _count(self, partition: str, at_most: int) -> int:
        """Entries of one partition; a page ends at 1 MB, some thousands of them."""
        count = 0
        request: dict[str, Any] = {
            "TableName": self._table,
            "IndexName": INDEX,
            "Select": "COUNT",
            "KeyConditionExpression": "openKey = :open",
            "ExpressionAttributeValues": {":open": {"S": partition}},
        }
        while count < at_most:
            page = call(self._client().query, **request, Limit=at_most - count)
            count += page["Count"]
            if not (last := page.get("LastEvaluatedKey")):
                break
            request["ExclusiveStartKey"] = last
        return count

    def origins(self, owner: Caller) -> OriginsInUse:
        now = self._clock.now() // 1000
        item = get_item(self._client(), self._table, keys.owner_pk(owner), keys.ORIGINS, now)
        if item is None:
            return OriginsInUse(owner)
        return OriginsInUse(owner, json.loads(item["until"]["S"]), int(item["revision"]["N"]))

    def replace_origins(self, before: OriginsInUse, after: OriginsInUse) -> bool:
        condition, values = "revision = :before", {":before": {"N": str(before.revision)}}
        if before.revision == 0:
            condition = "attribute_not_exists(pk) OR expiresAt <= :now"
            values = {":now": {"N": str(self._clock.now() // 1000)}}
        item: items.Item = {
            "pk": {"S": keys.owner_pk(after.owner)},
            "sk": {"S": keys.ORIGINS},
            "v": {"N": items.VERSION},
            "expiresAt": {"N": str(max(after.until.values()))},
            "until": {"S": json.dumps(dict(after.until), separators=(",", ":"))},
            "revision": {"N": str(after.revision)},
        }
        return write(
            self._client().put_item,
            TableName=self._table,
            Item=items.guard(item),
            ConditionExpression=condition,
            ExpressionAttributeValues=values,
        )
