"""Bearer tokens for receivers: what stands in them, who gets one, and what happens when KMS doesn't sign."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import jwt
import pytest

from builders.deliveries import URL, Road
from builders.records import KEY, a_ref, status_entry
from fakes.clock import START
from fakes.token_key import FakeTokenKey
from fakes.world import answer
from herald.client_secrets import Secrets
from herald.delivery import message
from herald.delivery.retry import Outcome
from herald.delivery.token import BearerTokens
from herald.ports import Unavailable
from herald.records import WebhookState
from herald.webhooks import verify_jwt

BASE = "https://agent.example/prod"
ASKING = Secrets(scheme="Bearer")
SECOND = START // 1000


def road_with(key: FakeTokenKey) -> Road:
    return Road(tokens=BearerTokens(key, BASE))


def send(road: Road, secrets: Secrets | None, **fields: Any) -> Outcome:
    webhook = road.register(secrets=secrets, **fields)
    return road.sender.send(webhook, message.of_entry(status_entry(7, text="halb fertig – ½")))


def token_of(road: Road) -> str:
    scheme, _, token = road.posts()[-1].headers["Authorization"].partition(" ")
    assert scheme == "Bearer"
    return token


def test_the_token_holds_these_claims_and_no_other() -> None:
    road = road_with(FakeTokenKey())

    send(road, ASKING)

    [post] = road.posts()
    assert jwt.get_unverified_header(token_of(road)) == {"alg": "RS256", "kid": "token-key", "typ": "JWT"}
    assert jwt.decode(token_of(road), options={"verify_signature": False}) == {
        "iat": SECOND - 5,
        "exp": SECOND + 295,
        "iss": f"{BASE}/acme",
        "jti": f"msg_{KEY}_000000000007",
        "taskId": a_ref().task_id,
        "request_body_sha256": hashlib.sha256(post.body).hexdigest(),
    }
    assert post.headers["webhook-id"] == f"msg_{KEY}_000000000007"


def test_an_independent_package_verifies_it_with_the_published_key() -> None:
    key = FakeTokenKey()
    road = road_with(key)
    road.clock.set(_real_now())

    send(road, ASKING)

    claims = jwt.decode(
        token_of(road),
        jwt.PyJWK(key.jwk()),
        algorithms=["RS256"],
        issuer=f"{BASE}/acme",
        options={"require": ["iat", "exp", "iss", "jti"]},
    )
    assert claims["taskId"] == a_ref().task_id


def _real_now() -> int:
    from time import time

    return int(time() * 1000)  # PyJWT knows no other clock


def test_our_own_verifier_takes_it_and_nothing_else_in_its_place() -> None:
    key = FakeTokenKey()
    road = road_with(key)

    send(road, ASKING)

    [post] = road.posts()
    jwks = {"keys": [key.jwk()]}
    assert verify_jwt(post.body, post.headers, jwks=jwks, issuer=f"{BASE}/acme", now=SECOND).number == 7


def test_both_ways_to_hash_the_body_give_the_same() -> None:
    """The raw bytes, and what the A2A sample's receiver does: parse it and print it again, compact, in raw UTF-8."""
    road = road_with(FakeTokenKey())

    send(road, ASKING)

    [post] = road.posts()
    printed = json.dumps(json.loads(post.body), ensure_ascii=False, allow_nan=False, indent=None, separators=(",", ":"))
    told = jwt.decode(token_of(road), options={"verify_signature": False})["request_body_sha256"]
    assert hashlib.sha256(printed.encode()).hexdigest() == told


@pytest.mark.parametrize(
    ("tenant", "issuer"),
    [("", BASE), ("acme", f"{BASE}/acme"), ("a/b ü", f"{BASE}/a%2Fb%20%C3%BC")],
)
def test_the_issuer_names_the_tenant_whose_keys_lie_below_it(tenant: str, issuer: str) -> None:
    road = road_with(FakeTokenKey())

    send(road, ASKING, ref=a_ref(tenant=tenant))

    assert jwt.decode(token_of(road), options={"verify_signature": False})["iss"] == issuer


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_c4_bearer_without_credentials_asks_for_a_token_in_any_case(scheme: str) -> None:
    road = road_with(FakeTokenKey())

    send(road, Secrets(scheme=scheme))

    assert token_of(road).count(".") == 2


@pytest.mark.parametrize(
    ("secrets", "authorization"),
    [
        (Secrets(scheme="Bearer", credentials="sek"), "Bearer sek"),
        (Secrets(scheme="Basic", credentials="dXNlcjpwYXNz"), "Basic dXNlcjpwYXNz"),
        (Secrets(scheme="Basic"), None),
        (Secrets(scheme="Digest"), None),
        (Secrets(token="tok"), None),
        (Secrets(), None),
    ],
)
def test_c4_nobody_else_gets_one_and_a_clients_own_credentials_are_never_replaced(
    secrets: Secrets, authorization: str | None
) -> None:
    key = FakeTokenKey()
    road = road_with(key)

    send(road, secrets)

    assert road.posts()[0].headers.get("Authorization") == authorization
    assert key.calls["sign"] == 0


def test_each_attempt_has_a_token_of_its_own_and_the_same_jti() -> None:
    road = road_with(FakeTokenKey())
    road.register(secrets=ASKING)
    road.working(1)
    road.transport.script(URL, 500)

    road.run()
    road.wait(60)

    first, second = (
        jwt.decode(post.headers["Authorization"].partition(" ")[2], options={"verify_signature": False})
        for post in road.posts()
    )
    assert first["jti"] == second["jti"]
    assert (first["iat"], second["iat"]) == (SECOND - 5, SECOND + 55)


@pytest.mark.parametrize("fault", [Unavailable("Sign: KmsThrottled"), LookupError("the tokens' key: disabled")])
def test_kms_that_does_not_sign_is_a_fault_of_ours_and_nothing_is_sent(fault: Exception) -> None:
    key = FakeTokenKey()
    road = road_with(key)
    road.register(secrets=ASKING)
    road.working(1)
    road.ring()
    key.fail_next("sign", fault)

    with pytest.raises(type(fault)):
        road.answer()

    assert road.transport.posts == []
    assert road.watch.attempts == []
    webhook = road.webhook()
    assert (webhook.state, webhook.failures, webhook.attempt) == (WebhookState.ACTIVE, 0, 0)
    road.wait(600)  # the doorbell comes back
    assert road.numbers() == [1]


def test_without_a_key_such_a_webhook_is_sent_without_authorization() -> None:
    road = Road()

    send(road, ASKING)

    assert "Authorization" not in road.posts()[0].headers


def test_a_token_that_a_receiver_echoes_is_not_kept() -> None:
    road = road_with(FakeTokenKey())
    road.transport.script(URL, lambda post: answer(500, post.headers["Authorization"].encode()))

    outcome = send(road, ASKING)

    assert outcome.head == "Bearer [hidden]"
