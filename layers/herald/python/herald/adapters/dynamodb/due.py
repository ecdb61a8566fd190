"""DueIndex on DynamoDB: the sparse index of what must be looked at by a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge
from typing import TYPE_CHECKING

from herald.adapters.dynamodb import keys
from herald.adapters.dynamodb.table import query
from herald.records import Due

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

INDEX = "due"


class DynamoDueIndex:
    """The index ``due`` of the Tasks table, over all its shards, the earliest first."""

    def __init__(self, client: Callable[[], DynamoDBClient], table: str) -> None:
        self._client = client
        self._table = table

    def due(self, now: int) -> Iterator[Due]:
        # Who stops before the end has seen what waited longest, in whatever shard it lies: no shard waits for another.
        shards = [self._shard(f"{shard:02d}", now) for shard in range(keys.DUE_SHARDS)]
        return merge(*shards, key=lambda due: due.due_at)

    def resting(self) -> Iterator[Due]:
        shards = [self._shard(f"{keys.RESTING}{shard:02d}", keys.LAST_MOMENT) for shard in range(keys.DUE_SHARDS)]
        return merge(*shards, key=lambda due: due.due_at)

    def _shard(self, shard: str, now: int) -> Iterator[Due]:
        found = query(
            self._client(),
            TableName=self._table,
            IndexName=INDEX,
            KeyConditionExpression="dueShard = :shard AND dueAt <= :now",
            ExpressionAttributeValues={":shard": {"S": shard}, ":now": {"N": str(now)}},
        )
        for item in found:
            sk = item["sk"]["S"]
            config_id = keys.config_from_sk(sk) if sk.startswith(keys.PUSH) else None
            yield Due(keys.ref_from_pk(item["pk"]["S"]), config_id, int(item["dueAt"]["N"]))
