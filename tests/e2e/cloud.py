"""What an operator sees of the deployed stack: items of its table, executions, queue, log lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import boto3
from botocore.config import Config

from e2e.waiting import wait_for
from herald.adapters.dynamodb import items, keys
from herald.bindings.gateway import ANONYMOUS
from herald.records import Attempt, TaskRef, Webhook

Item = Mapping[str, Any]


@dataclass(frozen=True)
class Cloud:
    """The services behind one deployed stack; ``addresses`` is what ``local.stack.up`` gave.

    The tasks that it looks at are those of ``subject``, in no tenant.
    """

    addresses: Mapping[str, str]
    subject: str = "alice"

    # ------------------------------------------------------------------------------------------------- the table ----

    def task_items(self, task_id: str, prefix: str = "") -> list[Item]:
        """The items of a task whose sort key begins with this, in their order."""
        pages = self.dynamodb.get_paginator("query").paginate(
            TableName=self.addresses["table"],
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)" if prefix else "pk = :pk",
            ExpressionAttributeValues={
                ":pk": {"S": self.partition(task_id)},
                **({":prefix": {"S": prefix}} if prefix else {}),
            },
        )
        return [item for page in pages for item in page["Items"]]

    def log(self, task_id: str) -> list[tuple[int, str, str]]:
        """The task's log: number, kind, and the state of a status entry or ""."""
        return [
            (keys.number_from_sk(item["sk"]["S"]), item["kind"]["S"], item.get("state", {}).get("S", ""))
            for item in self.task_items(task_id, keys.LOG)
        ]

    def to_send(self, task_id: str, snapshot: int = 0) -> list[int]:
        """The numbers that a webhook made at entry ``snapshot`` must be sent."""
        return [
            number
            for number, kind, _ in self.log(task_id)
            if number == snapshot or (number > snapshot and kind in ("status", "artifact"))
        ]

    def webhooks(self, task_id: str) -> dict[str, Webhook]:
        """The task's webhooks by URL."""
        found = [items.webhook_from_image(item) for item in self.task_items(task_id, keys.PUSH)]
        return {webhook.url: webhook for webhook in found}

    def attempts(self, webhook: Webhook) -> list[Attempt]:
        """The failed attempts at a webhook."""
        found = self.task_items(webhook.ref.task_id, keys.try_prefix(webhook))
        return [items.attempt_from_item(item) for item in found]

    def everything(self) -> str:
        """All items of the table, as text."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.addresses["table"])
        return json.dumps([page["Items"] for page in pages])

    def make_due(self, task_id: str, sk: str = keys.HEADER) -> None:
        """As if the time had come at which sweep looks at a task, or at another item of it."""
        self.dynamodb.update_item(
            TableName=self.addresses["table"],
            Key={"pk": {"S": self.partition(task_id)}, "sk": {"S": sk}},
            UpdateExpression="SET dueAt = :now",
            ConditionExpression="attribute_exists(dueAt)",
            ExpressionAttributeValues={":now": {"N": "1"}},
        )

    @property
    def owner(self) -> str:
        issuer = self.addresses.get("issuer")
        return f"{issuer}#{self.subject}" if issuer else ANONYMOUS

    def partition(self, task_id: str) -> str:
        return keys.pk(TaskRef("", self.owner, task_id))

    # ----------------------------------------------------------------------------------------------- other things ----

    def executions(self, task_id: str) -> list[str]:
        """The status of each execution that was started for a task."""
        pages = self.stepfunctions.get_paginator("list_executions").paginate(
            stateMachineArn=self.addresses["stateMachineArn"]
        )
        return [
            execution["status"]
            for page in pages
            for execution in page["executions"]
            if execution["name"].startswith(f"{task_id}-")
        ]

    def wait_until_no_doorbell_is_left(self) -> None:
        """No doorbell waits, and none is being answered."""

        def none() -> bool:
            told = self.sqs.get_queue_attributes(QueueUrl=self.queue_url, AttributeNames=["All"])["Attributes"]
            names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
            return not any(int(told[name]) for name in names)

        wait_for("the doorbells to be answered", none)

    def forget_webhooks(self) -> None:
        """Let no webhook of an earlier test be due, and no doorbell of one be left."""
        pages = self.dynamodb.get_paginator("scan").paginate(
            TableName=self.addresses["table"],
            FilterExpression="begins_with(sk, :push) AND attribute_exists(dueAt)",
            ExpressionAttributeValues={":push": {"S": keys.PUSH}},
        )
        due = [item for page in pages for item in page["Items"]]
        for item in due:
            self.dynamodb.delete_item(TableName=self.addresses["table"], Key={"pk": item["pk"], "sk": item["sk"]})
        if due:
            self.sqs.purge_queue(QueueUrl=self.queue_url)

    def set_visibility(self, seconds: int) -> str:
        """How long a doorbell is hidden when it is received; what it was before."""
        name = "VisibilityTimeout"
        told = self.sqs.get_queue_attributes(QueueUrl=self.queue_url, AttributeNames=["All"])["Attributes"]
        self.sqs.set_queue_attributes(QueueUrl=self.queue_url, Attributes={name: str(seconds)})
        return str(told[name])

    def sweep(self) -> dict[str, int]:
        """Call sweep as its schedule does; what it did."""
        answer = self._client("lambda").invoke(
            FunctionName=self._resources["SweepFunction"], Payload=b'{"source":"aws.events"}'
        )
        assert "FunctionError" not in answer, answer["Payload"].read()
        done: dict[str, int] = json.load(answer["Payload"])
        return done

    @contextmanager
    def without_events(self, function: str) -> Iterator[None]:
        """A function gets none of its events while the block runs, and then all of them."""
        client = self._client("lambda")
        told = client.list_event_source_mappings(FunctionName=self._resources[function])
        [mapping] = [row["UUID"] for row in told["EventSourceMappings"]]
        client.update_event_source_mapping(UUID=mapping, Enabled=False)
        try:
            yield
        finally:
            client.update_event_source_mapping(UUID=mapping, Enabled=True)

    def stored_body(self, key: str) -> str:
        """A body in the bucket."""
        answer = self.s3.get_object(Bucket=self.addresses["bucket"], Key=key)
        return str(answer["Body"].read(), "utf-8")

    def log_lines(self) -> dict[str, list[str]]:
        """What each log group of the stack holds, by the group's logical id."""
        pages = self._client("logs").get_paginator("filter_log_events").paginate
        return {
            logical: [event["message"] for page in pages(logGroupName=group) for event in page["events"]]
            for logical, group in self._resources.items()
            if logical.endswith("Log")
        }

    def own_secrets(self) -> list[str]:
        """The texts of the secrets from which the stack derives its keys, in every stage."""
        client = self._client("secretsmanager")
        return [
            client.get_secret_value(SecretId=self._resources[name], VersionId=row["VersionId"])["SecretString"]
            for name in ("SigningSecret", "SealingSecret")
            for row in client.list_secret_version_ids(SecretId=self._resources[name])["Versions"]
        ]

    # --------------------------------------------------------------------------------------------------- clients ----

    @property
    def queue_url(self) -> str:
        return self.addresses["deliveryQueueUrl"]

    @cached_property
    def dynamodb(self) -> Any:
        return self._client("dynamodb")

    @cached_property
    def s3(self) -> Any:
        return self._client("s3")

    @cached_property
    def sqs(self) -> Any:
        return self._client("sqs")

    @cached_property
    def events(self) -> Any:
        return self._client("events")

    @cached_property
    def stepfunctions(self) -> Any:
        return self._client("stepfunctions")

    @cached_property
    def _resources(self) -> dict[str, str]:
        """Physical ids by logical id."""
        told = self._client("cloudformation").describe_stack_resources(StackName=self.addresses["stackName"])
        return {row["LogicalResourceId"]: row["PhysicalResourceId"] for row in told["StackResources"]}

    def _client(self, service: Any) -> Any:
        return boto3.client(
            service,
            endpoint_url=self.addresses["endpointUrl"],
            region_name=self.addresses["region"],
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(connect_timeout=5, read_timeout=100, proxies={}, retries={"total_max_attempts": 2}),
        )
