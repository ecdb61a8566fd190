"""Somebody with a terminal beside a stack on moto: the operator's commands, as they are typed."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import boto3

from builders.stores import BUCKET, REGION, TABLE
from herald.adapters.cloudformation import Parts
from herald.bootstrap import Platform
from herald.ops.commands import main

QUEUE = "AWS::SQS::Queue"
ACCOUNT = "123456789012"


@dataclass
class Operator:
    """Types commands. ``said`` is all that was ever printed, on either road."""

    resources: dict[str, str]
    types: dict[str, str]
    said: str = ""
    err: str = field(default="", repr=False)

    def type(self, *words: str, code: int = 0) -> list[str]:
        """The lines that a command prints; it must end with this code."""
        out, err = io.StringIO(), io.StringIO()
        parts = Parts("arn:stack", {"OwnerShards": "1"}, self.resources, self.types)
        with (
            mock.patch.object(Platform, "parts", return_value=parts),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            ended = main([*words, "--stack=herald"], {}, Platform(os.environ))
        self.err = err.getvalue()
        self.said += out.getvalue() + self.err
        assert ended == code, f"{ended}: {out.getvalue()}{self.err}"
        return out.getvalue().splitlines()

    def json(self, *words: str, code: int = 0) -> Any:
        """What a command prints with --json."""
        return json.loads("\n".join(self.type(*words, "--json", code=code)))

    def put(self, queue: str, body: Any, **attributes: str) -> str:
        """Leave a message in a dead-letter queue; its id."""
        fifo = (
            {"MessageGroupId": "g", "MessageDeduplicationId": str(hash(str(body)))} if queue == "DeadDoorbells" else {}
        )
        why = {name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()}
        text = body if isinstance(body, str) else json.dumps(body)
        url = self.resources[queue]
        return boto3.client("sqs").send_message(QueueUrl=url, MessageBody=text, MessageAttributes=why, **fifo)[  # type: ignore[arg-type]
            "MessageId"
        ]

    def left(self, queue: str) -> int:
        """How many messages a queue holds, those in flight included."""
        url = self.resources[queue]
        told = boto3.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        return int(told["ApproximateNumberOfMessages"]) + int(told["ApproximateNumberOfMessagesNotVisible"])


@contextmanager
def operator() -> Iterator[Operator]:
    """Inside ``deployed``: the stack's resources, with the two queues of what was given up."""
    sqs = boto3.client("sqs")
    lost = sqs.create_queue(QueueName="lost-records")["QueueUrl"]
    dead = sqs.create_queue(QueueName="dead-doorbells.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    resources = {
        "Tasks": TABLE,
        "Bodies": BUCKET,
        "Doorbells": os.environ["HERALD_QUEUE_URL"],
        "TaskWorker": os.environ["HERALD_STATE_MACHINE_ARN"],
        "LostRecords": lost,
        "DeadDoorbells": dead,
        "StartWorkerFunction": "herald-start",
        "RingWebhooksFunction": "herald-ring",
    }
    types = dict.fromkeys(("Doorbells", "LostRecords", "DeadDoorbells"), QUEUE)
    yield Operator(resources, types)


def lost_records(records: list[dict[str, Any]], function: str) -> dict[str, Any]:
    """What Lambda sends to LostRecords of stream records that a function couldn't handle."""
    numbers = [record["dynamodb"]["SequenceNumber"] for record in records]
    stream = records[0]["eventSourceARN"]
    shards = boto3.client("dynamodbstreams").describe_stream(StreamArn=stream)["StreamDescription"]["Shards"]
    return {
        "requestContext": {
            "requestId": "316aa6d0-8154-xmpl-9af7-85d5f4a6bc81",
            "functionArn": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function}",
            "condition": "RetryAttemptsExhausted",
            "approximateInvokeCount": 11,
        },
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "version": "1.0",
        "timestamp": "2026-01-01T00:13:49.717Z",
        "DDBStreamBatchInfo": {
            "shardId": shards[0]["ShardId"],
            "startSequenceNumber": numbers[0],
            "endSequenceNumber": numbers[-1],
            "approximateArrivalOfFirstRecord": "2026-01-01T00:13:19Z",
            "approximateArrivalOfLastRecord": "2026-01-01T00:13:19Z",
            "batchSize": len(records),
            "streamArn": stream,
        },
    }
