"""All tasks of all owners, for an operator who can't say whose: the whole index is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import TYPE_CHECKING, Any

from herald.adapters.aws import call
from herald.adapters.dynamodb.index import BY_OWNER, listed
from herald.protocol.states import TaskState
from herald.records import Listed

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoSurvey:
    """The index ``byOwner`` from one end to the other.

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
