"""The task's own log, read from the stack's table: what had to be sent, and when each entry was stored.

A client never sees the table. The demo reads it so that "0 missing" is counted against what was stored, not against
what arrived.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from herald.adapters.dynamodb import keys
from herald.records import TaskRef

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SENT = frozenset({"status", "artifact"})
SNAPSHOT = 0  # the webhook came with the message, entry 0, so its snapshot is the task as of entry 0


@dataclass(frozen=True)
class Ledger:
    """The log of one task in a table of a local stack."""

    endpoint: str
    region: str
    table: str
    owner: str
    task_id: str

    def stored_at(self, number: int) -> int | None:
        """When an entry was stored, milliseconds since 1970; None when there is no such entry."""
        key = {"pk": {"S": self._partition}, "sk": {"S": keys.log_sk(number)}}
        found = self._dynamodb.get_item(TableName=self.table, Key=key, ConsistentRead=True).get("Item")
        return int(found["at"]["N"]) if found else None

    def to_send(self) -> list[int]:
        """The numbers of the notifications that the log makes: the snapshot, then each status and artifact."""
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=self.table,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :log)",
            ExpressionAttributeValues={":pk": {"S": self._partition}, ":log": {"S": keys.LOG}},
            ProjectionExpression="sk, kind",
        )
        entries = [
            (keys.number_from_sk(item["sk"]["S"]), item["kind"]["S"]) for page in pages for item in page["Items"]
        ]
        return [number for number, kind in entries if number == SNAPSHOT or kind in SENT]

    @property
    def _partition(self) -> str:
        return keys.pk(TaskRef("", self.owner, self.task_id))

    @cached_property
    def _dynamodb(self) -> DynamoDBClient:
        return boto3.client(
            "dynamodb",
            endpoint_url=self.endpoint,
            region_name=self.region,
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - the emulator's
            config=Config(connect_timeout=2, read_timeout=5, proxies={}),
        )
