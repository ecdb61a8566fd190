"""A batch in, and out what of it must come back (Lambda's ReportBatchItemFailures)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

BatchResponse = dict[str, list[dict[str, str]]]


def failures(identifiers: Iterable[str]) -> BatchResponse:
    """The response that reports these items as failed: sequence numbers of a stream's, message ids of a queue's."""
    return {"batchItemFailures": [{"itemIdentifier": identifier} for identifier in identifiers]}


def sequence_number(record: Any) -> str:
    """Of a stream record; "" when even that is missing: Lambda then takes the whole batch for failed."""
    try:
        return str(record["dynamodb"]["SequenceNumber"])
    except (KeyError, TypeError):
        return ""
