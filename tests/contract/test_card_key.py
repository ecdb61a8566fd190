"""CardSigner and CardKey: what every key of the card must do, and what KMS's does beyond."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from unittest import mock

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError
from joserfc.jwk import ECKey
from joserfc.jws import JWSRegistry, deserialize_compact

from builders.kms import digests_signed
from fakes.card_key import FakeCardKey
from herald.adapters.aws import AwsClients
from herald.adapters.kms import KmsCardKey
from herald.ports import Unavailable

Key = FakeCardKey | KmsCardKey

HEADER = "eyJhbGciOiJFUzI1NiJ9"  # {"alg":"ES256"}


@pytest.fixture
def arn(aws: AwsClients) -> str:
    return aws.kms.create_key(KeySpec="ECC_NIST_P256", KeyUsage="SIGN_VERIFY")["KeyMetadata"]["Arn"]


@pytest.fixture
def kms(aws: AwsClients, arn: str) -> Iterator[KmsCardKey]:
    with digests_signed():
        yield KmsCardKey(lambda: aws.kms, arn)


@pytest.fixture(params=["fake", "kms"])
def key(request: pytest.FixtureRequest) -> Key:
    found: Key = FakeCardKey() if request.param == "fake" else request.getfixturevalue("kms")
    return found


def verified(key: Key, payload: str) -> bool:
    """Whether an independent implementation takes a signature of this key for ES256."""
    content = f"{HEADER}.{base64.urlsafe_b64encode(payload.encode()).rstrip(b'=').decode()}"
    signature = base64.urlsafe_b64encode(key.sign(content.encode())).rstrip(b"=").decode()
    registry = JWSRegistry(algorithms=["ES256"])
    found = deserialize_compact(f"{content}.{signature}", ECKey.import_key({**key.jwk()}), registry=registry)
    return found.payload == payload.encode()


@pytest.mark.parametrize("payload", ["{}", "x" * 10_000])
def test_the_public_key_verifies_what_the_private_one_signs(key: Key, payload: str) -> None:
    assert verified(key, payload)


def test_a_signature_is_r_and_s_at_their_full_length(key: Key) -> None:
    assert {len(key.sign(str(number).encode())) for number in range(40)} == {64}


def test_the_key_bears_the_name_that_signatures_carry(key: Key) -> None:
    jwk = key.jwk()

    assert {name: jwk[name] for name in ("kty", "crv", "use", "alg", "kid")} == {
        "kty": "EC",
        "crv": "P-256",
        "use": "sig",
        "alg": "ES256",
        "kid": key.kid,
    }
    assert set(jwk) == {"kty", "crv", "use", "alg", "kid", "x", "y"}


def test_who_may_only_sign_knows_the_keys_name(arn: str) -> None:
    def no_client() -> None:
        raise AssertionError("KMS was asked")

    assert KmsCardKey(no_client, arn).kid == arn.split("/")[1]  # type: ignore[arg-type]


def test_a_key_is_read_once_in_the_life_of_a_process(aws: AwsClients, kms: KmsCardKey) -> None:
    first = kms.jwk()
    with mock.patch.object(aws.kms, "get_public_key", side_effect=AssertionError("asked again")):
        assert kms.jwk() == first


def test_a_disabled_key_is_gone(aws: AwsClients, kms: KmsCardKey, arn: str) -> None:
    aws.kms.disable_key(KeyId=kms.kid)
    disabled = ClientError({"Error": {"Code": "DisabledException", "Message": arn}}, "Sign")
    with (
        mock.patch.object(aws.kms, "sign", side_effect=disabled),
        pytest.raises(LookupError, match="DisabledException"),
    ):
        kms.sign(b"x")


def test_a_key_that_never_was_is_gone(aws: AwsClients) -> None:
    none = KmsCardKey(lambda: aws.kms, "arn:aws:kms:eu-central-1:123456789012:key/00000000-0000-0000-0000-000000000000")
    with pytest.raises(LookupError, match="NotFoundException"):
        none.sign(b"x")
    with pytest.raises(LookupError, match="NotFoundException"):
        none.jwk()


def test_a_key_of_another_kind_is_none_of_the_cards(aws: AwsClients) -> None:
    arn = aws.kms.create_key(KeySpec="RSA_2048", KeyUsage="SIGN_VERIFY")["KeyMetadata"]["Arn"]
    with pytest.raises(LookupError, match="ECC_NIST_P256"):
        KmsCardKey(lambda: aws.kms, arn).jwk()


@pytest.mark.parametrize("method", ["sign", "get_public_key"])
def test_a_service_that_does_not_answer_is_unavailable(aws: AwsClients, kms: KmsCardKey, method: str) -> None:
    silent = ConnectTimeoutError(endpoint_url="https://kms.eu-central-1.amazonaws.com")
    with mock.patch.object(aws.kms, method, side_effect=silent), pytest.raises(Unavailable):
        kms.sign(b"x") if method == "sign" else kms.jwk()


def test_a_right_that_is_missing_is_a_fault_of_the_deployment(aws: AwsClients, kms: KmsCardKey) -> None:
    denied = ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "Sign")
    with mock.patch.object(aws.kms, "sign", side_effect=denied), pytest.raises(ClientError):
        kms.sign(b"x")
