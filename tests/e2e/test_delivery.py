"""Receivers that restart, fail, hang, die or are deleted: nothing is lost, the order holds, and nobody else notices."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.client import Client, message, script
from e2e.cloud import Cloud
from e2e.loopback import Arrival, Meeting, Receiver, genuine
from e2e.waiting import wait_for
from herald.adapters.dynamodb import keys
from herald.records import Webhook, WebhookState

ESTABLISHED = "01"  # in /proc/net/tcp
RETRIED = 90.0  # seconds within which a second retry has been made: 5 s and 30 s, each with a fifth more at most


def webhook_of(cloud: Cloud, task_id: str, receiver: Receiver) -> Webhook:
    return cloud.webhooks(task_id)[receiver.url]


def wait_until_failing(cloud: Cloud, task_id: str, receiver: Receiver) -> Webhook:
    def look() -> Webhook | None:
        webhook = webhook_of(cloud, task_id, receiver)
        return webhook if webhook.state is WebhookState.FAILING else None

    found = wait_for("the webhook to be failing", look)
    assert found is not None
    return found


def wait_until_at_rest(cloud: Cloud, task_id: str, receiver: Receiver) -> Webhook:
    """The webhook, once it is active and nothing of it is due: all is delivered, and the task has ended."""

    def look() -> Webhook | None:
        webhook = webhook_of(cloud, task_id, receiver)
        return webhook if webhook.state is WebhookState.ACTIVE and webhook.due_at is None else None

    found = wait_for("the webhook to be at rest", look, RETRIED)
    assert found is not None
    return found


def test_a_receiver_that_restarts_in_the_middle_of_a_task_misses_nothing(
    client: Client, cloud: Cloud, receiver: Receiver, meeting: Meeting
) -> None:
    task_id = client.start(
        {"working": "before"},
        {"meet": meeting.url},
        {"artifact": {"id": "a", "text": "while it is away "}},
        {"artifact": {"id": "a", "text": "still away", "append": True}},
        {"complete": "done"},
        webhook=receiver.config,
    )
    receiver.wait_for_state(task_id, "TASK_STATE_WORKING")
    cloud.wait_until_no_doorbell_is_left()

    receiver.stop()
    meeting.release()
    client.wait_for_end(task_id)
    failing = wait_until_failing(cloud, task_id, receiver)
    assert cloud.attempts(failing)[0].outcome == "connection_refused"
    receiver.start()

    wait_until_at_rest(cloud, task_id, receiver)
    assert genuine(receiver.of(task_id)) == cloud.to_send(task_id) == [0, 2, 3, 4, 5]


def test_a_receiver_that_fails_twice_gets_everything_when_it_recovers(
    client: Client, cloud: Cloud, receiver: Receiver
) -> None:
    receiver.answers.extend([500, 503])
    task_id = client.start({"working": "one"}, {"complete": "done"}, webhook=receiver.config)
    client.wait_for_end(task_id)
    webhook = wait_until_at_rest(cloud, task_id, receiver)

    arrived = receiver.of(task_id)
    assert genuine(arrived) == [0, 0, 0, 2, 3]
    first, second, third = arrived[:3]
    assert first.message_id == second.message_id == third.message_id
    assert first.body == second.body == third.body
    # Each attempt is signed anew.
    stamps = [int(arrival.headers["webhook-timestamp"]) for arrival in (first, second, third)]
    assert stamps == sorted(set(stamps))
    assert [(attempt.outcome, attempt.status) for attempt in cloud.attempts(webhook)] == [
        ("http_5xx", 500),
        ("http_5xx", 503),
    ]
    assert (webhook.failures, webhook.delivered) == (0, 3)


def test_a_large_artifact_brings_an_address_that_leads_anybody_to_the_whole(
    client: Client, cloud: Cloud, receiver: Receiver
) -> None:
    receiver.answers.extend([200, 200, 500])
    task_id = client.start(
        {"working": "on it"},
        {"artifact": {"id": "a", "bytes": 1_500_000}},
        {"complete": "done"},
        webhook=receiver.config,
    )
    wait_until_at_rest(cloud, task_id, receiver)

    _, _, first, second, _ = receiver.of(task_id)
    assert first.body == second.body
    assert len(first.body) < 2_000
    [part] = json.loads(first.body)["artifactUpdate"]["artifact"]["parts"]
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(part["url"], timeout=30) as answer:
        whole = answer.read()
    assert json.loads(whole)["artifactUpdate"]["artifact"]["parts"] == [{"text": "x" * 1_500_000}]
    assert part["metadata"] == {"sha256": hashlib.sha256(whole).hexdigest(), "bytes": len(whole)}


def test_a_receiver_that_hangs_holds_up_nobody_else(
    client: Client, cloud: Cloud, receiver: Receiver, new_receiver: Callable[..., Receiver], meeting: Meeting
) -> None:
    quick = new_receiver()

    def hang(_: Arrival) -> int:
        meeting.wait()
        return 204

    receiver.answers.append(hang)
    held = client.start({"working": "one"}, {"complete": "done"}, webhook=receiver.config)
    client.register(held, quick.config)
    meeting.wait_until_reached()

    # Neither the task nor its other webhook, nor another client's SendMessage, task and webhook wait for it.
    quick.wait_for_end(held)
    assert client.state(held) == "TASK_STATE_COMPLETED"
    other = client.start({"complete": "done"}, webhook=quick.config)
    quick.wait_for_end(other)
    answer = client.send(message(script({"complete": "done"})), wait=True)
    assert answer["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert [arrival.number for arrival in receiver.arrivals] == [0]

    meeting.release()
    wait_until_at_rest(cloud, held, receiver)
    assert genuine(receiver.of(held)) == cloud.to_send(held)


def test_a_dead_webhook_is_failing_with_its_attempts_on_record_and_the_other_one_misses_nothing(
    client: Client, cloud: Cloud, receiver: Receiver, new_receiver: Callable[..., Receiver], meeting: Meeting
) -> None:
    dead = new_receiver()
    dead.stop()
    task_id = client.start(
        {"meet": meeting.url},
        {"artifact": {"id": "a", "text": "said to one"}},
        {"complete": "done"},
        webhook=receiver.config,
    )
    meeting.wait_until_reached()
    client.register(task_id, dead.config)
    failing = wait_until_failing(cloud, task_id, dead)
    meeting.release()
    receiver.wait_for_end(task_id)

    assert genuine(receiver.of(task_id)) == cloud.to_send(task_id)
    [first, *_] = cloud.attempts(failing)
    assert (first.outcome, first.status, first.attempt, first.head) == ("connection_refused", 0, 1, "")
    now = webhook_of(cloud, task_id, dead)
    assert now.state is WebhookState.FAILING
    assert now.failures >= 1
    assert now.next_attempt_at > first.at
    assert now.due_at is not None  # sweep will ring for it, whatever becomes of its doorbell
    assert (now.cursor, now.snapshot_due, now.delivered) == (1, True, 0)  # nothing is skipped


def test_a_deleted_webhook_is_sent_nothing_more(
    client: Client, cloud: Cloud, receiver: Receiver, new_receiver: Callable[..., Receiver], meeting: Meeting
) -> None:
    deleted = new_receiver()
    task_id = client.start(
        {"working": "before"},
        {"meet": meeting.url},
        {"artifact": {"id": "a", "text": "after"}},
        {"complete": "done"},
        webhook=receiver.config,
    )
    meeting.wait_until_reached()
    config_id = client.register(task_id, deleted.config)
    wait_for("its first notification", lambda: deleted.of(task_id))
    cloud.wait_until_no_doorbell_is_left()

    client.unregister(task_id, config_id)
    meeting.release()
    receiver.wait_for_end(task_id)
    cloud.wait_until_no_doorbell_is_left()

    assert [next(iter(arrival.event)) for arrival in deleted.of(task_id)] == ["task"]
    assert genuine(receiver.of(task_id)) == cloud.to_send(task_id)
    assert list(cloud.webhooks(task_id)) == [receiver.url]


def test_a_webhook_that_joins_late_is_told_the_task_as_it_stands_and_then_what_changes(
    client: Client, cloud: Cloud, receiver: Receiver, meeting: Meeting
) -> None:
    task_id = client.start(
        {"working": "one"}, {"artifact": {"id": "a", "text": "early"}}, {"meet": meeting.url}, {"complete": "done"}
    )
    meeting.wait_until_reached()
    client.register(task_id, receiver.config)
    wait_for("the snapshot", lambda: receiver.of(task_id))
    meeting.release()
    arrived = receiver.wait_for_end(task_id)

    snapshot = arrived[0].event["task"]
    assert snapshot["status"]["state"] == "TASK_STATE_WORKING"
    assert snapshot["artifacts"] == [{"artifactId": "a", "parts": [{"text": "early"}]}]
    assert genuine(arrived) == cloud.to_send(task_id, snapshot=3) == [3, 4]


def test_doorbells_that_are_lost_are_made_up_for_by_sweep(client: Client, cloud: Cloud, receiver: Receiver) -> None:
    with cloud.without_events("RingWebhooksFunction"):
        task_id = client.start({"working": "one"}, {"complete": "done"}, webhook=receiver.config)
        client.wait_for_end(task_id)
        webhook = webhook_of(cloud, task_id, receiver)
        assert receiver.arrivals == []

        cloud.make_due(task_id, keys.push_sk(webhook.config_id))
        cloud.sweep()
        wait_until_at_rest(cloud, task_id, receiver)

    # The rings that were missed come late, and bring nothing twice.
    other = client.start({"complete": "done"}, webhook=receiver.config)
    receiver.wait_for_end(other)
    cloud.wait_until_no_doorbell_is_left()
    assert genuine(receiver.of(task_id)) == cloud.to_send(task_id) == [0, 2, 3]


def test_a_receiver_that_is_gone_for_good_is_sent_nothing_more(
    client: Client, cloud: Cloud, receiver: Receiver, new_receiver: Callable[..., Receiver]
) -> None:
    gone = new_receiver()
    gone.answers.append(410)
    task_id = client.start({"working": "one"}, {"complete": "done"}, webhook=gone.config)
    client.register(task_id, receiver.config)
    receiver.wait_for_end(task_id)
    wait_for("the webhook to be disabled", lambda: webhook_of(cloud, task_id, gone).state is WebhookState.DISABLED)
    cloud.wait_until_no_doorbell_is_left()

    assert webhook_of(cloud, task_id, gone).reason == "gone: the receiver answered 410"
    assert len(gone.arrivals) == 1


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest/meta-data", "https://10.0.0.1/hook", "http://[::1]/hook"]
)
def test_a_webhook_at_an_inner_address_is_refused(client: Client, url: str) -> None:
    configuration = {"returnImmediately": True, "taskPushNotificationConfig": {"url": url}}
    body = {"message": message(script({"complete": "done"})), "configuration": configuration}
    status, error = client.refused("POST", "/message:send", body)

    assert (status, error["status"]) == (400, "INVALID_ARGUMENT")
    assert "taskPushNotificationConfig.url" in str(error)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the sender's process in /proc")
def test_a_sender_that_is_killed_in_the_middle_of_a_post_loses_nothing_and_repeats_only_that_one(
    client: Client, cloud: Cloud, receiver: Receiver
) -> None:
    killed: list[int] = []

    def kill(arrival: Arrival) -> int:
        """The function's process ends while it waits for this answer."""
        pid = process_with_port(arrival.peer_port)
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)
        return 204

    receiver.answers.extend([204, kill])
    with doorbells_hidden_for(cloud, 10):
        task_id = client.start(
            {"working": "one"},
            {"artifact": {"id": "a", "text": "two"}},
            {"artifact": {"id": "a", "text": "three", "append": True}},
            {"complete": "done"},
            webhook=receiver.config,
        )
        client.wait_for_end(task_id)
        wait_until_at_rest(cloud, task_id, receiver)

    assert len(killed) == 1
    arrived = receiver.of(task_id)
    assert genuine(arrived) == [0, 2, 2, 3, 4, 5]
    assert arrived[1].body == arrived[2].body
    assert cloud.to_send(task_id) == [0, 2, 3, 4, 5]


@contextmanager
def doorbells_hidden_for(cloud: Cloud, seconds: int) -> Iterator[None]:
    """A doorbell whose sender dies comes back when the queue shows it again; the template's wait is 9 minutes."""
    before = cloud.set_visibility(seconds)
    try:
        yield
    finally:
        cloud.set_visibility(int(before))


def process_with_port(port: int) -> int:
    """The process that has this port of 127.0.0.1 as its own end of a TCP connection."""
    wanted = f"0100007F:{port:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    [inode] = [row[9] for row in rows if row[1] == wanted and row[3] == ESTABLISHED]
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            target = str(link.readlink())
        except OSError:
            continue  # it has gone meanwhile, or is somebody else's
        if target == f"socket:[{inode}]":
            return int(re.match(r"/proc/(\d+)/", str(link))[1])  # type: ignore[index]
    raise AssertionError(f"no process holds port {port}")
