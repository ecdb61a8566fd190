"""DynamoDB stream mappings: AWS reads each on its own, and heeds ReportBatchItemFailures, BisectBatchOnFunctionError,
MaximumRetryAttempts and OnFailure.

MiniStack runs them on the one thread of all mappings, loses what a partial failure reports, and repeats a raise for
ever.
"""

from __future__ import annotations

import json
import time
from typing import Any

from ministack.services import dynamodb, lambda_svc

Record = dict[str, Any]
Mapping = dict[str, Any]

PAUSE = 0.2  # seconds between tries

_busy: set[str] = set()  # mappings whose batch is being handled


def apply() -> None:
    lambda_svc._poll_dynamodb_streams = poll


def poll() -> bool:
    """Hand the next batch of every idle mapping to a thread of its own; True if there was any."""
    found = False
    for account, region, mapping in lambda_svc._iter_all_esms():
        tokens = lambda_svc._request_account_id.set(account), lambda_svc._request_region.set(region)
        try:
            found = _take(mapping) or found
        finally:
            lambda_svc._request_account_id.reset(tokens[0])
            lambda_svc._request_region.reset(tokens[1])
    return found


def _take(mapping: Mapping) -> bool:
    stream, name = mapping.get("EventSourceArn", ""), mapping["UUID"]
    if ":dynamodb:" not in stream or not mapping.get("Enabled", True) or name in _busy:
        return False
    table_name = stream.split("/stream/")[0].rsplit("/", 1)[-1]
    table = dynamodb._tables.get(table_name)
    if _function(mapping) is None or not table or table.get("LatestStreamArn") != stream:
        return False
    lambda_svc._init_stream_position(name, stream, mapping.get("StartingPosition", "LATEST"))
    position = max(lambda_svc._dynamodb_stream_positions[name], dynamodb.stream_start_position(table_name))
    read = dynamodb.stream_records_since(table_name, position, mapping.get("BatchSize", 100))
    if not read:
        return False
    end = position + len(read)
    batch = lambda_svc._apply_filter_criteria(read, mapping)
    if not batch:
        lambda_svc._dynamodb_stream_positions[name] = end
        return True
    _busy.add(name)

    def work() -> None:
        try:
            _deliver(mapping, stream, batch)
        except Exception:
            lambda_svc.logger.exception("stream mapping %s", name)
        finally:
            if name in lambda_svc._dynamodb_stream_positions:
                lambda_svc._dynamodb_stream_positions[name] = end
            _busy.discard(name)
            lambda_svc._esm_wake.set()

    lambda_svc.spawn_background(work, thread_name="stream-mapping")
    return True


def _function(mapping: Mapping) -> Any:
    return lambda_svc._get_func_record_for_qualifier(mapping["FunctionName"], mapping.get("Qualifier"))[0]


def _deliver(mapping: Mapping, stream: str, batch: list[Record]) -> None:
    """Call the function until each record is handled or given up."""
    limit = int(mapping.get("MaximumRetryAttempts", -1))
    work = [(batch, 0)]
    while work:
        records, tries = work.pop(0)
        current, function = lambda_svc._esms.get(mapping["UUID"]), _function(mapping)
        if current is None or not current.get("Enabled", True) or function is None:
            return  # deleted or switched off meanwhile
        result = lambda_svc._execute_function(function, {"Records": records})
        if (first := _first_failed(mapping, records, result)) is None:
            continue
        time.sleep(PAUSE)
        rest = records[first:]
        if first > 0:
            work.insert(0, (rest, 0))  # some progress: the count of tries begins anew
        elif mapping.get("BisectBatchOnFunctionError") and len(rest) > 1:
            half = len(rest) // 2
            work[0:0] = [(rest[:half], tries), (rest[half:], tries)]  # a split isn't a try
        elif 0 <= limit <= tries:
            reason = "RetryAttemptsExhausted"
            lambda_svc._send_ddb_stream_failure_record(mapping, function, rest, stream, result, reason)
        else:
            work.insert(0, (rest, tries + 1))


def _first_failed(mapping: Mapping, records: list[Record], result: dict[str, Any]) -> int | None:
    """Index of the first record that must be handed over again; None when all are done."""
    if result.get("error"):
        return 0
    if "ReportBatchItemFailures" not in (mapping.get("FunctionResponseTypes") or []):
        return None
    body = result.get("body")
    try:
        answer = json.loads(body) if isinstance(body, str) else body
    except ValueError:
        return None
    failures = answer.get("batchItemFailures") if isinstance(answer, dict) else None
    if not failures:
        return None
    numbers = [record["dynamodb"]["SequenceNumber"] for record in records]
    named = [failure.get("itemIdentifier") for failure in failures]
    return min(numbers.index(name) if name in numbers else 0 for name in named)
