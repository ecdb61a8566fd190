"""Faults of our own while delivering: they count against no receiver, are told, and heal by themselves."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest
from botocore import client as botocore_client
from botocore.exceptions import ClientError, ReadTimeoutError

from builders.receivers import receiver
from herald.adapters.sqs import doorbell_from_body
from herald.protocol.states import TaskState
from herald.records import WebhookState
from integration.delivery_scene import Scene, delivery_scene, got, statuses
from integration.pump import load


@pytest.fixture
def scene() -> Iterator[Scene]:
    with delivery_scene() as scene:
        yield scene


def error(code: str, status: int) -> ClientError:
    told: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(told, "AnyOperation")


@contextmanager
def broken(service: str, operation: str, failure: Exception) -> Iterator[list[str]]:
    """Let every call of an operation fail; the calls that failed are listed."""
    client: Any = botocore_client.BaseClient
    plain, calls = client._make_api_call, []

    def make(self: Any, name: str, parameters: Mapping[str, Any]) -> Any:
        if (self.meta.service_model.service_name, name) == (service, operation):
            calls.append(name)
            raise failure
        return plain(self, name, parameters)

    with mock.patch.object(client, "_make_api_call", make):
        yield calls


def own_faults(caplog: pytest.LogCaptureFixture) -> int:
    """How many doorbells met a fault of our own since this was asked last, by the log's own field."""
    told = [record for record in caplog.records if getattr(record, "outcome", "") == "own_fault"]
    caplog.clear()
    return len(told)


THROTTLED = error("ThrottlingException", 400)
DENIED = error("AccessDeniedException", 400)  # as after a mistake in a policy or a key's
DOWN = error("InternalServerError", 500)
SILENT = ReadTimeoutError(endpoint_url="https://service.example")


