"""TaskIndex on DynamoDB: the listing indexes byOwner and byContext, newest status first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from herald.adapters.aws import call
from herald.adapters.dynamodb import items, keys
from herald.ports import Clock, ListedPage, Listing
from herald.protocol.states import TaskState
from herald.records import Listed, Position

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import QueryOutputTypeDef

BY_OWNER, BY_CONTEXT = "byOwner", "byContext"


class DynamoTaskIndex:
    """The two listing indexes of the Tasks table.

    Args:
        client: makes the client, or hands out the one there is.
        owner_shards: number of partitions that an owner's tasks are spread over. A context's lie in one.
    """

    def __init__(self, client: Callable[[], DynamoDBClient], table: str, clock: Clock, owner_shards: int = 1) -> None:
        self._client = client
        self._table = table
        self._clock = clock
        self._owner_shards = owner_shards

    def page(self, listing: Listing, after: Position | None, limit: int) -> ListedPage:
        if _nothing_left(listing, after):
            return ListedPage([], None)
        partitions = self._partitions(listing)
        each = max(1, limit // len(partitions))
        entries: list[Listed] = []
        read_to: list[Position] = []  # of each partition that has more, how far down it was read
        for partition in partitions:
            page = self._query(listing, partition, after, Limit=each)
            entries += [listed(item) for item in page["Items"]]
            if last := page.get("LastEvaluatedKey"):
                read_to.append(keys.position_from_key(last["listKey"]["S"]))
        # Below the highest of these, a partition may hold what hasn't been read yet.
        beyond = max(read_to, default=None)
        if beyond is not None:
            entries = [entry for entry in entries if entry.position >= beyond]
        return ListedPage(sorted(entries, key=lambda entry: entry.position, reverse=True), beyond)

    def count(self, listing: Listing, after: Position | None, limit: int) -> int:
        if _nothing_left(listing, after):
            return 0
        found, left = 0, limit
        for partition in self._partitions(listing):
            position = after
            while left > 0:
                page = self._query(listing, partition, position, Select="COUNT", Limit=left)
                found += page["Count"]
                left -= page["ScannedCount"]
                if not (last := page.get("LastEvaluatedKey")):
                    break
                position = keys.position_from_key(last["listKey"]["S"])
        return found

    def _partitions(self, listing: Listing) -> list[str]:
        if listing.context_id:
            return [keys.context_key(listing.caller, listing.context_id)]
        return [keys.owner_shard_key(listing.caller, shard) for shard in range(self._owner_shards)]

    def _query(self, listing: Listing, partition: str, after: Position | None, **how: Any) -> QueryOutputTypeDef:
        # Where to begin is told by the sort key alone: unlike ExclusiveStartKey, it needs no item to be there.
        lowest, highest = keys.list_range(listing.since, after)
        hash_key = "contextKey" if listing.context_id else "ownerKey"
        request: dict[str, Any] = {
            "TableName": self._table,
            "IndexName": BY_CONTEXT if listing.context_id else BY_OWNER,
            "KeyConditionExpression": f"{hash_key} = :partition AND listKey BETWEEN :lowest AND :highest",
            "FilterExpression": "expiresAt > :now",
            "ExpressionAttributeValues": {
                ":partition": {"S": partition},
                ":lowest": {"S": lowest},
                ":highest": {"S": highest},
                ":now": {"N": str(self._clock.now() // 1000)},
            },
            "ScanIndexForward": False,
            **how,
        }
        if listing.states:
            wanted = {f":state{number}": {"S": state.value} for number, state in enumerate(sorted(listing.states))}
            request["FilterExpression"] += f" AND #state IN ({', '.join(wanted)})"
            request["ExpressionAttributeNames"] = {"#state": "state"}
            request["ExpressionAttributeValues"] |= wanted
        return call(self._client().query, **request)


def _nothing_left(listing: Listing, after: Position | None) -> bool:
    """A range that ends before it begins, which a Query refuses."""
    return after is not None and listing.since is not None and after.status_at < listing.since


def listed(item: items.Image) -> Listed:
    """The entry that an index item is."""
    position = keys.position_from_key(item["listKey"]["S"])
    ref = keys.ref_from_pk(item["pk"]["S"])
    return Listed(ref, position, TaskState(item["state"]["S"]), int(item["expiresAt"]["N"]))
