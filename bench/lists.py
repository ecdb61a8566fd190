"""``make bench-lists``: what a page of ListTasks costs in lists of 10, 1,000 and 100,000 tasks.

The operation runs on the real adapters and botocore, over real connections to a table in memory in another process,
which counts what DynamoDB would: requests, entries of the index that were read, and read units (a half per 4 KB of an
index, one per 4 KB of a log, rounded up for each request). CPU is this process's own. Time is with 5 ms added to each
request, about what DynamoDB takes.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock

from bench import list_table
from bench.quick import ENVIRONMENT
from builders.turns import result_of
from herald.adapters.aws import AwsClients
from herald.adapters.clock import SystemClock
from herald.adapters.dynamodb.index import DynamoTaskIndex
from herald.adapters.dynamodb.log import DynamoTaskLog
from herald.adapters.s3 import S3Bodies
from herald.adapters.secrets import SecretsSealer
from herald.operations import list_tasks
from herald.operations.call import Call
from herald.operations.list_tasks import ListTasks
from herald.protocol import codec
from herald.protocol.requests import ListTasksRequest

ROUNDS = 9
SIZES = (10, 1_000, 100_000)
LATENCY = 0.005  # seconds

Json = dict[str, Any]


@dataclass(frozen=True)
class _Version:
    version_id: str = "0" * 36
    text: str = "the sealing secret of this bench"


class _Versions:
    """The sealing secret without Secrets Manager, which is asked once in five minutes."""

    def current(self) -> _Version:
        return _Version()

    def by_id(self, _: str) -> _Version:
        return _Version()


def operation(address: str, shards: int) -> ListTasks:
    with mock.patch.dict(os.environ, {**ENVIRONMENT, "AWS_ENDPOINT_URL": address}):
        client = AwsClients().dynamodb
    clock = SystemClock()
    log = DynamoTaskLog(lambda: client, "tasks", S3Bodies(lambda: None, "bodies"), clock)  # type: ignore[arg-type, return-value]
    sealer = SecretsSealer(_Versions())  # type: ignore[arg-type]
    return ListTasks(log, DynamoTaskIndex(lambda: client, "tasks", clock, shards), sealer)


def page(list_page: ListTasks, params: Json) -> Json:
    """A page as its JSON is sent."""
    answer: Json = result_of(list_page(Call(list_table.OWNER), ListTasksRequest.parse(params)))
    codec.dumps(answer)
    return answer


def measured(table: list_table.Served, list_page: ListTasks, params: Json) -> tuple[list_table.Totals, float, float]:
    """What one page counts, and the medians of its CPU and of its time with latency, both in ms."""
    page(list_page, params)  # connections are made
    table.totals()
    page(list_page, params)
    totals = table.totals()
    cpu = statistics.median(_spent(time.process_time, list_page, params) for _ in range(ROUNDS))
    table.wait(LATENCY)
    took = statistics.median(_spent(time.perf_counter, list_page, params) for _ in range(3))
    table.wait(0)
    return totals, cpu, took


def _spent(clock: Callable[[], float], list_page: ListTasks, params: Json) -> float:
    began = clock()
    page(list_page, params)
    return (clock() - began) * 1000


HEAD = f"  {'':<34}{'shown':>6}{'requests':>9}{'entries':>9}{'units':>9}{'CPU, ms':>9}{'time, ms':>9}"


def row(what: str, table: list_table.Served, list_page: ListTasks, params: Json) -> None:
    shown = len(page(list_page, params)["tasks"])
    totals, cpu, took = measured(table, list_page, params)
    units = f"{totals.units:.1f}"
    print(f"  {what:<34}{shown:>6}{totals.requests:>9}{totals.entries:>9}{units:>9}{cpu:>9.0f}{took:>9.0f}")


def main() -> None:
    print("A page of ListTasks: 50 tasks, unless there are fewer, whose logs have 6 entries each")
    for shards in (1, 3):
        for size in SIZES:
            with list_table.served(size, shards) as table:
                name = f"{size:,} tasks" + (f" in {shards} shards" if shards > 1 else "")
                print(f"\n{name}; an entry of the index has {table.entry_bytes} bytes, a log {table.log_bytes}\n{HEAD}")
                list_page = operation(table.address, shards)
                row("first page, which counts", table, list_page, {})
                token = page(list_page, {})["nextPageToken"]
                if token:
                    row("a later page", table, list_page, {"pageToken": token})
                row("a state that 1 of 1,000 has", table, list_page, {"status": "TASK_STATE_WORKING"})
                if shards == 1 and size == SIZES[-1]:
                    readers(table, list_page, token)


def readers(table: list_table.Served, list_page: ListTasks, token: str) -> None:
    """The same page with its logs read one by one, and more at once."""
    print("\nA later page by how many logs are read at once, CPU and time in ms")
    for number in (1, 2, 4, 8, 10):
        with mock.patch.object(list_tasks, "READERS", number):
            _, cpu, took = measured(table, list_page, {"pageToken": token})
        print(f"  {number:<34}{cpu:>9.0f}{took:>9.0f}")


if __name__ == "__main__":
    main()
