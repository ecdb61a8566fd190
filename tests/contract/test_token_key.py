"""TokenSigner and TokenKey: what every key of receivers' tokens must do, and what KMS's does beyond."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import jwt
import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError

from builders.kms import digests_signed
from fakes.token_key import FakeTokenKey
from herald.adapters.aws import AwsClients
from herald.adapters.kms import KmsTokenKey
from herald.ports import Unavailable

Key = FakeTokenKey | KmsTokenKey


@pytest.fixture
def arn(aws: AwsClients) -> str:
    return aws.kms.create_key(KeySpec="RSA_2048", KeyUsage="SIGN_VERIFY")["KeyMetadata"]["Arn"]


@pytest.fixture
def kms(aws: AwsClients, arn: str) -> Iterator[KmsTokenKey]:
    with digests_signed():
        yield KmsTokenKey(lambda: aws.kms, arn)


@pytest.fixture(params=["fake", "kms"])
def key(request: pytest.FixtureRequest) -> Key:
    found: Key = FakeTokenKey() if request.param == "fake" else request.getfixturevalue("kms")
    return found


@pytest.mark.parametrize("content", [b"x", b"x" * 10_000])
def test_an_independent_package_verifies_for_rs256_what_it_signs(key: Key, content: bytes) -> None:
    public = jwt.PyJWK(key.jwk())

    assert public.Algorithm.verify(content, public.key, key.sign(content))
    assert not public.Algorithm.verify(content + b"x", public.key, key.sign(content))
    assert len(key.sign(content)) == 256


def test_the_key_bears_the_name_that_tokens_carry(key: Key) -> None:
    jwk = key.jwk()

    assert {name: jwk[name] for name in ("kty", "use", "alg", "kid", "e")} == {
        "kty": "RSA",
        "use": "sig",
        "alg": "RS256",
        "kid": key.kid,
        "e": "AQAB",
    }
    assert set(jwk) == {"kty", "use", "alg", "kid", "e", "n"}
    assert len(jwk["n"]) == 342


def test_who_may_only_sign_knows_the_keys_name(arn: str) -> None:
    def no_client() -> None:
        raise AssertionError("KMS was asked")

    assert KmsTokenKey(no_client, arn).kid == arn.split("/")[1]  # type: ignore[arg-type]


def test_a_signature_is_one_request_and_sends_a_digest(aws: AwsClients, kms: KmsTokenKey, arn: str) -> None:
    with mock.patch.object(aws.kms, "sign", wraps=aws.kms.sign) as asked:
        kms.sign(b"x" * 10_000)

    [call] = asked.call_args_list
    assert (call.kwargs["KeyId"], call.kwargs["MessageType"]) == (arn, "DIGEST")
    assert call.kwargs["SigningAlgorithm"] == "RSASSA_PKCS1_V1_5_SHA_256"
    assert len(call.kwargs["Message"]) == 32


def test_a_key_is_read_once_in_the_life_of_a_process(aws: AwsClients, kms: KmsTokenKey) -> None:
    first = kms.jwk()
    with mock.patch.object(aws.kms, "get_public_key", side_effect=AssertionError("asked again")):
        assert kms.jwk() == first


@pytest.mark.parametrize("code", ["DisabledException", "KMSInvalidStateException", "NotFoundException"])
def test_a_key_that_is_disabled_or_deleted_is_gone(aws: AwsClients, kms: KmsTokenKey, code: str) -> None:
    gone = ClientError({"Error": {"Code": code, "Message": ""}}, "Sign")
    with mock.patch.object(aws.kms, "sign", side_effect=gone), pytest.raises(LookupError, match=code):
        kms.sign(b"x")


@pytest.mark.parametrize("spec", ["ECC_NIST_P256", "RSA_4096"])
def test_a_key_of_another_kind_is_none_of_the_tokens(aws: AwsClients, spec: str) -> None:
    arn = aws.kms.create_key(KeySpec=spec, KeyUsage="SIGN_VERIFY")["KeyMetadata"]["Arn"]  # type: ignore[arg-type]
    with pytest.raises(LookupError, match="RSA_2048"):
        KmsTokenKey(lambda: aws.kms, arn).jwk()


@pytest.mark.parametrize("method", ["sign", "get_public_key"])
def test_a_service_that_does_not_answer_is_unavailable(aws: AwsClients, kms: KmsTokenKey, method: str) -> None:
    silent = ConnectTimeoutError(endpoint_url="https://kms.eu-central-1.amazonaws.com")
    with mock.patch.object(aws.kms, method, side_effect=silent), pytest.raises(Unavailable):
        kms.sign(b"x") if method == "sign" else kms.jwk()
