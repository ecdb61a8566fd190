"""What an operator asks that no function does: all tasks of all owners, and which items of a task can't be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any, NamedTuple

from herald.adapters.aws import call
from herald.adapters.dynamodb import items, keys
from herald.adapters.dynamodb.index import BY_OWNER, listed
from herald.adapters.dynamodb.table import query
from herald.protocol.states import TaskState
from herald.records import Listed, TaskRef

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


READERS: Mapping[str, Callable[[items.Image], object]] = {
    keys.HEADER: items.header_from_item,
    keys.LOG: items.entry_from_image,
    "MSG#": items.taken_from_item,
    keys.PUSH: items.webhook_from_image,
    "TRY#": items.attempt_from_item,
}
"""How an item is read, by what its sort key begins with."""


class Unreadable(NamedTuple):
    """An item that can't be read: its sort key, what is wrong, and the names of what it has."""

    sk: str
    why: str
    holds: tuple[str, ...]


class DynamoSurvey:
    """The table as it lies.

    Args:
        client: makes the client, or hands out the one there is.
    """

    def __init__(self, client: Callable[[], DynamoDBClient], table: str) -> None:
        self._client = client
        self._table = table

    def tasks(self, states: Set[TaskState], now_second: int) -> Iterator[Listed]:
        """Tasks in one of these states, in no order; eventually consistent, as the index is."""
        wanted = {f":state{number}": {"S": state.value} for number, state in enumerate(sorted(states))}
        request: dict[str, Any] = {
            "TableName": self._table,
            "IndexName": BY_OWNER,
            "FilterExpression": f"expiresAt > :now AND #state IN ({', '.join(wanted)})",
            "ExpressionAttributeNames": {"#state": "state"},
            "ExpressionAttributeValues": {":now": {"N": str(now_second)}, **wanted},
        }
        while True:
            page = call(self._client().scan, **request)
            yield from (listed(item) for item in page["Items"])
            if not (last := page.get("LastEvaluatedKey")):
                return
            request["ExclusiveStartKey"] = last

    def unreadable(self, ref: TaskRef) -> list[Unreadable]:
        """The items of a task that can't be read. Reads all of it."""
        found = query(
            self._client(),
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": keys.pk(ref)}},
        )
        return [
            Unreadable(item["sk"]["S"], why, tuple(sorted(item.keys() - {"pk", "sk"})))
            for item in found
            if (why := _wrong(item))
        ]


def _wrong(item: items.Image) -> str:
    sk = item["sk"]["S"]
    reader = next((READERS[prefix] for prefix in READERS if sk.startswith(prefix)), None)
    if reader is None:
        return "its key is none of Herald's"
    try:
        items.expired(item, 0)
        reader(item)
    except KeyError as error:
        return f"it has no {error.args[0]}"
    except items.UNREADABLE as error:
        return str(error)
    return ""
