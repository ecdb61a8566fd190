"""Webhooks on DynamoDB: PUSH items beside their task's log, TRY items for failed attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from herald.adapters.aws import call, code_of
from herald.adapters.dynamodb import items, keys
from herald.adapters.dynamodb.log import get_item, refusal
from herald.ports import Clock
from herald.records import Attempt, TaskRef, Webhook

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

ATTEMPT_SECONDS = 30 * 86_400


class DynamoWebhooks:
    """Webhooks in the Tasks table.

    Args:
        client: makes the client, or hands out the one there is.
    """

    def __init__(self, client: Callable[[], DynamoDBClient], table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def get(self, ref: TaskRef, config_id: str) -> Webhook | None:
        item = get_item(self._client(), self._table, keys.pk(ref), keys.push_sk(config_id), self._clock)
        return None if item is None else items.webhook_from_image(item)

    def list(self, ref: TaskRef) -> list[Webhook]:
        found = [items.webhook_from_image(item) for item in self._query(ref, keys.PUSH)]
        return sorted(found, key=lambda webhook: webhook.config_id)

    def put(self, webhook: Webhook) -> None:
        self._put(items.webhook_item(webhook))

    def delete(self, ref: TaskRef, config_id: str) -> None:
        call(
            self._client().delete_item,
            TableName=self._table,
            Key={"pk": {"S": keys.pk(ref)}, "sk": {"S": keys.push_sk(config_id)}},
        )

    def update(self, before: Webhook, after: Webhook) -> bool:
        differing = [f.name for f in fields(Webhook) if getattr(before, f.name) != getattr(after, f.name)]
        if wrong := [name for name in differing if name in items.FIXED]:
            raise ValueError(f"an update can't change {', '.join(wrong)}")
        names = {"#key": "key", "#cursor": "cursor"}
        values: dict[str, AttributeValueTypeDef] = {
            ":key": {"S": before.key},
            ":cursor": {"N": str(before.cursor)},
            ":now": {"N": str(self._clock.now() // 1000)},
        }
        conditions = ["#key = :key", "#cursor = :cursor", "expiresAt > :now"]
        names["#snapshot"] = "snapshot"
        if before.snapshot_due:
            conditions.append("#snapshot = :snapshot")
            values[":snapshot"] = {"S": items.DUE}
        else:
            conditions.append("attribute_not_exists(#snapshot)")
        if "state" in differing:
            conditions.append("#state = :state")
            names["#state"] = "state"
            values[":state"] = {"S": before.state.value}
        sets, removes = [], []
        for name in differing:
            for attribute, value in items.stored(after, name).items():
                names[f"#{attribute}"] = attribute
                if value is None:
                    removes.append(f"#{attribute}")
                else:
                    values[f":new_{attribute}"] = value
                    sets.append(f"#{attribute} = :new_{attribute}")
        if not differing:
            sets.append("#cursor = :cursor")  # nothing to write, yet the conditions are to be checked
        expression = " ".join(
            word + " " + ", ".join(changes) for word, changes in (("SET", sets), ("REMOVE", removes)) if changes
        )
        try:
            call(
                self._client().update_item,
                TableName=self._table,
                Key={"pk": {"S": keys.pk(before.ref)}, "sk": {"S": keys.push_sk(before.config_id)}},
                UpdateExpression=expression,
                ConditionExpression=" AND ".join(conditions),
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=values,
            )
        except ClientError as error:
            if code_of(error) in {"ConditionalCheckFailedException", "TransactionConflictException"}:
                return False
            raise refusal(error) from error
        return True

    def record(self, webhook: Webhook, attempt: Attempt) -> None:
        self._put(items.attempt_item(webhook, attempt, attempt.at // 1000 + ATTEMPT_SECONDS))

    def attempts(self, webhook: Webhook) -> Sequence[Attempt]:
        return [items.attempt_from_item(item) for item in self._query(webhook.ref, keys.try_prefix(webhook))]

    def _put(self, item: items.Item) -> None:
        try:
            call(self._client().put_item, TableName=self._table, Item=item)
        except ClientError as error:
            raise refusal(error) from error

    def _query(self, ref: TaskRef, prefix: str) -> Iterator[items.Image]:
        now = self._clock.now() // 1000
        start: dict[str, dict[str, AttributeValueTypeDef]] = {}
        while True:
            page = call(
                self._client().query,
                TableName=self._table,
                ConsistentRead=True,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
                ExpressionAttributeValues={":pk": {"S": keys.pk(ref)}, ":prefix": {"S": prefix}},
                **start,  # type: ignore[arg-type]
            )
            for item in page["Items"]:
                if not items.expired(item, now):
                    yield item
            if not (last := page.get("LastEvaluatedKey")):
                return
            start = {"ExclusiveStartKey": last}
