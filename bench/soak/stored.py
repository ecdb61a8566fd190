"""What the stack has stored: tasks, their logs, their webhooks; and what is left in its queues."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config

from bench.soak.judge import Left, Owed
from herald.adapters.dynamodb import items, keys
from herald.protocol.states import TERMINAL, TaskState
from herald.records import Entry, Webhook, WebhookState

SENT = frozenset({"status", "artifact"})
TRY = "TRY#"
COUNTS = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


@dataclass
class Stored:
    """The whole table, parsed."""

    owed: list[Owed] = field(default_factory=list)
    states: Counter[TaskState] = field(default_factory=Counter)  # of tasks
    attempts: Counter[str] = field(default_factory=Counter)  # failed ones that were recorded, by outcome


class Stack:
    """The services behind a local stack; ``addresses`` is what ``local.stack.up`` gave."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self._addresses = addresses
        self._dynamodb, self._sqs = self._client("dynamodb"), self._client("sqs")
        told = self._client("cloudformation").describe_stack_resources(StackName=addresses["stackName"])
        self._names = {row["LogicalResourceId"]: row["PhysicalResourceId"] for row in told["StackResources"]}

    def doorbells(self) -> tuple[int, int]:
        """How many wait, and how many are in flight or hidden."""
        waiting, hidden, delayed = self._counts(self._addresses["deliveryQueueUrl"])
        return waiting + delayed, hidden

    def dead_letters(self) -> int:
        return sum(sum(self._counts(self._names[name])) for name in ("DeadDoorbells", "LostRecords"))

    def due(self) -> int:
        """How many tasks and webhooks somebody must look at some time; those at rest aren't among them."""
        return sum(
            self._dynamodb.query(
                TableName=self._addresses["table"],
                IndexName="due",
                Select="COUNT",
                KeyConditionExpression="dueShard = :shard",
                ExpressionAttributeValues={":shard": {"S": f"{shard:02}"}},
            )["Count"]
            for shard in range(keys.DUE_SHARDS)
        )

    def left(self, stored: Stored) -> Left:
        ended = sum(count for state, count in stored.states.items() if state in TERMINAL)
        return Left(
            doorbells=sum(self.doorbells()),
            dead_letters=self.dead_letters(),
            open_tasks=stored.states.total() - ended,
            failed_tasks=ended - stored.states[TaskState.COMPLETED],
        )

    def stored(self) -> Stored:
        """Read the table."""
        found = Stored()
        logs: dict[str, list[Entry]] = {}
        webhooks: list[tuple[str, Webhook]] = []
        for page in self._dynamodb.get_paginator("scan").paginate(TableName=self._addresses["table"]):
            for item in page["Items"]:
                partition, sk = item["pk"]["S"], item["sk"]["S"]
                if sk == keys.HEADER:
                    found.states[items.header_from_item(item).state] += 1
                elif sk.startswith(keys.LOG):
                    logs.setdefault(partition, []).append(items.entry_from_image(item))
                elif sk.startswith(keys.PUSH):
                    webhooks.append((partition, items.webhook_from_image(item)))
                elif sk.startswith(TRY):
                    found.attempts[items.attempt_from_item(item).outcome] += 1
        found.owed = [owed_to(webhook, logs.get(partition, [])) for partition, webhook in webhooks]
        return found

    def _counts(self, url: str) -> tuple[int, ...]:
        told = self._sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        return tuple(int(told.get(name, "0")) for name in COUNTS)

    def _client(self, service: Any) -> Any:
        return boto3.client(
            service,
            endpoint_url=self._addresses["endpointUrl"],
            region_name=self._addresses["region"],
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - the emulator's
            config=Config(connect_timeout=5, read_timeout=30, proxies={}, retries={"total_max_attempts": 3}),
        )


def owed_to(webhook: Webhook, log: list[Entry]) -> Owed:
    """What a webhook's receiver should have had: its snapshot, and each status and artifact entry after that."""
    entries = sorted(log, key=lambda entry: entry.number)
    sent = [entry for entry in entries if entry.kind in SENT and entry.number > webhook.snapshot]
    snapshot = [entry for entry in entries if entry.number == webhook.snapshot]
    return Owed(
        hook=urlsplit(webhook.url).path,
        key=webhook.key,
        created_at=webhook.created_at,
        snapshot=webhook.snapshot,
        stored_at={entry.number: entry.at for entry in snapshot + sent},
        digests={entry.number: hashlib.sha256(entry.body.encode()).hexdigest() for entry in sent},
        state=webhook.state.value,
        cursor=webhook.cursor,
        failures=webhook.failures,
        next_attempt_at=webhook.next_attempt_at,
        at_rest=webhook.state is WebhookState.ACTIVE and webhook.due_at is None and not webhook.snapshot_due,
    )
