"""The table's stream, read again where one of its readers gave up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from botocore.exceptions import ClientError

from herald.adapters.aws import call, code_of

GONE = frozenset({"TrimmedDataAccessException", "ResourceNotFoundException"})  # after 24 hours
PAGES = 100  # of at most 1,000 records


class StreamsClient(Protocol):
    """What is used of boto3's client."""

    def get_shard_iterator(self, **request: Any) -> Mapping[str, Any]: ...

    def get_records(self, **request: Any) -> Mapping[str, Any]: ...


def records(
    client: Callable[[], StreamsClient], stream: str, shard: str, first: str, last: str
) -> list[Mapping[str, Any]] | None:
    """The records from one sequence number to another, both included; None when the stream has them no more.

    Raises:
        Unavailable: the stream didn't answer.
    """
    found: list[Mapping[str, Any]] = []
    try:
        iterator = call(
            client().get_shard_iterator,
            StreamArn=stream,
            ShardId=shard,
            ShardIteratorType="AT_SEQUENCE_NUMBER",
            SequenceNumber=first,
        ).get("ShardIterator")
        for _ in range(PAGES):
            if not iterator:
                break
            page = call(client().get_records, ShardIterator=iterator)
            for record in page["Records"]:
                number = int(record["dynamodb"]["SequenceNumber"])
                if number > int(last):
                    return found
                if number >= int(first):
                    found.append(record)
                if number == int(last):
                    return found
            iterator = page.get("NextShardIterator")
            if not page["Records"]:
                break
    except ClientError as error:
        if code_of(error) in GONE:
            return None
        raise
    return found
