"""Standard Webhooks signatures, checked by other code than ours."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from standardwebhooks import Webhook as StandardWebhook

from fakes.clock import START, FakeClock
from fakes.secret_versions import FakeVersion, FakeVersions
from herald.client_secrets import hmac_key
from herald.delivery.signing import PublicKey, SigningKeys, sign_v1

BODY = '{"task":{"id":"é"}}'.encode()


OLD = FakeVersion("v-1", "old secret")
NEW = FakeVersion("v-2", "new secret", START)
NEXT = FakeVersion("v-3", "next secret")


def checks(signature: str, key: PublicKey, content: bytes) -> bool:
    version, _, text = signature.partition(",")
    assert version == "v1a"
    try:
        Ed25519PublicKey.from_public_bytes(key.raw).verify(base64.b64decode(text), content)
    except InvalidSignature:
        return False
    return True


def test_v1a_signs_id_timestamp_and_body_with_the_tenants_key() -> None:
    keys = SigningKeys(FakeVersions(NEW))

    [signature] = keys.sign("acme", "msg_k_000000000001", 1_767_225_600, BODY)

    content = b"msg_k_000000000001.1767225600." + BODY
    [public] = keys.public("acme")
    assert checks(signature, public, content)
    assert not checks(signature, public, content + b" ")
    assert not checks(signature, keys.public("other")[0], content)


def test_tenant_and_version_make_the_key_and_nothing_else_does() -> None:
    keys = SigningKeys(FakeVersions(NEW))

    assert keys.public("acme") == SigningKeys(FakeVersions(NEW)).public("acme")
    assert keys.public("acme") != SigningKeys(FakeVersions(FakeVersion("v-9", NEW.text))).public("acme")
    assert keys.public("acme") != SigningKeys(FakeVersions(FakeVersion(NEW.version_id, "x"))).public("acme")
    # "a" + "b1" and "ab" + "1" must not run together.
    joined = {
        SigningKeys(FakeVersions(FakeVersion(version, "s"))).public(tenant)[0]
        for tenant, version in (("a", "b1"), ("ab", "1"), ('a","b', "1"), ("", "ab1"))
    }
    assert len(joined) == 4


def test_a_derived_key_stays_the_same_over_releases() -> None:
    # Receivers pin keys: HKDF-SHA256 of the secret, no salt, info '["herald/webhook/v1a", "acme", "v"]', as the seed.
    [key] = SigningKeys(FakeVersions(FakeVersion("v", "secret"))).public("acme")

    assert key.raw.hex() == "bc919c76452493ae7bbf4bda1ef8c6ffa95c174c13ed1f402554c34dec2e1818"


def test_around_a_rotation_the_newest_key_signs_first_and_the_previous_one_too() -> None:
    keys = SigningKeys(FakeVersions(NEW, pending=NEXT, previous=OLD, clock=FakeClock(START + 3_600_000)))

    first, second = keys.sign("acme", "id", 1, BODY)

    current, previous, pending = keys.public("acme")
    assert checks(first, current, b"id.1." + BODY)
    assert checks(second, previous, b"id.1." + BODY)
    assert not checks(first, pending, b"id.1." + BODY)
    assert SigningKeys(FakeVersions(OLD)).public("acme") == [previous]


def test_one_version_in_two_stages_signs_once() -> None:
    assert len(SigningKeys(FakeVersions(NEW, previous=NEW)).sign("acme", "id", 1, BODY)) == 1


def test_a_secret_without_a_current_version_is_a_fault_of_ours() -> None:
    with pytest.raises(LookupError):
        SigningKeys(FakeVersions(None)).sign("acme", "id", 1, BODY)


def test_a_jwk_is_okp_ed25519_with_the_thumbprint_of_rfc_7638_as_its_id() -> None:
    # RFC 8037, appendix A.3
    key = PublicKey(base64.urlsafe_b64decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo="))

    assert key.jwk == {
        "kty": "OKP",
        "crv": "Ed25519",
        "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
        "use": "sig",
        "alg": "EdDSA",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        "whpk": "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    }


def test_v1_verifies_with_the_standardwebhooks_package() -> None:
    secret = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()
    key = hmac_key(secret)
    assert key == b"0123456789abcdef01234567"
    second = int(datetime.now(UTC).timestamp())  # the package knows no other clock
    signature = sign_v1(key, "msg_k_000000000001", second, BODY)

    headers = {
        "webhook-id": "msg_k_000000000001",
        "webhook-timestamp": str(second),
        "webhook-signature": f"v1a,{'A' * 86}== {signature}",
    }
    assert StandardWebhook(secret).verify(BODY, headers) == {"task": {"id": "é"}}
