"""Remains on DynamoDB and S3: what is stored of tasks and owners, found and deleted whatever it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from herald.adapters.aws import call
from herald.adapters.dynamodb import items, keys
from herald.adapters.dynamodb.index import BY_OWNER
from herald.adapters.dynamodb.table import query
from herald.ports import Clock, Remnant, Unavailable
from herald.protocol.states import TaskState
from herald.records import Caller, TaskRef

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from herald.adapters.s3 import S3Bodies

MOST_SHARDS = 64  # that an owner's tasks may be spread over, as the template allows; asking all of them is cheap
BATCH = 25  # items of a BatchWriteItem
TRIES = 8


class DynamoRemains:
    """What remains in the Tasks table and in the bucket.

    Args:
        client: makes the client, or hands out the one there is.
    """

    def __init__(self, client: Callable[[], DynamoDBClient], table: str, bodies: S3Bodies, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._bodies = bodies
        self._clock = clock

    def items(self, place: TaskRef | Caller) -> list[Remnant]:
        found = query(
            self._client(),
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk",
            ProjectionExpression="sk, kind, #at, run, #state",
            ExpressionAttributeNames={"#at": "at", "#state": "state"},
            ExpressionAttributeValues={":pk": {"S": _partition(place)}},
        )
        return [_remnant(item) for item in found]

    def delete(self, place: TaskRef | Caller, sort_keys: Sequence[str]) -> None:
        partition = _partition(place)
        for start in range(0, len(sort_keys), BATCH):
            self._delete([{"pk": {"S": partition}, "sk": {"S": sk}} for sk in sort_keys[start : start + BATCH]])

    def _delete(self, item_keys: list[Any]) -> None:
        requests: dict[str, Any] = {self._table: [{"DeleteRequest": {"Key": key}} for key in item_keys]}
        pause = 0.05
        for _ in range(TRIES):
            requests = call(self._client().batch_write_item, RequestItems=requests).get("UnprocessedItems", {})
            if not requests:
                return
            self._clock.sleep(pause)
            pause *= 2
        raise Unavailable(f"BatchWriteItem: items were left {TRIES} times")

    def bodies(self, ref: TaskRef) -> list[str]:
        return self._bodies.list(keys.body_prefix(keys.pk(ref)))

    def delete_bodies(self, keys: Sequence[str]) -> None:
        self._bodies.delete(keys)

    def tasks_of(self, owner: Caller) -> Iterator[TaskRef]:
        for shard in range(MOST_SHARDS):
            found = query(
                self._client(),
                TableName=self._table,
                IndexName=BY_OWNER,
                KeyConditionExpression="ownerKey = :owner",
                ProjectionExpression="pk",
                ExpressionAttributeValues={":owner": {"S": keys.owner_shard_key(owner, shard)}},
            )
            yield from (keys.ref_from_pk(item["pk"]["S"]) for item in found)

    def find(self, task_id: str) -> Iterator[TaskRef]:
        request: dict[str, Any] = {
            "TableName": self._table,
            "IndexName": BY_OWNER,
            "FilterExpression": "taskId = :id",
            "ProjectionExpression": "pk",
            "ExpressionAttributeValues": {":id": {"S": task_id}},
        }
        while True:
            page = call(self._client().scan, **request)
            yield from (keys.ref_from_pk(item["pk"]["S"]) for item in page["Items"])
            if not (last := page.get("LastEvaluatedKey")):
                return
            request["ExclusiveStartKey"] = last


def _partition(place: TaskRef | Caller) -> str:
    return keys.pk(place) if isinstance(place, TaskRef) else keys.owner_pk(place)


def _remnant(item: items.Image) -> Remnant:
    sk = item["sk"]["S"]
    if not sk.startswith(keys.LOG):
        return Remnant(sk, keys.kind_from_sk(sk))
    return Remnant(
        sk,
        item["kind"]["S"],
        number=keys.number_from_sk(sk),
        at=int(item["at"]["N"]),
        run=int(item["run"]["N"]) if "run" in item else -1,
        state=TaskState(item["state"]["S"]) if "state" in item else None,
    )
