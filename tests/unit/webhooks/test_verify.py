"""The receivers' verifier."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from herald.webhooks import Notification, Reason, VerificationError, keys_from_jwks, verify

NOW = 1_767_225_600
ID = "msg_kaaaaaaaaaaaaaaaaaaaaaaaaa_000000000007"
BODY = '{"statusUpdate":{"taskId":"t-1","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"é":1.10}}'.encode()
SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()

PRIVATE, OTHER = (Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32) for n in (1, 2))


def b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def jwk(key: Ed25519PrivateKey) -> dict[str, str]:
    x = base64.urlsafe_b64encode(key.public_key().public_bytes_raw()).rstrip(b"=").decode()
    return {"kty": "OKP", "crv": "Ed25519", "kid": "k", "use": "sig", "alg": "EdDSA", "x": x}


JWKS = {"keys": [jwk(PRIVATE)]}


def content(second: int = NOW, body: bytes = BODY) -> bytes:
    return f"{ID}.{second}.".encode() + body


def v1a(second: int = NOW, body: bytes = BODY, key: Ed25519PrivateKey = PRIVATE) -> str:
    return "v1a," + b64(key.sign(content(second, body)))


def v1(second: int = NOW, body: bytes = BODY, secret: str = SECRET) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + b64(hmac.new(key, content(second, body), hashlib.sha256).digest())


def headers(signature: str, second: int | str = NOW, **more: str) -> dict[str, str]:
    return {"Webhook-Id": ID, "Webhook-Timestamp": str(second), "Webhook-Signature": signature, **more}


def refused(body: bytes, told: dict[str, str], **how: Any) -> Reason:
    with pytest.raises(VerificationError) as error:
        verify(body, told, **{"jwks": JWKS, "now": NOW, **how})
    return error.value.reason


def test_a_v1a_signature_is_verified_with_the_published_keys() -> None:
    notification = verify(BODY, headers(v1a()), jwks=JWKS, now=NOW)

    assert notification == Notification(ID, NOW, 7, "statusUpdate", json.loads(BODY))
    assert notification.task_id == "t-1"
    assert notification.content["status"] == {"state": "TASK_STATE_WORKING"}


def test_a_v1_signature_is_verified_with_the_receivers_own_secret() -> None:
    assert verify(BODY, headers(v1()), secret=SECRET, now=NOW).id == ID


@pytest.mark.parametrize(
    "key", [PRIVATE.public_key(), "whpk_" + b64(PRIVATE.public_key().public_bytes_raw())], ids=["object", "whpk"]
)
def test_a_key_may_be_given_by_itself(key: Ed25519PublicKey | str) -> None:
    assert verify(BODY, headers(v1a()), keys=[key], now=NOW).id == ID


def test_one_fitting_signature_among_several_is_enough() -> None:
    told = headers(f"{v1a(key=OTHER)} v1,{b64(bytes(32))} v2,AAAA {v1a()}")

    assert verify(BODY, told, jwks=JWKS, now=NOW).id == ID


def test_one_fitting_key_among_several_is_enough() -> None:
    assert verify(BODY, headers(v1a()), jwks={"keys": [jwk(OTHER), jwk(PRIVATE)]}, now=NOW).id == ID
    other = "whsec_" + b64(bytes(32))
    assert verify(BODY, headers(v1()), secret=[other, SECRET], now=NOW).id == ID


def test_header_names_are_read_in_any_case() -> None:
    told = {name.upper(): value for name, value in headers(v1a()).items()}

    assert verify(BODY, told, jwks=JWKS, now=NOW).id == ID


def test_the_body_must_be_raw_bytes() -> None:
    with pytest.raises(TypeError, match="raw body as bytes"):
        verify(BODY.decode(), headers(v1a()), jwks=JWKS, now=NOW)  # type: ignore[arg-type]


@pytest.mark.parametrize("second", [NOW - 300, NOW, NOW + 300])
def test_within_five_minutes_it_is_accepted(second: int) -> None:
    assert verify(BODY, headers(v1a(second), second), jwks=JWKS, now=NOW).timestamp == second


def test_an_old_notification_may_be_a_replay() -> None:
    assert refused(BODY, headers(v1a(NOW - 301), NOW - 301)) is Reason.TOO_OLD
    assert refused(BODY, headers(v1a(NOW - 61), NOW - 61), tolerance=60) is Reason.TOO_OLD


def test_a_notification_from_the_future_tells_of_a_wrong_clock() -> None:
    assert refused(BODY, headers(v1a(NOW + 301), NOW + 301)) is Reason.TOO_NEW


def test_this_machines_clock_is_used_where_no_time_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("herald.webhooks.time.time", lambda: NOW + 1_000.0)

    with pytest.raises(VerificationError) as error:
        verify(BODY, headers(v1a()), jwks=JWKS)
    assert error.value.reason is Reason.TOO_OLD


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (BODY + b" ", headers(v1a())),
        (BODY.replace(b"1.10", b"1.1"), headers(v1a())),
        (BODY, headers(v1a(), NOW + 1)),
        (BODY, headers(v1a(), **{"Webhook-Id": ID.replace("7", "8")})),
        (BODY, headers(v1a(key=OTHER))),
        (BODY, headers("v1a," + b64(bytes(64)))),
        (BODY, headers("v1a," + b64(bytes(63)))),
        (BODY, headers("v1a,")),
        (BODY, headers(v1a().replace("v1a,", "v1,"))),
        (BODY, headers(v1a().replace("v1a,", "v9,"))),
        (BODY, headers(v1())),
    ],
)
def test_what_was_changed_or_signed_by_another_is_refused(body: bytes, told: dict[str, str]) -> None:
    assert refused(body, told) is Reason.WRONG_SIGNATURE


def test_a_v1_signature_of_another_secret_is_refused() -> None:
    assert refused(BODY, headers(v1(secret="whsec_" + b64(bytes(32)))), secret=SECRET) is Reason.WRONG_SIGNATURE


def test_a_public_key_is_never_taken_for_an_hmac_secret() -> None:
    raw = PRIVATE.public_key().public_bytes_raw()
    forged = "v1," + b64(hmac.new(raw, content(), hashlib.sha256).digest())

    assert refused(BODY, headers(forged)) is Reason.WRONG_SIGNATURE


@pytest.mark.parametrize("name", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
def test_each_header_must_be_there(name: str) -> None:
    told = headers(v1a())
    del told[name]

    assert refused(BODY, told) is Reason.MISSING_HEADER
    assert refused(BODY, {**told, name: ""}) is Reason.MISSING_HEADER


def test_a_header_that_is_there_twice_is_refused() -> None:
    assert refused(BODY, {**headers(v1a()), "webhook-id": "x"}) is Reason.MISSING_HEADER


@pytest.mark.parametrize("second", ["", "now", "1.5", "-1", "+1", " 1767225600", "1767225600\n", "٣", "9" * 13])
def test_a_timestamp_is_digits_only(second: str) -> None:
    assert refused(BODY, headers(v1a(), second)) in (Reason.MALFORMED_HEADER, Reason.MISSING_HEADER)


@pytest.mark.parametrize("signature", ["v1a", "v1a:AAAA", "v1a,!!!!", "v1a,AAA", "v1a,AA==AA", "v1a,a,b"])
def test_a_signature_is_version_and_base64(signature: str) -> None:
    assert refused(BODY, headers(signature)) is Reason.MALFORMED_HEADER


def test_no_more_than_sixteen_signatures_are_looked_at() -> None:
    assert refused(BODY, headers(" ".join([v1a(key=OTHER)] * 16 + [v1a()]))) is Reason.WRONG_SIGNATURE


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"7",
        b"not json",
        b"{}",
        b'{"id":"t"}',
        b'{"task":[]}',
        b'{"task":{},"message":{}}',
        b"\xff",
    ],
)
def test_a_genuine_body_that_is_no_stream_response_is_told_apart(body: bytes) -> None:
    assert refused(body, headers(v1a(body=body))) is Reason.UNKNOWN_BODY


@pytest.mark.parametrize(
    ("event", "kind", "task_id"),
    [
        ({"task": {"id": "t-1"}}, "task", "t-1"),
        ({"message": {"messageId": "m"}}, "message", ""),
        ({"artifactUpdate": {"taskId": "t-1"}}, "artifactUpdate", "t-1"),
    ],
)
def test_every_kind_of_event_is_read(event: dict[str, Any], kind: str, task_id: str) -> None:
    body = json.dumps(event).encode()

    notification = verify(body, headers(v1a(body=body)), jwks=JWKS, now=NOW)

    assert (notification.kind, notification.task_id) == (kind, task_id)


def test_an_id_of_another_form_has_no_number() -> None:
    message_id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    signature = "v1a," + b64(PRIVATE.sign(f"{message_id}.{NOW}.".encode() + BODY))

    told = headers(signature, **{"Webhook-Id": message_id})

    assert verify(BODY, told, jwks=JWKS, now=NOW).number is None


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"jwks": {"keys": []}},
        {"jwks": {}},
        {"jwks": {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AAAA"}]}},
        {"keys": ["whpk_AAAA"]},
        {"keys": ["MCowBQYDK2VwAyEA"]},
        {"secret": ""},
        {"secret": "whsec_AAAA"},
        {"secret": "whsec_!"},
    ],
)
def test_a_key_that_is_missing_or_damaged_is_the_callers_mistake(how: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"key|secret|JWK"):
        verify(BODY, headers(v1a()), now=NOW, **how)


def test_keys_of_other_kinds_are_passed_over() -> None:
    mixed = {"keys": [{"kty": "RSA", "n": "x", "e": "AQAB"}, {"kty": "OKP", "crv": "X25519", "x": "A"}, jwk(PRIVATE)]}

    assert [key.public_bytes_raw() for key in keys_from_jwks(mixed)] == [PRIVATE.public_key().public_bytes_raw()]


def test_an_error_tells_why_in_words() -> None:
    with pytest.raises(VerificationError, match="no signature of the notification fits any of the keys"):
        verify(BODY, headers(v1a(key=OTHER)), jwks=JWKS, now=NOW)


@given(
    st.binary(max_size=200), st.dictionaries(st.sampled_from(["webhook-id", "webhook-timestamp"]), st.text()), st.text()
)
def test_no_input_is_accepted_by_chance_or_breaks_the_verifier(
    body: bytes, told: dict[str, str], signature: str
) -> None:
    with pytest.raises(VerificationError):
        verify(body, {**headers(signature), **told}, jwks=JWKS, secret=SECRET, now=NOW)
