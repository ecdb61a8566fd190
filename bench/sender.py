"""What one notification costs ``send_webhooks``: a doorbell each, one table read, one log read, POST, cursor moved."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from bench.stub import stub
from builders.records import a_ref
from herald.adapters.dynamodb import items, keys
from herald.adapters.sqs import body_of
from herald.protocol.states import TaskState
from herald.records import Doorbell, Entry, Webhook

EXPIRES = 4_000_000_000
KEY = "kaaaaaaaaaaaaaaaaaaaaaaaaa"
NUMBER = 7  # of the entry that is due: the task's last


class _Context:
    function_name = "send_webhooks"
    memory_limit_in_mb = 256
    invoked_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:send_webhooks"
    aws_request_id = "bench"

    def get_remaining_time_in_millis(self) -> int:
        return 120_000


@contextmanager
def world() -> Iterator[str]:
    """A stub that holds one webhook whose task's last entry is due, and that is the receiver as well."""
    update = {"taskId": a_ref().task_id, "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}
    entry = Entry(
        NUMBER, "status", json.dumps({"statusUpdate": update}), 1_767_225_600_000, "w", 0, 1, TaskState.COMPLETED
    )
    secret = {"SecretString": "s" * 64, "VersionId": "0" * 36, "CreatedDate": 1_767_225_600}
    with stub({}) as receiver:
        webhook = Webhook(
            ref=a_ref(),
            config_id="bench",
            key=KEY,
            url=f"{receiver}/hook",
            sealed="",
            cursor=NUMBER - 1,
            snapshot=0,
            snapshot_due=False,
            created_at=1_767_225_600_000,
            expires_second=EXPIRES,
        )
        canned = {
            "GetItem": {"Item": items.webhook_item(webhook)},
            "Query": {"Items": [items.entry_item(keys.pk(a_ref()), entry, EXPIRES)], "Count": 1},
            "GetSecretValue": secret,
        }
        with stub(canned) as aws:
            yield aws


def per_core(handler: Callable[[Any, Any], Any], doorbells: int = 300) -> float:
    """Notifications per second of CPU."""
    event = {
        "Records": [
            {
                "messageId": "m",
                "receiptHandle": "r",
                "body": body_of(Doorbell(a_ref(), "bench", KEY)),
                "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "1767225600000"},
            }
        ]
    }

    def answer() -> None:
        if handler(event, _Context()) != {"batchItemFailures": []}:
            raise SystemExit("send_webhooks didn't deliver: see its log line")

    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):  # metrics are text, paid for too
        for _ in range(20):
            answer()
        begun = time.process_time()
        for _ in range(doorbells):
            answer()
        return doorbells / (time.process_time() - begun)
