"""The fault matrix on the deployed stack: each receiver once, and senders that are killed where it hurts.

The webhooks are put into the table beside a task that has ended, so that their URLs may be anything; the stream rings
for them. What would wait longer than a test is made due instead.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import count, groupby
from pathlib import Path

import pytest

from builders.receivers import Certificates, Manners, Receiver, read_request, receiver
from builders.records import a_webhook
from e2e.client import Client
from e2e.cloud import Cloud
from e2e.test_delivery import doorbells_hidden_for, process_with_port
from e2e.waiting import wait_for
from fakes.clock import token
from faults.receivers import INNER, ROWS, Row
from faults.rules import BAD
from faults.test_wire import numbers
from herald.adapters.clock import SystemClock
from herald.adapters.dynamodb import items
from herald.adapters.dynamodb.webhooks import DynamoWebhooks
from herald.records import TaskRef, Webhook, WebhookState

HOUR_MS = 3_600_000
OWED = [0, 2, 3]  # the snapshot, then every entry but the run
SLOWEST = 120.0  # seconds: an attempt at a silent receiver takes 30
KEYS = count(int(time.time()))

# Each kind of receiver once: what needs a clock or a resolver of the test's is on the fakes and on the wire.
CHOSEN = [
    "200 slow",
    "204",
    "200, body endless",
    "200, cut off mid-body",
    "200, webhook-delivery: disable",
    "301",
    "302 to an inner address",
    "400",
    "404",
    "408",
    "410",
    "413",
    "429",
    "429 Retry-After: 90",
    "429 Retry-After: 86400",
    "429 Retry-After: soon",
    "500",
    "500, body endless",
    "502",
    "503",
    "503 Retry-After: 20",
    "header endless",
    "reset at accept",
    "reset mid-request",
    "reset unanswered",
    "accepted and silent",
]
PLAYED = [row for row in ROWS if row.name in CHOSEN]


class Stage:
    """A task that has ended, and webhooks put beside it."""

    def __init__(self, cloud: Cloud, task_id: str) -> None:
        self.cloud = cloud
        self.ref = TaskRef("", cloud.owner, task_id)
        self.webhooks = DynamoWebhooks(lambda: cloud.dynamodb, cloud.addresses["table"], SystemClock())

    def put(self, config_id: str, url: str) -> None:
        now = int(time.time() * 1000)
        webhook = a_webhook(
            config_id,
            ref=self.ref,
            key=token(next(KEYS)),
            url=url,
            snapshot_due=True,
            created_at=now,
            expires_second=now // 1000 + 86_400,
            due_at=now + HOUR_MS,
        )
        self.cloud.dynamodb.put_item(TableName=self.cloud.addresses["table"], Item=items.webhook_item(webhook))

    def of(self, config_id: str) -> Webhook:
        found = self.webhooks.get(self.ref, config_id)
        assert found is not None
        return found

    def not_at_rest(self) -> list[str]:
        """The ids of the webhooks to which something is still owed. One call: the emulator has other things to do."""
        found = self.webhooks.list(self.ref)
        return [
            webhook.config_id
            for webhook in found
            if webhook.state is not WebhookState.ACTIVE or webhook.due_at is not None
        ]

    def dealt_with(self) -> set[str]:
        """The keys of the webhooks that have an attempt on record, or a snapshot delivered."""
        failed = {item["sk"]["S"].split("#")[1] for item in self.cloud.task_items(self.ref.task_id, "TRY#")}
        return failed | {webhook.key for webhook in self.webhooks.list(self.ref) if not webhook.snapshot_due}

    def make_due(self, config_ids: list[str]) -> None:
        """As if their time had come, or an operator had resumed them."""
        self.cloud.sqs.purge_queue(QueueUrl=self.cloud.queue_url)
        for config_id in config_ids:
            before = self.of(config_id)
            # One whose time came by itself meanwhile has changed, and needs nothing.
            self.webhooks.update(before, replace(before, state=WebhookState.FAILING, next_attempt_at=0, due_at=1))
        self.cloud.sweep()


@pytest.fixture
def stage(client: Client, cloud: Cloud) -> Stage:
    task_id = client.start({"working": "one"}, {"complete": "done"})
    client.wait_for_end(task_id)
    return Stage(cloud, task_id)


def well(here: Receiver, connection: socket.socket) -> None:
    here.requests.append(read_request(connection))
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def once(first: Manners) -> Manners:
    left = [first]

    def manners(here: Receiver, connection: socket.socket) -> None:
        connection.settimeout(SLOWEST)  # longer than the sender waits
        (left.pop() if left else well)(here, connection)

    return manners


@contextmanager
def receivers(rows: list[Row]) -> Iterator[dict[str, Receiver]]:
    with ExitStack() as listening:
        yield {row.name: listening.enter_context(receiver(once(_manners_of(row)), read=False)) for row in rows}


def _manners_of(row: Row) -> Manners:
    assert row.wire is not None
    return row.wire.manners or well


def test_c3_every_receiver_gets_everything_in_the_end(stage: Stage) -> None:
    rows = PLAYED
    assert len(rows) == len(CHOSEN)
    ids = {row.name: f"cfg-{place}" for place, row in enumerate(rows)}
    with receivers(rows) as here:
        for row in rows:
            stage.put(ids[row.name], f"http://127.0.0.1:{here[row.name].port}/")

        # Each has met its receiver once.
        wait_for("every receiver to be met", lambda: all(here[row.name].connections for row in rows), SLOWEST)
        wait_for("it to be told of each", lambda: len(stage.dealt_with()) == len(rows), SLOWEST)
        for row in rows:
            attempts = stage.webhooks.attempts(stage.of(ids[row.name]))
            assert [attempt.outcome for attempt in attempts] == ([row.outcome] if row.kind in BAD else []), row.name
        _assert_each_stands_as_it_should(stage, rows, ids)

        # What hides for a minute or six hours, or is disabled, doesn't make the test wait.
        stage.make_due(stage.not_at_rest())
        wait_for("everything to arrive", lambda: not stage.not_at_rest(), SLOWEST)

    for row in rows:
        assert row.wire is not None
        arrived = numbers(here[row.name])
        taken = arrived[1:] if row.kind in BAD and row.wire.arrives else arrived
        assert [number for number, _ in groupby(taken)] == OWED, row.name
        assert stage.of(ids[row.name]).delivered == 3


def _assert_each_stands_as_it_should(stage: Stage, rows: list[Row], ids: dict[str, str]) -> None:
    for row in rows:
        webhook = stage.of(ids[row.name])
        if row.kind in ("gives up", "hushed"):
            assert (webhook.state, webhook.reason) == (WebhookState.DISABLED, row.reason), row.name
        elif webhook.state is WebhookState.FAILING and webhook.failures:
            [attempt] = stage.webhooks.attempts(webhook)
            least, most = row.wait
            assert least * 1000 <= webhook.next_attempt_at - attempt.at <= most * 1000, row.name


def test_what_no_connection_may_be_made_to_or_trusted_is_told_apart(stage: Stage, tmp_path: Path) -> None:
    """The functions trust the system's authorities alone: a certificate of the test's is none, whatever else it is."""
    certificates = Certificates.make(tmp_path)
    tls = {
        "wrong-host": certificates.serving("other.example"),
        "expired": certificates.serving("127.0.0.1", expired=True),
        "self-signed": certificates.serving("127.0.0.1", self_signed=True),
    }
    with ExitStack() as listening:
        here = {name: listening.enter_context(receiver(well, tls=context, read=False)) for name, context in tls.items()}
        refusing = listening.enter_context(receiver(well, read=False))
        urls = {name: (f"https://127.0.0.1:{found.port}/", "tls_error") for name, found in here.items()} | {
            "inner": (f"https://{INNER}/latest/meta-data/", "ssrf_blocked"),
            "spelled": ("https://0xA9FEA9FE/", "ssrf_blocked"),
            "elsewhere": (f"http://127.0.0.2:{refusing.port}/", "ssrf_blocked"),
        }
        for config_id, (url, _) in urls.items():
            stage.put(config_id, url)

        def outcomes() -> dict[str, str]:
            found = {name: stage.webhooks.attempts(stage.of(name)) for name in urls}
            return {name: attempts[0].outcome for name, attempts in found.items() if attempts}

        wait_for("an attempt at each", lambda: len(outcomes()) == len(urls), SLOWEST)

    assert outcomes() == {name: outcome for name, (_, outcome) in urls.items()}
    assert [found.requests for found in here.values()] == [[], [], []]
    assert refusing.connections == 0


def _connections(here: Receiver) -> int:
    return here.connections


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the sender's process in /proc")
def test_c3_a_sender_that_is_killed_before_the_post_after_it_and_after_the_answer_loses_nothing(
    stage: Stage, cloud: Cloud
) -> None:
    killed: list[int] = []

    def kill(connection: socket.socket) -> None:
        pid = process_with_port(connection.getpeername()[1])
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    def at_accept(_: Receiver, connection: socket.socket) -> None:
        kill(connection)

    def unanswered(here: Receiver, connection: socket.socket) -> None:
        here.requests.append(read_request(connection))
        kill(connection)

    def answered(status: int) -> Manners:
        def manners(here: Receiver, connection: socket.socket) -> None:
            """Its status is told; while the sender waits for the body, nothing is written yet."""
            here.requests.append(read_request(connection))
            connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 9\r\n\r\n" % status)
            kill(connection)

        return manners

    ways: dict[str, tuple[Callable[[Receiver, socket.socket], None], list[int]]] = {
        "at-accept": (at_accept, [0, 2, 3]),
        "unanswered": (unanswered, [0, 0, 2, 3]),
        "answered-500": (answered(500), [0, 0, 2, 3]),
        "answered-200": (answered(200), [0, 0, 2, 3]),
    }
    with doorbells_hidden_for(cloud, 10), ExitStack() as listening:
        here = {name: listening.enter_context(receiver(once(way), read=False)) for name, (way, _) in ways.items()}
        for name in ways:
            stage.put(name, f"http://127.0.0.1:{here[name].port}/")
            wait_for(f"{name} to be met", partial(_connections, here[name]))
        wait_for("everything to arrive", lambda: not stage.not_at_rest(), SLOWEST)

    assert len(killed) == 4
    assert {name: numbers(here[name]) for name in ways} == {name: expected for name, (_, expected) in ways.items()}
    for name in ways:
        assert stage.webhooks.attempts(stage.of(name)) == []  # what died isn't held against the receiver
