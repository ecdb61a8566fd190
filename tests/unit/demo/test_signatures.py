"""Given a notification, then each of its signatures is checked on its own, over the bytes that arrived."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from decimal import Decimal

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from demo.signatures import Checks, new_secret, read

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
OTHER = Ed25519PrivateKey.from_private_bytes(b"o" * 32)
SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
BODY = '{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_WORKING","message":"é"}}}'.encode()


def jwks(key: Ed25519PrivateKey = KEY) -> dict[str, object]:
    x = base64.urlsafe_b64encode(key.public_key().public_bytes_raw()).decode().rstrip("=")
    return {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x}]}


def headers(*, body: bytes = BODY, secret: bytes = b"s" * 32, key: Ed25519PrivateKey = KEY) -> dict[str, str]:
    message_id, second = "msg_k_000000000002", str(int(time.time()))
    content = f"{message_id}.{second}.".encode() + body
    v1 = base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest()).decode()
    v1a = base64.b64encode(key.sign(content)).decode()
    return {"Webhook-Id": message_id, "Webhook-Timestamp": second, "Webhook-Signature": f"v1a,{v1a} v1,{v1}"}


def test_both_signatures_of_a_genuine_notification_hold() -> None:
    assert Checks(SECRET, jwks()).faults(BODY, headers()) == {"v1": "", "v1a": ""}


def test_a_changed_body_holds_neither() -> None:
    faults = Checks(SECRET, jwks()).faults(BODY.replace(b"WORKING", b"FAILED"), headers())
    assert all(faults.values())


def test_a_false_v1_is_told_though_v1a_holds() -> None:
    faults = Checks(SECRET, jwks()).faults(BODY, headers(secret=b"x" * 32))
    assert (bool(faults["v1"]), faults["v1a"]) == (True, "")


def test_a_false_v1a_is_told_though_v1_holds() -> None:
    faults = Checks(SECRET, jwks()).faults(BODY, headers(key=OTHER))
    assert (faults["v1"], bool(faults["v1a"])) == ("", True)


@pytest.mark.parametrize("version", ["v1", "v1a"])
def test_a_missing_signature_is_told(version: str) -> None:
    kept = headers()
    tokens = [token for token in kept["Webhook-Signature"].split() if not token.startswith(f"{version},")]
    faults = Checks(SECRET, jwks()).faults(BODY, kept | {"Webhook-Signature": " ".join(tokens)})
    assert [check for check, fault in faults.items() if fault] == [version]


def test_without_headers_neither_holds() -> None:
    assert all(Checks(SECRET, jwks()).faults(BODY, {}).values())


def test_a_new_secret_is_one_that_standard_webhooks_takes() -> None:
    one, other = new_secret(), new_secret()
    assert one != other
    assert len(base64.b64decode(one.removeprefix("whsec_"))) == 32
    assert Checks(one, {"keys": []}).faults(BODY, headers())["v1"] == "No matching signature found"


def test_the_secret_is_not_shown() -> None:
    assert SECRET not in repr(Checks(SECRET, jwks()))


def test_numbers_are_read_digit_for_digit_and_rubbish_is_nothing() -> None:
    assert read(b'{"task":{"n":1.10}}') == {"task": {"n": Decimal("1.10")}}
    assert read(b"\xff{") == {}
    assert read(b"[1]") == {}
