"""Webhooks on DynamoDB: PUSH items beside their task's log, TRY items for failed attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from herald.adapters.aws import call
from herald.adapters.dynamodb import items, keys
from herald.adapters.dynamodb.table import get_item, query, refusal, write
from herald.ports import Clock, UnreadableWebhooks
from herald.records import Attempt, TaskRef, Webhook

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

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
        now = self._clock.now() // 1000
        item = get_item(self._client(), self._table, keys.pk(ref), keys.push_sk(config_id), now)
        return None if item is None else items.webhook_from_image(item)

    def list(self, ref: TaskRef) -> list[Webhook]:
        now = self._clock.now() // 1000
        found: list[Webhook] = []
        wrong = ""
        for item in self._query(ref, keys.PUSH):
            try:
                if not items.expired(item, now):
                    found.append(items.webhook_from_image(item))
            except items.UNREADABLE as error:
                wrong = f"{item['sk']['S']}: {error!r}"
        found.sort(key=lambda webhook: webhook.config_id)
        if wrong:
            raise UnreadableWebhooks(wrong, found)
        return found

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
        if "state" in differing and "due_at" not in differing:
            differing.append("due_at")  # where it stands in the due index goes by its state, too
        if wrong := [name for name in differing if name in items.FIXED]:
            raise ValueError(f"an update can't change {', '.join(wrong)}")
        names = {"#key": "key", "#cursor": "cursor", "#snapshot": "snapshot"}
        values: items.Item = {
            ":key": {"S": before.key},
            ":cursor": {"N": str(before.cursor)},
            ":now": {"N": str(self._clock.now() // 1000)},
        }
        conditions = ["#key = :key", "#cursor = :cursor", "expiresAt > :now"]
        if before.snapshot_due:
            conditions.append("#snapshot = :snapshot")
            values[":snapshot"] = {"S": items.DUE}
        else:
            conditions.append("attribute_not_exists(#snapshot)")
        if "state" in differing:
            conditions.append("#state = :state")
            values[":state"] = {"S": before.state.value}
            names["#failures"] = "failures"
            if before.failures:
                conditions.append("#failures = :failures")
                values[":failures"] = {"N": str(before.failures)}
            else:
                conditions.append("attribute_not_exists(#failures)")
        # Where nothing is to be written, the conditions are to be checked all the same.
        update, new_names, new_values = items.webhook_update(after, differing or ["cursor"])
        return write(
            self._client().update_item,
            TableName=self._table,
            Key={"pk": {"S": keys.pk(before.ref)}, "sk": {"S": keys.push_sk(before.config_id)}},
            UpdateExpression=update,
            ConditionExpression=" AND ".join(conditions),
            ExpressionAttributeNames=names | new_names,
            ExpressionAttributeValues=values | new_values,
        )

    def record(self, webhook: Webhook, attempt: Attempt) -> None:
        self._put(items.attempt_item(webhook, attempt, attempt.at // 1000 + ATTEMPT_SECONDS))

    def attempts(self, webhook: Webhook) -> Sequence[Attempt]:
        now = self._clock.now() // 1000
        found = self._query(webhook.ref, keys.try_prefix(webhook))
        return [items.attempt_from_item(item) for item in found if not items.expired(item, now)]

    def _put(self, item: items.Item) -> None:
        try:
            call(self._client().put_item, TableName=self._table, Item=item)
        except ClientError as error:
            raise refusal(error) from error

    def _query(self, ref: TaskRef, prefix: str) -> Iterator[items.Image]:
        return query(
            self._client(),
            TableName=self._table,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
            ExpressionAttributeValues={":pk": {"S": keys.pk(ref)}, ":prefix": {"S": prefix}},
        )