@pytest.mark.parametrize(
    ("service", "operation", "failure"),
    [
        ("secretsmanager", "GetSecretValue", THROTTLED),
        ("secretsmanager", "GetSecretValue", DENIED),
        ("dynamodb", "GetItem", DOWN),
        ("dynamodb", "GetItem", SILENT),
        ("dynamodb", "Query", THROTTLED),
        ("s3", "GetObject", error("SlowDown", 503)),
        ("s3", "GetObject", error("AccessDenied", 403)),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_fails_before_the_post_sends_nothing_and_counts_against_nobody(
    scene: Scene, caplog: pytest.LogCaptureFixture, service: str, operation: str, failure: Exception
) -> None:
    with receiver(statuses()) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/")
        if service == "s3":
            scene.stack.pump()  # its snapshot is small
            scene.put_artifact(ref, "x" * 300_000)  # its body lies in the bucket
        scene.stack.stream()
        event = scene.stack.doorbell()
        assert event is not None
        sent_before, stood = len(here.requests), scene.webhook(ref)
        scene.stack.functions["send_webhooks"] = load("send_webhooks")  # it knows no secret yet
        caplog.clear()

        with broken(service, operation, failure) as calls:
            answered = scene.stack.invoke("send_webhooks", event)

        assert calls
        assert answered == {"batchItemFailures": [{"itemIdentifier": event["Records"][0]["messageId"]}]}
        assert own_faults(caplog) == 1
        assert len(here.requests) == sent_before
        assert scene.webhook(ref) == stood
        assert scene.webhooks.attempts(stood) == []
        assert scene.stack.doorbell() is None  # hidden: it comes back by itself, and not at once

        assert scene.stack.invoke("send_webhooks", event) == {"batchItemFailures": []}

    assert len(here.requests) == sent_before + 1
    assert scene.webhook(ref).state is WebhookState.ACTIVE


def test_a_cursor_that_cannot_be_moved_repeats_one_notification_and_counts_nothing(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    with receiver(statuses()) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/")
        scene.stack.stream()
        event = scene.stack.doorbell()
        with broken("dynamodb", "UpdateItem", THROTTLED):
            scene.stack.invoke("send_webhooks", event)
        assert own_faults(caplog) == 1
        assert (scene.webhook(ref).delivered, scene.webhook(ref).failures) == (0, 0)

        assert scene.stack.invoke("send_webhooks", event) == {"batchItemFailures": []}

    assert [one.number for one in got(here, scene.jwks())] == [0, 0]
    assert len({one.id for one in got(here, scene.jwks())}) == 1
    assert scene.webhook(ref).delivered == 1


def test_a_failed_attempt_that_cannot_be_recorded_does_not_count(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    with receiver(statuses(500)) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/")
        scene.stack.stream()
        event = scene.stack.doorbell()
        with broken("dynamodb", "PutItem", DOWN):
            scene.stack.invoke("send_webhooks", event)
        assert own_faults(caplog) == 1
        assert (scene.webhook(ref).state, scene.webhook(ref).failures) == (WebhookState.ACTIVE, 0)

        assert scene.stack.invoke("send_webhooks", event) == {"batchItemFailures": []}

    assert len(here.requests) == 2


def test_a_doorbell_that_cannot_be_hidden_comes_back_with_the_queues_own_time(scene: Scene) -> None:
    with receiver(statuses(500)) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/")
        scene.stack.stream()
        event = scene.stack.doorbell()
        assert event is not None
        with broken("sqs", "ChangeMessageVisibility", DOWN):
            answered = scene.stack.invoke("send_webhooks", event)
        assert len(answered["batchItemFailures"]) == 1
        assert scene.webhook(ref).failures == 1  # the receiver's own
        assert scene.stack.doorbell() is None


def test_a_hand_over_that_cannot_be_rung_keeps_the_doorbell(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    with receiver(statuses()) as here:
        scene.new_task(f"http://127.0.0.1:{here.port}/")
        scene.stack.stream()
        event = scene.stack.doorbell()
        with (
            broken("sqs", "SendMessageBatch", DOWN),
            mock.patch("builders.events.LambdaContext.get_remaining_time_in_millis", return_value=20_000),
        ):
            answered = scene.stack.invoke("send_webhooks", event)

        assert len(answered["batchItemFailures"]) == 1
        assert own_faults(caplog) == 1
        assert scene.stack.invoke("send_webhooks", event) == {"batchItemFailures": []}
    assert len(here.requests) == 1


def nothing_learnt(*_: object) -> list[Any]:
    raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")


def test_a_resolver_that_is_down_is_our_own_fault_and_a_name_without_servers_is_not(
    scene: Scene, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = socket.getaddrinfo
    monkeypatch.setenv("HERALD_WEBHOOK_ALLOW", "hooks.example:*")
    scene.stack.functions["api"] = load("api")
    with receiver(statuses()) as here:

        def elsewhere(host: str, *rest: Any) -> Any:
            return plain("127.0.0.1" if host == "hooks.example" else host, *rest)

        def servers_down(host: str, *rest: Any) -> Any:
            return nothing_learnt() if host == "hooks.example" else [(socket.AF_INET, 1, 6, "", ("52.94.0.1", 443))]

        def with_lookup(lookup: Any) -> None:
            # A function that starts anew: its resolver keeps the lookup that it was made with.
            monkeypatch.setattr("herald.adapters.dns.SystemResolver.__init__.__defaults__", (lookup, lambda: None))
            scene.stack.functions["api"] = load("api")
            scene.stack.functions["send_webhooks"] = load("send_webhooks")

        with_lookup(elsewhere)
        ref = scene.new_task(f"http://hooks.example:{here.port}/")
        scene.stack.stream()
        event = scene.stack.doorbell()
        caplog.clear()

        with_lookup(nothing_learnt)
        scene.stack.invoke("send_webhooks", event)
        assert own_faults(caplog) == 1
        assert (scene.webhook(ref).state, scene.webhook(ref).failures) == (WebhookState.ACTIVE, 0)

        with_lookup(servers_down)
        scene.stack.invoke("send_webhooks", event)
        assert own_faults(caplog) == 0
        webhook = scene.webhook(ref)
        assert (webhook.state, webhook.failures) == (WebhookState.FAILING, 1)
        assert [attempt.outcome for attempt in scene.webhooks.attempts(webhook)] == ["dns_error"]
        assert here.requests == []


def test_a_fault_of_one_webhook_keeps_no_other_from_being_served(scene: Scene) -> None:
    with receiver(statuses()) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/one")
        config = {"taskId": ref.task_id, "id": "other", "url": f"http://127.0.0.1:{here.port}/other"}
        scene.call("CreateTaskPushNotificationConfig", config)
        scene.stack.stream()
        plain: Any = botocore_client.BaseClient._make_api_call  # type: ignore[attr-defined]

        def make(self: Any, name: str, parameters: Mapping[str, Any]) -> Any:
            if name == "GetItem" and parameters["Key"]["sk"]["S"] == "PUSH#cfg":
                raise DOWN
            return plain(self, name, parameters)

        with mock.patch.object(botocore_client.BaseClient, "_make_api_call", make):
            for _ in range(2):
                event = scene.stack.doorbell()
                assert event is not None
                assert doorbell_from_body(event["Records"][0]["body"]).ref == ref
                scene.stack.invoke("send_webhooks", event)

        scene.append(ref, TaskState.COMPLETED)
    assert [request.split()[1] for request in here.requests] == [b"/other"]
