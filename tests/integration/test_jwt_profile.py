"""The JWT profile through the functions: KMS signs, publish_keys publishes, and PyJWT is the receiver's."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import boto3
import jwt
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from moto import mock_aws

from builders.events import rest_event
from builders.kms import digests_signed
from builders.receivers import answering, receiver
from builders.stores import AWS_ENVIRONMENT, REGION
from herald.protocol.states import TaskState
from herald.records import WebhookState
from integration.delivery_scene import Scene, got, statuses
from integration.pump import deployed, load

ISSUER = "https://api7.execute-api.eu-central-1.amazonaws.com/prod"
Request = tuple[dict[str, str], bytes]


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    for name, value in AWS_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with mock_aws(), digests_signed():
        key = boto3.client("kms", region_name=REGION).create_key(KeySpec="RSA_2048", KeyUsage="SIGN_VERIFY")
        environ = {
            "HERALD_WEBHOOK_ALLOW": "127.0.0.1:*",
            "HERALD_WEBHOOK_TOKEN_KEY": key["KeyMetadata"]["Arn"],
            "HERALD_API_ID": "api7",
            "HERALD_STAGE": "prod",
        }
        with deployed(environ) as stack:
            for function in ("api", "publish_keys", "ring_webhooks", "send_webhooks"):
                stack.functions[function] = load(function)
            yield Scene(stack)


def requests_of(here: Any) -> list[Request]:
    found = []
    for request in here.requests:
        head, _, body = request.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")[1:]
        found.append(({name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}, body))
    return found


def sample_receiver(keys: jwt.PyJWKClient, headers: dict[str, str], body: bytes) -> dict[str, Any]:
    """What the A2A samples' receiver does: the key by its kid, RS256, no audience asked for, the body printed again."""
    scheme, _, token = headers["authorization"].partition(" ")
    assert scheme == "Bearer"
    claims: dict[str, Any] = jwt.decode(
        token,
        keys.get_signing_key_from_jwt(token).key,
        algorithms=["RS256"],
        options={"require": ["iat", "request_body_sha256"]},
    )
    printed = json.dumps(json.loads(body), ensure_ascii=False, allow_nan=False, indent=None, separators=(",", ":"))
    assert hashlib.sha256(printed.encode()).hexdigest() == claims["request_body_sha256"]
    assert 0 < time.time() - claims["iat"] < 300
    return claims


def test_the_samples_receiver_takes_each_notification_of_a_task(scene: Scene) -> None:
    with receiver(statuses()) as here:
        url = f"http://127.0.0.1:{here.port}/hook"
        ref = scene.new_task(url, authentication={"scheme": "Bearer"})
        scene.stack.pump()
        scene.append(ref, TaskState.WORKING)
        scene.append(ref, TaskState.COMPLETED)
        scene.stack.pump()

    published = scene.stack.invoke("publish_keys", rest_event("GET", "/.well-known/jwks.json"))["body"].encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/jwk-set+json\r\nContent-Length: {len(published)}\r\n\r\n"
    with receiver(answering(head.encode() + published)) as jwks:
        keys = jwt.PyJWKClient(f"http://127.0.0.1:{jwks.port}/.well-known/jwks.json")
        told = [sample_receiver(keys, headers, body) for headers, body in requests_of(here)]

    assert len(told) == 3
    assert {claims["iss"] for claims in told} == {ISSUER}
    assert {claims["taskId"] for claims in told} == {ref.task_id}
    assert [claims["jti"] for claims in told] == [headers["webhook-id"] for headers, _ in requests_of(here)]
    assert not {"aud", "sub", "nbf"} & told[0].keys()
    assert [one.kind for one in got(here, scene.jwks())] == ["task", "statusUpdate", "statusUpdate"]  # v1a beside it


def test_a_client_is_shown_the_scheme_that_it_gave_and_no_token(scene: Scene) -> None:
    with receiver(statuses()) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/hook", authentication={"scheme": "Bearer"})
        scene.stack.pump()

    shown = scene.call("GetTaskPushNotificationConfig", {"taskId": ref.task_id, "id": "cfg"})

    assert shown["authentication"] == {"scheme": "Bearer"}


def test_while_kms_refuses_nothing_is_sent_and_nothing_counts_against_the_receiver(scene: Scene) -> None:
    plain = BaseClient._make_api_call  # type: ignore[attr-defined]
    refusing = [True]

    def call(self: Any, operation: str, parameters: Any) -> Any:
        if operation == "Sign" and refusing:
            raise ClientError({"Error": {"Code": "KMSInvalidStateException", "Message": "planted"}}, operation)
        return plain(self, operation, parameters)

    with receiver(statuses()) as here, mock.patch.object(BaseClient, "_make_api_call", call):
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/hook", authentication={"scheme": "Bearer"})
        scene.stack.pump()
        assert here.requests == []
        webhook = scene.webhook(ref)
        assert (webhook.state, webhook.failures, webhook.snapshot_due) == (WebhookState.ACTIVE, 0, True)
        assert scene.webhooks.attempts(webhook) == []
        refusing.clear()
        scene.stack.invoke("send_webhooks", scene.stack.called("send_webhooks")[0])

    assert len(here.requests) == 1
