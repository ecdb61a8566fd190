"""One owner's tasks behind DynamoDB's protocol, as far as a list asks for them, counting what it is asked.

It runs in a process of its own. All tasks have the same log; their headers are made as Herald makes them.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from typing import Any

from bench.service import Service, apart
from builders.records import DAY, a_header, a_message, artifact_entry, message_entry, run_entry, status_entry
from herald.adapters.dynamodb import items, keys
from herald.protocol.states import TaskState
from herald.records import Caller, TaskRef

PAGE_BYTES = 1_048_576  # what a Query reads at most
PROJECTED = ("pk", "sk", "ownerKey", "listKey", "taskId", "state", "expiresAt")
RARE = 1_000  # one task of so many is WORKING
OWNER = Caller("", "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_aB3dE6gH9#1example23456789abcdefghi")

Json = dict[str, Any]


@dataclass
class Totals:
    """What was asked since it was last looked at."""

    requests: int = 0
    entries: int = 0  # of the index
    units: float = 0


class Tasks:
    """The table: an index by partition and sort key, and the one log."""

    def __init__(self, number: int, shards: int) -> None:
        now = time.time_ns() // 1_000_000
        self.index: dict[str, list[tuple[str, items.Image]]] = {}
        for each in range(number):
            ref = TaskRef(OWNER.tenant, OWNER.owner, f"{each:026d}")
            state = TaskState.WORKING if _is_rare(ref) else TaskState.COMPLETED
            header = a_header(
                ref=ref, status_at=now - (number - each) * 10, state=state, expires_second=now // 1000 + 60 * DAY
            )
            item = items.header_item(header, shards)
            entry = {name: item[name] for name in PROJECTED}
            self.index.setdefault(item["ownerKey"]["S"], []).append((item["listKey"]["S"], entry))
        self.log = _log(now)
        self.log_bytes = sum(_size(item) for item in self.log)
        self.entry_bytes = _size(next(iter(self.index.values()))[0][1])

    def query(self, request: Json, totals: Totals) -> Json:
        totals.requests += 1
        if "IndexName" not in request:
            totals.units += -(-self.log_bytes // 4096)
            ref = keys.ref_from_pk(request["ExpressionAttributeValues"][":pk"]["S"])
            log = self.log[:-1] if _is_rare(ref) else self.log
            return {"Items": log, "Count": len(log), "ScannedCount": len(log)}
        values = request["ExpressionAttributeValues"]
        partition = self.index.get(values[":partition"]["S"], [])
        first = bisect_left(partition, (values[":lowest"]["S"],))
        end = bisect_right(partition, (values[":highest"]["S"], {}), key=lambda each: (each[0], {}))
        most = min(request["Limit"], PAGE_BYTES // self.entry_bytes)
        read = partition[max(first, end - most) : end][::-1]
        totals.entries += len(read)
        totals.units += max(1, -(-len(read) * self.entry_bytes // 4096)) / 2
        wanted = {value["S"] for name, value in values.items() if name.startswith(":state")}
        found = [entry for _, entry in read if not wanted or entry["state"]["S"] in wanted]
        answer: Json = {"Count": len(found), "ScannedCount": len(read)}
        if request.get("Select") != "COUNT":
            answer["Items"] = found
        if end - first > len(read) or len(read) == request["Limit"]:
            answer["LastEvaluatedKey"] = {name: read[-1][1][name] for name in ("pk", "sk", "ownerKey", "listKey")}
        return answer


def _is_rare(ref: TaskRef) -> bool:
    return int(ref.task_id) % RARE == RARE // 2


def _log(now: int) -> list[items.Item]:
    """Six entries, as a short task has them."""
    made = [
        message_entry(message=a_message("x" * 500)),
        run_entry(1),
        status_entry(2, TaskState.WORKING, "Reading"),
        artifact_entry(3, "x" * 1_000),
        artifact_entry(4, "x" * 1_000, append=True),
        status_entry(5, TaskState.COMPLETED, "Done"),
    ]
    pk = keys.pk(TaskRef(OWNER.tenant, OWNER.owner, "t" * 26))
    return [items.entry_item(pk, entry, now // 1000 + 60 * DAY) for entry in made]


def _size(item: items.Image) -> int:
    """Bytes of an item as DynamoDB counts them, nearly."""
    return sum(
        len(name) + (len(value["S"].encode()) if "S" in value else len(value["N"]) // 2 + 2)
        for name, value in item.items()
    )


def _serve(pipe: Connection, number: int, shards: int) -> None:
    tasks, totals, lock = Tasks(number, shards), Totals(), threading.Lock()
    wait = 0.0

    def answered(target: str, body: bytes) -> Json:
        nonlocal totals, wait
        if target == "Query":
            if wait:
                time.sleep(wait)
            with lock:
                return tasks.query(json.loads(body), totals)
        if target == "Wait":
            wait = json.loads(body)
            return {}
        seen, totals = totals, Totals()
        return asdict(seen)

    with Service(lambda target, body: json.dumps(answered(target, body)).encode()) as service:
        pipe.send((service.port, tasks.entry_bytes, tasks.log_bytes))
        service.serve_forever()


@dataclass(frozen=True)
class Served:
    """The table's address, and what it has counted."""

    port: int
    entry_bytes: int
    log_bytes: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def totals(self) -> Totals:
        """What was asked since the last call."""
        return Totals(**self._ask("Totals", None))

    def wait(self, seconds: float) -> None:
        """Let each Query take so much longer from now on."""
        self._ask("Wait", seconds)

    def _ask(self, target: str, body: object) -> Json:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("POST", "/", json.dumps(body), {"X-Amz-Target": f"Bench.{target}"})
            answer: Json = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        return answer


@contextmanager
def served(number: int, shards: int) -> Iterator[Served]:
    """A table of so many tasks, until the block ends."""
    with apart(_serve, number, shards, seconds=120) as told:
        yield Served(*told)
