"""The road of a notification through the functions: moto's table, stream and queue, and a receiver on loopback that is
called over a real socket.
"""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
import requests
from standardwebhooks import Webhook as StandardWebhook

from builders.events import rest_event
from builders.receivers import Receiver, receiver
from herald.protocol.states import TaskState
from herald.records import WebhookState
from integration.delivery_scene import Scene, delivery_scene, got, statuses
from integration.pump import load

SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"


@pytest.fixture
def scene() -> Iterator[Scene]:
    with delivery_scene() as scene:
        yield scene


def headers_of(request: bytes) -> dict[str, str]:
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}


def test_c13_a_tasks_life_reaches_its_owners_webhook_signed_and_in_order(scene: Scene) -> None:
    with receiver(statuses()) as here:
        authentication = {"scheme": "Bearer", "credentials": "sek"}
        url = f"http://127.0.0.1:{here.port}/hook?x=1"
        ref = scene.new_task(url, token=SECRET, authentication=authentication)
        scene.stack.pump()
        stored = [scene.append(ref, state) for state in (TaskState.WORKING, TaskState.COMPLETED)]
        scene.stack.pump()
        assert len(scene.stack.called("send_webhooks")) == 2  # one for the snapshot, one for both entries

    notifications = got(here, scene.jwks())
    assert [(one.number, one.kind, one.task_id) for one in notifications] == [
        (0, "task", ref.task_id),
        (1, "statusUpdate", ref.task_id),
        (2, "statusUpdate", ref.task_id),
    ]
    bodies = [request.partition(b"\r\n\r\n")[2] for request in here.requests]
    assert bodies[1:] == [entry.body.encode() for entry in stored]
    for request, body in zip(here.requests, bodies, strict=True):
        headers = headers_of(request)
        StandardWebhook(SECRET).verify(body, headers)
        assert headers["authorization"] == "Bearer sek"
        assert headers["content-type"] == "application/a2a+json"
        assert headers["host"] == f"127.0.0.1:{here.port}"
        assert SECRET not in request.decode()
    webhook = scene.webhook(ref)
    assert (webhook.cursor, webhook.delivered, webhook.state) == (2, 3, WebhookState.ACTIVE)
    assert webhook.due_at is None


def test_c3_a_failure_hides_the_doorbell_and_the_next_attempt_delivers(scene: Scene) -> None:
    with receiver(statuses(500)) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/")
        scene.stack.stream()
        event = scene.stack.doorbell()
        assert event is not None
        failed = scene.stack.invoke("send_webhooks", event)
        assert failed == {"batchItemFailures": [{"itemIdentifier": event["Records"][0]["messageId"]}]}
        assert scene.stack.doorbell() is None  # hidden
        webhook = scene.webhook(ref)
        assert (webhook.state, webhook.failures) == (WebhookState.FAILING, 1)
        [attempt] = scene.webhooks.attempts(webhook)
        assert (attempt.outcome, attempt.status) == ("http_5xx", 500)

        scene.append(ref, TaskState.WORKING)
        scene.stack.pump()
        assert len(here.requests) == 1  # nobody rings for a failing webhook

        due = replace(webhook, next_attempt_at=0)
        assert scene.webhooks.update(webhook, due)  # its time has come
        assert scene.stack.invoke("send_webhooks", event) == {"batchItemFailures": []}

    assert [one.number for one in got(here, scene.jwks())] == [0, 0, 1]
    assert scene.webhook(ref).state is WebhookState.ACTIVE


def test_deletion_stops_the_sends(scene: Scene) -> None:
    with receiver(statuses()) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/")
        scene.stack.stream()
        scene.call("DeleteTaskPushNotificationConfig", {"taskId": ref.task_id, "id": "cfg"})
        scene.append(ref, TaskState.WORKING)
        scene.stack.pump()

    assert here.requests == []


def test_two_webhooks_of_which_one_is_dead_the_other_gets_everything(scene: Scene) -> None:
    with receiver(statuses()) as here:
        ref = scene.new_task("http://127.0.0.1:9/dead")
        config = {"taskId": ref.task_id, "id": "alive", "url": f"http://127.0.0.1:{here.port}/"}
        scene.call("CreateTaskPushNotificationConfig", config)
        scene.stack.pump()
        scene.append(ref, TaskState.WORKING)
        scene.append(ref, TaskState.COMPLETED)
        scene.stack.pump()

    assert [one.number for one in got(here, scene.jwks())] == [0, 1, 2]
    assert scene.webhook(ref).state is WebhookState.FAILING


def test_c6_an_address_that_is_no_longer_allowed_is_blocked_when_it_is_sent_to(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiver(statuses()) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/")
        monkeypatch.setenv("HERALD_WEBHOOK_ALLOW", "")
        scene.stack.functions["send_webhooks"] = load("send_webhooks")
        scene.stack.pump()

    assert here.connections == 0
    [attempt] = scene.webhooks.attempts(scene.webhook(ref))
    assert (attempt.outcome, attempt.head) == ("ssrf_blocked", "")


def test_c7_a_redirecting_receiver_has_failed(scene: Scene) -> None:
    def redirect(_: Receiver, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 307 X\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n")

    with receiver(redirect) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/")
        scene.stack.pump()

    [attempt] = scene.webhooks.attempts(scene.webhook(ref))
    assert (attempt.outcome, attempt.status) == ("http_3xx", 307)


def test_the_keys_of_a_tenant_are_its_own(scene: Scene) -> None:
    event = rest_event("GET", "/acme/.well-known/jwks.json")
    event["pathParameters"] = {"tenant": "acme"}

    [theirs] = json.loads(scene.stack.invoke("publish_keys", event)["body"])["keys"]

    assert theirs["x"] != scene.jwks()["keys"][0]["x"]


def test_a_large_notification_brings_an_address_that_leads_to_the_whole(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERALD_PUBLIC_URL", "https://agent.example")
    scene.stack.functions["send_webhooks"] = load("send_webhooks")
    with receiver(statuses(204, 500)) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/")
        scene.stack.pump()
        entry = scene.put_artifact(ref, "x" * 2_000_000)
        scene.stack.stream()
        event = scene.stack.doorbell()
        scene.stack.invoke("send_webhooks", event)
        failing = scene.webhook(ref)
        assert scene.webhooks.update(failing, replace(failing, next_attempt_at=0))  # its time has come
        scene.stack.functions["send_webhooks"] = load("send_webhooks")  # another process
        scene.stack.invoke("send_webhooks", event)

    _, first, second = got(here, scene.jwks())
    assert (first.id, first.event) == (second.id, second.event)
    [part] = first.content["artifact"]["parts"]
    address, _, sealed = part["url"].partition("?of=")
    assert address == "https://agent.example/notification"

    asked = rest_event("GET", "/notification", query={"of": sealed})
    del asked["requestContext"]["authorizer"]  # anybody
    answer = scene.stack.invoke("api", asked)
    assert answer["statusCode"] == 303
    whole = requests.get(answer["headers"]["location"], timeout=5).content
    assert whole == entry.body.encode()
    assert hashlib.sha256(whole).hexdigest() == part["metadata"]["sha256"]
