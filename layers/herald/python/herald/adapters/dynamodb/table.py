"""One table: reading an item, paging a query, writing behind a condition, and what a refusal means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec

from botocore.exceptions import ClientError

from herald.adapters.aws import call, code_of
from herald.adapters.dynamodb import items
from herald.ports import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

P = ParamSpec("P")

# The condition didn't hold, or a transaction on the same item is under way: who asks reads on and tries again.
LOST = frozenset({"ConditionalCheckFailedException", "TransactionConflictException"})


def get_item(client: DynamoDBClient, table: str, partition: str, sk: str, now_second: int) -> items.Image | None:
    """One living item, read consistently."""
    answer = call(client.get_item, TableName=table, Key={"pk": {"S": partition}, "sk": {"S": sk}}, ConsistentRead=True)
    item = answer.get("Item")
    return None if item is None or items.expired(item, now_second) else item


def query(client: DynamoDBClient, **request: Any) -> Iterator[items.Image]:
    """The items of a Query, all its pages."""
    while True:
        page = call(client.query, **request)
        yield from page["Items"]
        if not (last := page.get("LastEvaluatedKey")):
            return
        request["ExclusiveStartKey"] = last


def write(operation: Callable[P, object], *args: P.args, **request: P.kwargs) -> bool:
    """Carry out a conditional write; False, and nothing written, if it lost.

    Raises:
        Unavailable: the table didn't answer.
        ItemTooLarge, ValueError: what was to be written can't be.
    """
    try:
        call(operation, *args, **request)
    except ClientError as error:
        if code_of(error) in LOST:
            return False
        raise refusal(error) from error
    return True


def reasons_of(error: ClientError) -> frozenset[str]:
    """Why a transaction was canceled: the codes of its items, without those that had nothing to say."""
    return frozenset(code for code, _ in _reasons(error)) - {"None"}


def _reasons(error: ClientError) -> list[tuple[str, str]]:
    told: Any = error.response.get("CancellationReasons", [])
    return [(reason.get("Code", "None"), reason.get("Message", "")) for reason in told]


def refusal(error: ClientError) -> Exception:
    """What DynamoDB refused for its content, as an error that says so; any other error as it is."""
    told = [error.response.get("Error", {}).get("Message", ""), *(text for _, text in _reasons(error))]
    why = f"{error.operation_name}: {'; '.join(filter(None, told))}"
    if "size has exceeded" in why or "exceeds the maximum" in why:
        return items.ItemTooLarge(why)
    if code_of(error) == "TransactionConflictException":
        return Unavailable(why)
    if code_of(error) == "ValidationException" or "ValidationError" in reasons_of(error):
        return ValueError(why)
    return error
