"""The cost of one task as a table, from the count that the tests hold."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import redirect_stdout

from builders.task_cost import one_task


def table(updates: int = 4) -> Iterator[tuple[str, str]]:
    """Rows of (what, figure)."""
    with redirect_stdout(io.StringIO()):  # the functions' metrics
        cost = one_task(updates)
    dynamodb, sqs = cost.of("dynamodb"), cost.of("sqs")
    written = {name: dynamodb.pop(name) for name in ("TransactWriteItems", "PutItem", "UpdateItem")}
    yield "notifications", str(cost.notifications)
    yield "DynamoDB write units, table", str(cost.write_units)
    yield "DynamoDB write units, indexes", str(cost.index_units)
    yield "DynamoDB writing requests", _sum(written)
    yield "DynamoDB reading requests", _sum(dynamodb)
    # Lambda's poller receives and deletes each doorbell; what it asks an idle queue isn't the task's.
    yield "SQS requests", _sum({**sqs, "ReceiveMessage": cost.doorbells, "DeleteMessage": cost.doorbells})
    yield "Step Functions transitions", f"{len(cost.states) + 1} (start, {', '.join(cost.states)})"
    yield "Lambda invocations", _sum(cost.invocations)


def _sum(counts: dict[str, int]) -> str:
    return f"{sum(counts.values())} ({', '.join(f'{name} {count}' for name, count in counts.items())})"
