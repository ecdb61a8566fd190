"""Doorbells on an SQS FIFO queue."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from herald.adapters.aws import call, code_of
from herald.ports import Clock, Ring, Unavailable
from herald.records import Doorbell, TaskRef

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

BATCH = 10
TRIES = 3
LONGEST_HIDE = 43_200  # SQS's own limit, 12 hours

# A receipt that is no longer good: the doorbell has come back, or is acknowledged, without us.
GONE = frozenset({"MessageNotInflight", "AWS.SimpleQueueService.MessageNotInflight", "ReceiptHandleIsInvalid"})


def body_of(doorbell: Doorbell) -> str:
    """The body of a doorbell's queue message: ids only."""
    ref = doorbell.ref
    return json.dumps(
        {
            "v": 1,
            "tenant": ref.tenant,
            "owner": ref.owner,
            "taskId": ref.task_id,
            "configId": doorbell.config_id,
            "key": doorbell.key,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def doorbell_from_body(body: str) -> Doorbell:
    """The doorbell in the body of a queue message.

    Raises:
        ValueError: it holds none of ours.
    """
    try:
        told = json.loads(body)
        names = [told[name] for name in ("tenant", "owner", "taskId", "configId", "key")]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError("this queue message isn't a doorbell") from error
    if not all(isinstance(name, str) for name in names):
        raise ValueError("this queue message isn't a doorbell")
    tenant, owner, task_id, config_id, key = names
    return Doorbell(TaskRef(tenant, owner, task_id), config_id, key)


class SqsDoorbells:
    """Doorbells in a FIFO queue, one message group per webhook key.

    Args:
        client: makes the client, or hands out the one there is.
    """

    def __init__(self, client: Callable[[], SQSClient], queue_url: str, clock: Clock) -> None:
        self._client = client
        self._queue_url = queue_url
        self._clock = clock

    def ring(self, rings: Sequence[Ring]) -> None:
        """Queue doorbells in tens. What SQS refuses of a batch is sent again, twice.

        Raises:
            Unavailable: some couldn't be queued. Ringing all of them again is harmless.
        """
        for start in range(0, len(rings), BATCH):
            self._send(rings[start : start + BATCH])

    def _send(self, rings: Sequence[Ring]) -> None:
        left: dict[str, SendMessageBatchRequestEntryTypeDef] = {
            str(place): {
                "Id": str(place),
                "MessageBody": body_of(ring.doorbell),
                "MessageGroupId": ring.doorbell.key,
                "MessageDeduplicationId": ring.dedup,
            }
            for place, ring in enumerate(rings)
        }
        for once in range(TRIES):
            if once:
                self._clock.sleep(0.1 * 2**once)
            answer = call(self._client().send_message_batch, QueueUrl=self._queue_url, Entries=list(left.values()))
            failed = answer.get("Failed", [])
            left = {lost["Id"]: left[lost["Id"]] for lost in failed}
            if not left:
                return
        codes = ", ".join(sorted({lost["Code"] for lost in failed}))
        raise Unavailable(f"SendMessageBatch: {len(left)} of {len(rings)} doorbells weren't queued ({codes})")

    def hide(self, receipt: str, seconds: int) -> None:
        try:
            call(
                self._client().change_message_visibility,
                QueueUrl=self._queue_url,
                ReceiptHandle=receipt,
                VisibilityTimeout=max(0, min(seconds, LONGEST_HIDE)),
            )
        except ClientError as error:
            if code_of(error) not in GONE:
                raise
