"""What one task costs on AWS, counted from the calls that the functions really make against moto.

The agent pauses before each report until everything before it has been delivered, so that nothing is batched: this is
the dearest way that a task with so many updates can go.
"""

from __future__ import annotations

import queue
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import ceil
from typing import Any
from unittest import mock

import boto3
from botocore import client as botocore_client
from moto import mock_aws

from builders.events import rest_event
from builders.stack import template
from builders.stores import TABLE
from herald.adapters.dns import SystemResolver
from herald.adapters.http import PinnedTransport
from herald.agent import Agent, TaskContext
from herald.ports import Answer
from integration.pump import MOTO, Stack, deployed, load

BOUND = 30  # seconds that one side waits for the other
STATEMENT = {"text": "x" * 300}  # its item stays below 1 KB
CHUNK = "x" * 400  # likewise

_waiting: queue.Queue[None] = queue.Queue()
_go: queue.Queue[None] = queue.Queue()
_inside: ContextVar[str] = ContextVar("function", default="")  # which function is calling AWS


class Paced(Agent):
    """Reports ``updates`` times: WORKING, artifact chunks, COMPLETED; each when it is told to."""

    updates = 4

    def run(self, task: TaskContext) -> None:
        self._pause()
        task.working("Reading")
        for number in range(self.updates - 2):
            self._pause()
            task.artifact(CHUNK, artifact_id="report", append=number > 0)
        self._pause()
        task.complete()

    def _pause(self) -> None:
        _waiting.put(None)
        _go.get(timeout=BOUND)


@dataclass
class Cost:
    """Counts of one task. ``write_units`` are those of the table, ``index_units`` those of its indexes.

    ``chunk_units`` has the write units of each artifact entry, in order.
    """

    requests: Counter[tuple[str, str]] = field(default_factory=Counter)  # (service, operation) by our functions
    invocations: Counter[str] = field(default_factory=Counter)
    write_units: int = 0
    index_units: int = 0
    chunk_units: list[int] = field(default_factory=list)
    doorbells: int = 0
    states: list[str] = field(default_factory=list)
    notifications: int = 0

    def of(self, service: str) -> dict[str, int]:
        """How often each operation of a service was called."""
        return {name: count for (asked, name), count in sorted(self.requests.items()) if asked == service}


def one_task(updates: int = 4) -> Cost:
    """Send a message with one webhook, let the agent report ``updates`` times, deliver everything, and count."""
    cost = Cost()
    with mock_aws(config=MOTO), _stack(cost) as stack, mock.patch.object(Paced, "updates", updates):
        stack.functions = {name: _counted(name, handler, cost) for name, handler in stack.functions.items()}
        with _watched(cost):
            _send(stack)
            for _ in range(updates):
                _deliver(stack)
                _waiting.get(timeout=BOUND)
                _deliver(stack)
                _go.put(None)
            (name,) = stack.executions()
            _deliver(stack)
        cost.states = stack.states(name)
        cost.doorbells = cost.invocations["send_webhooks"]
    return cost


def _send(stack: Stack) -> None:
    webhook = {"url": "https://client.example/hook", "token": "a-token"}
    message = {"messageId": "m1", "role": "ROLE_USER", "parts": [STATEMENT]}
    settings = {"returnImmediately": True, "taskPushNotificationConfig": webhook}
    answer = stack.invoke("api", rest_event(path="/message:send", body={"message": message, "configuration": settings}))
    if answer["statusCode"] != 200:
        raise AssertionError(answer)


def _deliver(stack: Stack) -> None:
    moved = True
    while moved:
        moved = stack.stream()
        while stack.queue():
            moved = True


@contextmanager
def _stack(cost: Cost) -> Iterator[Stack]:
    def post(*_: object) -> Answer:
        cost.notifications += 1
        return Answer(204, {}, b"", 3)

    with (
        deployed({"HERALD_AGENT": f"{__name__}:Paced"}) as stack,
        mock.patch.object(SystemResolver, "resolve", return_value=["93.184.216.34"]),
        mock.patch.object(PinnedTransport, "post", post),
    ):
        for function in ("api", "start_worker", "run_agent", "ring_webhooks", "send_webhooks"):
            stack.functions[function] = load(function)
        yield stack


def _counted(name: str, handler: Callable[[Any, Any], Any], cost: Cost) -> Callable[[Any, Any], Any]:
    def call(event: Any, context: Any) -> Any:
        cost.invocations[name] += 1
        token = _inside.set(name)
        try:
            return handler(event, context)
        finally:
            _inside.reset(token)

    return call


@contextmanager
def _watched(cost: Cost) -> Iterator[None]:
    """Count every call that a function makes, and what it writes."""
    client: Any = botocore_client.BaseClient
    plain = client._make_api_call
    stored: dict[tuple[str, str], Mapping[str, Any]] = {}
    reader = boto3.client("dynamodb")

    def watch(self: Any, operation: str, parameters: Mapping[str, Any]) -> Any:
        answer = plain(self, operation, parameters)
        if not _inside.get():
            return answer
        cost.requests[self.meta.service_model.service_name, operation] += 1
        for action, doubled in _writes(operation, parameters):
            key = action.get("Key") or {name: action["Item"][name] for name in ("pk", "sk")}
            place = (key["pk"]["S"], key["sk"]["S"])
            new = plain(reader, "GetItem", {"TableName": TABLE, "Key": key, "ConsistentRead": True}).get("Item", {})
            old = stored.get(place, {})
            stored[place] = new
            units = ceil(max(_size(old), _size(new)) / 1024) * (2 if doubled else 1)
            cost.write_units += units
            cost.index_units += _index_units(old, new)
            if new.get("kind") == {"S": "artifact"}:
                cost.chunk_units.append(units)
        return answer

    with mock.patch.object(client, "_make_api_call", watch):
        yield


def _writes(operation: str, parameters: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """The single writes of a call, and whether they cost twice: an item of a transaction does."""
    if operation in ("PutItem", "UpdateItem", "DeleteItem"):
        yield parameters, False
    elif operation == "TransactWriteItems":
        for item in parameters["TransactItems"]:
            for action in item.values():
                yield action, True


def _size(item: Mapping[str, Mapping[str, str]]) -> int:
    """Bytes of an item by DynamoDB's rule: names and texts in UTF-8, numbers at two digits a byte and one more."""
    return sum(
        len(name.encode()) + (len(value["S"].encode()) if "S" in value else ceil(len(value["N"]) / 2) + 1)
        for name, value in item.items()
    )


def _index_units(old: Mapping[str, Any], new: Mapping[str, Any]) -> int:
    """Units that the indexes take: one to put an entry, one to take it away, both when its key changes.

    Index entries are far below 1 KB. A transaction pays double for the table only.
    """
    units = 0
    for index in template()["Resources"]["Tasks"]["Properties"]["GlobalSecondaryIndexes"]:
        names = [key["AttributeName"] for key in index["KeySchema"]]
        shown = [*names, *index["Projection"].get("NonKeyAttributes", [])]
        was, now = (all(name in item for name in names) for item in (old, new))
        if was and now and all(old[name] == new[name] for name in names):
            units += any(old.get(name) != new.get(name) for name in shown)
        else:
            units += was + now
    return units
