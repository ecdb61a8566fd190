"""Independent verifiers take what we send, and ours take what they sign: standardwebhooks and svix in both languages,
and the rules of the A2A samples' receiver for JWTs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any, Protocol

import jwt
import pytest
import standardwebhooks
import svix.webhooks

from builders.js_verifier import js_verifier
from builders.receivers import answering, receiver
from builders.sending import ASKING, SECRET, Change, Delivered, Published, Request, published, unchanged, with_token
from herald.client_secrets import Secrets
from herald.webhooks import Reason, VerificationError, verify, verify_jwt

OK = b"HTTP/1.1 204 No Content\r\n\r\n"


@pytest.fixture(scope="module")
def keys() -> Iterator[Published]:
    with published() as keys:
        yield keys


def sent(keys: Published, change: Change = unchanged, secrets: Secrets = ASKING) -> list[Request]:
    """What a receiver gets of a short task."""
    with receiver(answering(OK)) as here:
        found = Delivered(keys, f"http://127.0.0.1:{here.port}/hook", change, secrets=secrets)
    assert [outcome for outcome, *_ in found.answers] == ["delivered"] * 4
    return found.between.sent


class Library(Protocol):
    """What the packages have in common."""

    def __init__(self, whsecret: str) -> None: ...

    def verify(self, data: bytes, headers: dict[str, str]) -> Any: ...

    def sign(self, msg_id: str, timestamp: datetime, data: str) -> str: ...


LIBRARIES: dict[str, tuple[type[Library], type[Exception]]] = {
    "standardwebhooks": (standardwebhooks.Webhook, standardwebhooks.WebhookVerificationError),
    "svix": (svix.webhooks.Webhook, svix.webhooks.WebhookVerificationError),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_v1_is_taken_by_python_s_packages(library: str, keys: Published) -> None:
    webhook, refusal = LIBRARIES[library]
    receiving = webhook(SECRET)

    for headers, body in sent(keys, secrets=Secrets(token=SECRET)):
        assert headers["webhook-signature"].startswith("v1a,")  # which they don't know, and step over
        receiving.verify(body, headers)
        with pytest.raises(refusal):
            receiving.verify(body + b" ", headers)


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_python_s_packages_sign_is_taken(library: str) -> None:
    webhook, _ = LIBRARIES[library]
    body, second = '{"task":{"id":"t-1","é":"✓"}}', int(time())
    signature = webhook(SECRET).sign("msg_1", datetime.fromtimestamp(second, UTC), body)
    headers = {"webhook-id": "msg_1", "webhook-timestamp": str(second), "webhook-signature": signature}

    assert verify(body.encode(), headers, secret=SECRET).task_id == "t-1"
    with pytest.raises(VerificationError) as refused:
        verify(body.encode() + b" ", headers, secret=SECRET)
    assert refused.value.reason is Reason.WRONG_SIGNATURE


def test_javascript_s_packages_and_ours_agree(keys: Published, tmp_path: Path) -> None:
    all_three = Secrets(token=SECRET, scheme="Bearer")
    messages = [{"headers": headers, "body": body.decode()} for headers, body in sent(keys, secrets=all_three)]
    file = tmp_path / "sent.json"
    file.write_text(json.dumps({"secret": SECRET, "jwks": keys.jwks, "issuer": keys.issuer, "messages": messages}))

    told = js_verifier().run("--test", "--test-reporter=tap", "test/interoperability.test.js", SENT=str(file))

    assert "\n# pass 4\n" in told
    assert "\n# skipped 0\n" in told


class SampleReceiver:
    """The rules by which the A2A samples' receiver takes a notification."""

    def __init__(self, jwks_url: str) -> None:
        self._keys = jwt.PyJWKClient(jwks_url)

    def objection(self, headers: Mapping[str, str], body: bytes) -> str:
        """Why it isn't taken; "" when it is."""
        authorization = headers.get("Authorization", "")
        if not authorization.startswith("Bearer "):
            return "no token"
        token = authorization.removeprefix("Bearer ")
        try:
            key = self._keys.get_signing_key_from_jwt(token)
            required = ["iat", "request_body_sha256"]
            claims = jwt.decode(token, key, algorithms=["RS256"], options={"require": required})
        except jwt.PyJWTError as error:
            return type(error).__name__
        if time() - claims["iat"] > 300:
            return "too old"
        printed = json.dumps(json.loads(body), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return "" if hashlib.sha256(printed.encode()).hexdigest() == claims["request_body_sha256"] else "another body"


def test_the_samples_receiver_takes_our_tokens_beside_keys_of_every_kind(keys: Published) -> None:
    sample = SampleReceiver(keys.url)

    requests = sent(keys)

    assert [sample.objection(*request) for request in requests] == [""] * 4
    for headers, body in requests:
        assert verify_jwt(body, headers, jwks=keys.jwks, issuer=keys.issuer).id == headers["webhook-id"]


class Later(int):
    """Seconds after the test's own moment."""


@pytest.mark.parametrize(
    ("claims", "objection", "reason"),
    [
        ({"aud": "https://client.example"}, "InvalidAudienceError", Reason.WRONG_CLAIMS),
        ({"iat": Later(3_600)}, "ImmatureSignatureError", Reason.TOO_NEW),
        ({"exp": Later(-1)}, "ExpiredSignatureError", Reason.TOO_OLD),
        ({"iat": Later(-301)}, "too old", Reason.TOO_OLD),
        ({"iat": None}, "MissingRequiredClaimError", Reason.WRONG_CLAIMS),
        ({"request_body_sha256": None}, "MissingRequiredClaimError", Reason.WRONG_CLAIMS),
        ({"request_body_sha256": "00" * 32}, "another body", Reason.WRONG_BODY),
    ],
    ids=lambda one: ",".join(one) if isinstance(one, dict) else None,
)
def test_what_the_samples_receiver_refuses_ours_refuses_too(
    claims: dict[str, Any], objection: str, reason: Reason, keys: Published
) -> None:
    told = {name: int(time()) + value if isinstance(value, Later) else value for name, value in claims.items()}

    headers, body = sent(keys, with_token(keys.foreign, **told))[0]

    assert SampleReceiver(keys.url).objection(headers, body) == objection
    with pytest.raises(VerificationError) as refused:
        verify_jwt(body, headers, jwks=keys.jwks, issuer=None)
    assert refused.value.reason is reason
