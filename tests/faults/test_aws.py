"""AWS errors on the wire below botocore, through the functions' own handlers on moto: the same rules as on the fakes.

A table's rows are set as the time would set them, so that nobody waits for a schedule.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, groupby
from typing import Any

import pytest

from builders.receivers import Receiver, read_request, receiver
from builders.records import a_webhook
from builders.stores import BUCKET, TABLE
from fakes.clock import FakeClock, token
from fakes.world import FakeDoorbells
from faults import rules
from faults.aws import Act, Wire, silent, throttled, unheard
from faults.figures import Figures
from faults.receivers import ROWS, Row
from faults.test_wire import numbers
from herald.delivery.control import Control
from herald.ports import Ring
from herald.protocol.states import TaskState
from herald.records import TaskRef, Webhook, WebhookState
from integration.delivery_scene import OWNER, Scene, delivery_scene

HOUR_MS = 3_600_000

OPERATIONS = {
    rules.WEBHOOK: "GetItem",
    rules.LOG: "Query",
    rules.RECORD: "PutItem",
    rules.RESULT: "UpdateItem",
    rules.HIDE: "ChangeMessageVisibility",
}
WRITES = (rules.RECORD, rules.RESULT, rules.HIDE)


@dataclass(frozen=True)
class Column:
    """What happens to a call's three tries, and the matrix's error that it comes to."""

    name: str
    call: str
    tries: tuple[Act, ...]
    error: str


COLUMNS = [
    *(Column(f"throttled once: {call}", call, (throttled,), rules.NO_ERROR) for call in OPERATIONS),
    *(Column(f"throttled: {call}", call, (throttled,) * 3, f"{rules.THROTTLED}: {call}") for call in OPERATIONS),
    *(Column(f"timeout without effect, once: {call}", call, (silent,), rules.NO_ERROR) for call in OPERATIONS),
    *(Column(f"timeout without effect: {call}", call, (silent,) * 3, f"{rules.SILENT}: {call}") for call in OPERATIONS),
    *(
        Column(
            f"timeout with effect, tried again: {call}",
            call,
            (unheard,),
            rules.RETRIED if call == rules.RESULT else rules.NO_ERROR,
        )
        for call in WRITES
    ),
    *(
        Column(f"timeout with effect: {call}", call, (unheard, silent, silent), f"{rules.UNHEARD}: {call}")
        for call in WRITES
    ),
    Column(rules.OVERTAKEN, rules.RESULT, (), rules.OVERTAKEN),
]
CHOSEN = [row for row in ROWS if row.name in ("200", "410", "500")]


class Stage:
    """The stack on moto, behind a wire that may fail, and one receiver for all cells."""

    def __init__(self, scene: Scene, here: Receiver, wire: Wire) -> None:
        self.scene, self.here, self.wire = scene, here, wire
        self.row: Row | None = None  # what the next connection meets
        self.doorbells = scene.platform.doorbells(scene.stack.environ["HERALD_QUEUE_URL"])
        self.sqs = scene.platform.aws.sqs
        self._made = count()

    def manners(self, here: Receiver, connection: socket.socket) -> None:
        row, self.row = self.row, None
        if row is not None and row.wire is not None and row.wire.manners is not None:
            row.wire.manners(here, connection)
        else:
            here.requests.append(read_request(connection))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    @cached_property
    def ref(self) -> TaskRef:
        """A task that has three notifications, for all cells: moto's transactions copy the whole table."""
        message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
        sent = self.scene.call("SendMessage", {"message": message, "configuration": {"returnImmediately": True}})
        ref = TaskRef("", OWNER, sent["task"]["id"])
        for state in (TaskState.WORKING, TaskState.WORKING, TaskState.COMPLETED):
            self.scene.append(ref, state)
        return ref

    def register(self) -> str:
        """A webhook that is owed all three; its id."""
        number = next(self._made)
        now = self.scene.platform.clock.now()
        webhook = a_webhook(
            f"cfg-{number}",
            ref=self.ref,
            key=token(5_000 + number),
            url=f"http://127.0.0.1:{self.here.port}/",
            created_at=now,
            expires_second=now // 1000 + 86_400,
            due_at=now + HOUR_MS,
        )
        self.scene.webhooks.put(webhook)
        return webhook.config_id

    def webhook(self, config_id: str) -> Webhook:
        found = self.scene.webhooks.get(self.ref, config_id)
        assert found is not None
        return found

    def send(self, event: Any) -> Any:
        return self.scene.stack.invoke("send_webhooks", event)

    def settle(self, config_id: str, event: Any) -> Webhook:
        """As if the time had come: the doorbell is back, and an operator has resumed what is disabled."""
        scene = self.scene
        webhook = self.webhook(config_id)
        if webhook.state is WebhookState.DISABLED:
            doorbells = FakeDoorbells(FakeClock())  # ours is back without it
            platform = scene.platform
            log = platform.task_log(TABLE, BUCKET)
            Control(log, scene.webhooks, doorbells, platform.clock, platform.ids).resume(webhook)
        elif webhook.state is WebhookState.FAILING:
            assert scene.webhooks.update(webhook, replace(webhook, next_attempt_at=0))
        self.send(event)
        return self.webhook(config_id)

    def acknowledge(self, event: Any) -> None:
        [record] = event["Records"]
        self.sqs.delete_message(
            QueueUrl=self.scene.stack.environ["HERALD_QUEUE_URL"], ReceiptHandle=record["receiptHandle"]
        )


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    wire = Wire()

    def manners(here: Receiver, connection: socket.socket) -> None:
        made.manners(here, connection)

    with delivery_scene() as scene, wire.between(), receiver(manners, read=False) as here:
        made = Stage(scene, here, wire)
        yield made


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
@pytest.mark.parametrize("row", CHOSEN, ids=lambda row: row.name)
def test_c3_nothing_is_lost_where_aws_fails(row: Row, column: Column, stage: Stage, figures: Figures) -> None:
    scene = stage.scene
    config_id = stage.register()
    stage.here.requests.clear()
    webhook = stage.webhook(config_id)
    stage.doorbells.ring([Ring(webhook.doorbell, webhook.key)])
    event = scene.stack.doorbell()
    assert event is not None
    stage.row = row
    operation = OPERATIONS[column.call]

    def overtaken(send: Any) -> Any:
        stage.send(event)  # the same doorbell, doubled
        return send()

    stage.wire.plan(operation, *(column.tries or (overtaken,)))
    began = scene.platform.clock.now()
    stage.send(event)
    stage.wire.plans.clear()

    # What stands right afterwards.
    webhook = stage.webhook(config_id)
    recorded = scene.webhooks.attempts(webhook)
    expected = rules.standing(row.kind, rules.NO_DEATH, column.error)
    stands = rules.Standing(
        webhook.state, webhook.cursor, len(recorded), webhook.failures, bool(webhook.next_attempt_at)
    )
    assert stands == expected
    assert [attempt.outcome for attempt in recorded] == [row.outcome] * expected.recorded
    if expected.waits:
        least, most = row.wait
        elapsed = scene.platform.clock.now() - began
        assert least * 1000 <= webhook.next_attempt_at - began <= most * 1000 + elapsed
    if expected.state is WebhookState.DISABLED:
        assert webhook.reason == row.reason

    # And in the end.
    webhook = stage.settle(config_id, event)
    if webhook.cursor != 3:  # the row struck only now
        webhook = stage.settle(config_id, event)
    stage.acknowledge(event)
    assert (webhook.state, webhook.cursor, webhook.failures, webhook.due_at) == (WebhookState.ACTIVE, 3, 0, None)
    assert row.wire is not None
    refused = 1 if row.wire.arrives and row.kind in rules.BAD else 0
    taken = numbers(stage.here)[refused:]
    assert [number for number, _ in groupby(taken)] == [1, 2, 3]
    repeated = len(taken) - 3
    assert repeated == rules.duplicates(row.kind, rules.NO_DEATH, column.error)
    assert len(scene.webhooks.attempts(webhook)) == rules.recorded_in_the_end(row.kind, rules.NO_DEATH, column.error)
    figures.count("on moto", row.kind, repeated)
