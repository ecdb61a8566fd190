"""TaskLog on DynamoDB: one item collection per task."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from herald.adapters.aws import THROTTLED, call, code_of
from herald.adapters.dynamodb import items, keys
from herald.adapters.dynamodb.table import get_item, reasons_of, refusal, write
from herald.ports import Clock, Unavailable
from herald.records import Entry, Header, TakenSend, TaskRef, Webhook

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef, TransactWriteItemTypeDef

    from herald.adapters.s3 import S3Bodies

INLINE_BYTES = 300_000  # a body with more lies in the bucket
TRIES = 4  # of a transaction that was throttled
BEYOND = keys.LOG + "~"  # sorts after every log number

# An item past its time is as good as absent, deleted yet or not.
FREE = "attribute_not_exists(pk) OR expiresAt <= :now"


class DynamoTaskLog:
    """Tasks in the Tasks table, large bodies in the bucket.

    Args:
        client: makes the client, or hands out the one there is.
        owner_shards: number of partitions that an owner's tasks are listed from.
    """

    def __init__(
        self, client: Callable[[], DynamoDBClient], table: str, bodies: S3Bodies, clock: Clock, owner_shards: int = 1
    ) -> None:
        self._client = client
        self._table = table
        self._bodies = bodies
        self._clock = clock
        self._owner_shards = owner_shards

    def create(self, header: Header, message: Entry, webhook: Webhook | None) -> bool:
        partition = keys.pk(header.ref)
        writes = [
            self._put(items.header_item(header, self._owner_shards), FREE),
            self._put(self._entry_item(partition, message, header.expires_second), FREE),
        ]
        if webhook is not None:
            writes.append({"Put": {"TableName": self._table, "Item": items.webhook_item(webhook)}})
        # Two creations of one task may cancel each other: only a condition that failed says that the task is there.
        return self._transact(writes, conflict_refuses=False)

    def header(self, ref: TaskRef) -> Header | None:
        item = self._get(ref, keys.HEADER)
        return None if item is None else items.header_from_item(item)

    def read(self, ref: TaskRef, after: int = -1, limit: int | None = None, *, artifacts: bool = True) -> list[Entry]:
        partition = keys.pk(ref)
        entries: list[Entry] = []
        make = self._entry if artifacts else self._entry_without_artifact
        gap = self._read_on(partition, after, limit, make, entries)
        if gap:
            # A Query isn't a snapshot: a transaction may have become visible item by item.
            self._read_on(partition, after + len(entries), limit and limit - len(entries), make, entries)
        return entries

    def _read_on(
        self, partition: str, after: int, limit: int | None, make: Callable[[items.Image], Entry], entries: list[Entry]
    ) -> bool:
        """Add the entries that follow without a gap; True when one was met."""
        expected = after + 1
        for item in self._query(partition, expected, limit):
            if keys.number_from_sk(item["sk"]["S"]) != expected:
                return True
            entries.append(make(item))
            expected += 1
        return False

    def _entry(self, item: items.Image) -> Entry:
        return items.entry_from_image(item, self._bodies.get)

    def _entry_without_artifact(self, item: items.Image) -> Entry:
        return items.entry_from_image(item) if item["kind"]["S"] == "artifact" else self._entry(item)

    def _query(self, partition: str, start: int, limit: int | None) -> Iterator[items.Image]:
        """The living LOG items from a number on, page by page."""
        now = self._clock.now() // 1000
        values: dict[str, AttributeValueTypeDef] = {
            ":pk": {"S": partition},
            ":from": {"S": keys.log_sk(start)},
            ":to": {"S": BEYOND},
        }
        left = limit
        while left is None or left > 0:
            page = call(
                self._client().query,
                TableName=self._table,
                ConsistentRead=True,
                KeyConditionExpression="pk = :pk AND sk BETWEEN :from AND :to",
                ExpressionAttributeValues=values,
                **({} if left is None else {"Limit": left}),  # type: ignore[arg-type]
            )
            for item in page["Items"]:
                if not items.expired(item, now):
                    yield item
            if not (last := page.get("LastEvaluatedKey")):
                return
            left = left and left - len(page["Items"])
            values[":from"] = {"S": last["sk"]["S"] + "!"}  # the least key after it

    def put(self, ref: TaskRef, entry: Entry, expires_second: int) -> bool:
        return write(
            self._client().put_item,
            TableName=self._table,
            Item=self._entry_item(keys.pk(ref), entry, expires_second),
            ConditionExpression=FREE,
            ExpressionAttributeValues=self._now(),
        )

    def commit(
        self, before: Header, after: Header, entries: Sequence[Entry], once: tuple[str, str] | None = None
    ) -> bool:
        partition = keys.pk(before.ref)
        update, values = items.header_update(partition, after)
        writes: list[TransactWriteItemTypeDef] = [
            {
                "Update": {
                    "TableName": self._table,
                    "Key": {"pk": {"S": partition}, "sk": {"S": keys.HEADER}},
                    "UpdateExpression": update,
                    "ConditionExpression": (
                        "#state = :was_state AND turn = :was_turn AND run = :was_run"
                        " AND statusNumber = :was_number AND expiresAt > :now"
                    ),
                    "ExpressionAttributeNames": {"#state": "state", "#end": "end"},
                    "ExpressionAttributeValues": {
                        ":was_state": {"S": before.state.value},
                        ":was_turn": {"N": str(before.turn)},
                        ":was_run": {"N": str(before.run)},
                        ":was_number": {"N": str(before.status_number)},
                        **values,
                        **self._now(),
                    },
                }
            }
        ]
        writes += [self._put(self._entry_item(partition, entry, after.expires_second), FREE) for entry in entries]
        if once is not None:
            taken = TakenSend(next(entry.number for entry in entries if entry.kind == "message"), once[1])
            writes.append(self._put(items.taken_item(partition, once[0], taken, after.expires_second), FREE))
        return self._transact(writes, conflict_refuses=True)

    def taken(self, ref: TaskRef, once: str) -> TakenSend | None:
        item = self._get(ref, keys.message_sk(once))
        return None if item is None else items.taken_from_item(item)

    def defer(self, before: Header, due_at: int | None) -> bool:
        partition = keys.pk(before.ref)
        values: dict[str, AttributeValueTypeDef] = {
            ":state": {"S": before.state.value},
            ":turn": {"N": str(before.turn)},
            ":run": {"N": str(before.run)},
            **self._now(),
        }
        update = "REMOVE dueAt, dueShard"
        if due_at is not None:
            update = "SET dueAt = :due, dueShard = :shard"
            values |= {":due": {"N": str(due_at)}, ":shard": {"S": keys.due_shard(partition)}}
        return write(
            self._client().update_item,
            TableName=self._table,
            Key={"pk": {"S": partition}, "sk": {"S": keys.HEADER}},
            UpdateExpression=update,
            ConditionExpression="#state = :state AND turn = :turn AND run = :run AND expiresAt > :now",
            ExpressionAttributeNames={"#state": "state"},
            ExpressionAttributeValues=values,
        )

    def _get(self, ref: TaskRef, sk: str) -> items.Image | None:
        return get_item(self._client(), self._table, keys.pk(ref), sk, self._clock.now() // 1000)

    def _now(self) -> dict[str, AttributeValueTypeDef]:
        return {":now": {"N": str(self._clock.now() // 1000)}}

    def _put(self, item: items.Item, condition: str) -> TransactWriteItemTypeDef:
        return {
            "Put": {
                "TableName": self._table,
                "Item": item,
                "ConditionExpression": condition,
                "ExpressionAttributeValues": self._now(),
            }
        }

    def _entry_item(self, partition: str, entry: Entry, expires_second: int) -> items.Item:
        """The item of an entry; a large body is in the bucket before there is an item that points to it."""
        body_key = ""
        if len(entry.body) * 4 > INLINE_BYTES and len(entry.body.encode()) > INLINE_BYTES:
            body_key = keys.body_key(partition, entry.number, entry.writer)
            self._bodies.put(body_key, entry.body, expires_second)
        return items.entry_item(partition, entry, expires_second, body_key)

    def _transact(self, writes: Sequence[TransactWriteItemTypeDef], *, conflict_refuses: bool) -> bool:
        """Write all or nothing; False when a condition failed or, if told so, for a conflict with another."""
        # One token for all tries: a transaction whose answer was lost isn't carried out twice.
        token = str(uuid.uuid4())
        pause = 0.0
        for _ in range(TRIES):
            if pause:
                self._clock.sleep(random.uniform(pause / 2, pause))  # noqa: S311 - jitter
            pause = pause * 2 or 0.05
            try:
                call(self._client().transact_write_items, TransactItems=writes, ClientRequestToken=token)
            except ClientError as error:
                reasons = reasons_of(error)
                conflict = "TransactionConflict" in reasons
                if "ConditionalCheckFailed" in reasons or (conflict and conflict_refuses):
                    return False
                if not (conflict or reasons & THROTTLED or code_of(error) == "TransactionInProgressException"):
                    raise refusal(error) from error
            else:
                return True
        raise Unavailable(f"TransactWriteItems: {', '.join(sorted(reasons)) or 'in progress'}, {TRIES} times")
