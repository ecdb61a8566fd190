"""Queues of what was given up: looking into them, and taking out what is settled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from herald.adapters.aws import call

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

BATCH = 10
HOLD = 120  # seconds for which nobody else sees what is being looked at


@dataclass(frozen=True, slots=True)
class Letter:
    """A message that was given up; times in ms since 1970. ``why`` are the attributes that say why it lies here."""

    id: str
    body: str = field(repr=False)
    receipt: str = field(repr=False)
    sent_at: int
    why: Mapping[str, str]


class SqsDeadLetters:
    """One queue.

    Args:
        client: makes the client, or hands out the one there is.
    """

    def __init__(self, client: Callable[[], SQSClient], queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def take(self, most: int) -> Iterator[Letter]:
        """The messages that are there, at most so many, each held for two minutes.

        The next ten are asked for when the last ten have been dealt with: in a FIFO queue a group shows no more while
        one of its own is held.
        """
        left = most
        while left > 0:
            answer = call(
                self._client().receive_message,
                QueueUrl=self._queue_url,
                MaxNumberOfMessages=min(BATCH, left),
                VisibilityTimeout=HOLD,
                WaitTimeSeconds=1,  # asks all of SQS's servers, not some
                AttributeNames=["All"],
                MessageAttributeNames=["All"],
            )
            found = answer.get("Messages", [])
            if not found:
                return
            left -= len(found)
            for message in found:
                told = message.get("MessageAttributes", {})
                yield Letter(
                    message["MessageId"],
                    message["Body"],
                    message["ReceiptHandle"],
                    int(message["Attributes"]["SentTimestamp"]),
                    {name: value.get("StringValue", "") for name, value in told.items()},
                )

    def delete(self, letter: Letter) -> None:
        call(self._client().delete_message, QueueUrl=self._queue_url, ReceiptHandle=letter.receipt)

    def put_back(self, letter: Letter) -> None:
        """Let others see it at once."""
        call(
            self._client().change_message_visibility,
            QueueUrl=self._queue_url,
            ReceiptHandle=letter.receipt,
            VisibilityTimeout=0,
        )
