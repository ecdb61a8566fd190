"""The asymmetric keys in KMS, whose private halves stay there: of the Agent Card, and of the tokens for receivers."""

from __future__ import annotations

import base64
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal

from botocore.exceptions import ClientError

from herald.adapters.aws import call, code_of

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient

BYTES = 32  # of a coordinate, and of r and s, on P-256
RSA_BITS = 2_048

GONE = frozenset({"DisabledException", "KMSInvalidStateException", "NotFoundException"})


class KmsKey(ABC):
    """An asymmetric key of KMS (SIGN_VERIFY).

    ``sign`` needs the right kms:Sign and ``jwk`` kms:GetPublicKey: no function has both for one key.

    Args:
        client: makes the client, or hands out the one there is.
        arn: of the key. Its last part, the key's id, is the ``kid``: who may only sign knows that, too.
    """

    whose: ClassVar[str]
    algorithm: ClassVar[Literal["ECDSA_SHA_256", "RSASSA_PKCS1_V1_5_SHA_256"]]

    def __init__(self, client: Callable[[], KMSClient], arn: str) -> None:
        self._client = client
        self._arn = arn
        self._jwk: dict[str, str] | None = None

    @property
    def kid(self) -> str:
        return self._arn.rpartition("/")[2]

    def sign(self, content: bytes) -> bytes:
        """One request. The digest is sent: KMS takes 4,096 bytes at most, and what is signed may be longer."""
        try:
            answer = call(
                self._client().sign,
                KeyId=self._arn,
                Message=hashlib.sha256(content).digest(),
                MessageType="DIGEST",
                SigningAlgorithm=self.algorithm,
            )
        except ClientError as error:
            raise self._told(error) from error
        return self._raw(answer["Signature"])

    def jwk(self) -> dict[str, str]:
        """One request in the life of the process: a key of KMS never changes."""
        if self._jwk is None:
            try:
                answer = call(self._client().get_public_key, KeyId=self._arn)
            except ClientError as error:
                raise self._told(error) from error
            self._jwk = {"kid": self.kid, "use": "sig", **self._numbers(answer["PublicKey"])}
        return self._jwk

    def _raw(self, signature: bytes) -> bytes:
        """A signature as JOSE writes it."""
        return signature

    @abstractmethod
    def _numbers(self, der: bytes) -> dict[str, str]:
        """What a JWK says of the public key; LookupError when it is one of another kind."""

    def _told(self, error: ClientError) -> Exception:
        """A key that is gone or disabled as LookupError; anything else as it is."""
        return LookupError(f"{self.whose}: {code_of(error)}") if code_of(error) in GONE else error


class KmsCardKey(KmsKey):
    """A key of ECC_NIST_P256; implements the ports CardSigner and CardKey."""

    whose = "the card's key"
    algorithm = "ECDSA_SHA_256"

    def _raw(self, signature: bytes) -> bytes:
        # Loaded where a card is signed, so that no other start of the function pays for it.
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        r, s = decode_dss_signature(signature)
        return r.to_bytes(BYTES, "big") + s.to_bytes(BYTES, "big")

    def _numbers(self, der: bytes) -> dict[str, str]:
        from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
        from cryptography.hazmat.primitives.serialization import load_der_public_key

        key = load_der_public_key(der)
        if not isinstance(key, EllipticCurvePublicKey) or key.curve.name != "secp256r1":
            raise LookupError("the card's key isn't one of ECC_NIST_P256")
        point = key.public_numbers()
        x, y = (_base64url(number, BYTES) for number in (point.x, point.y))
        return {"kty": "EC", "crv": "P-256", "alg": "ES256", "x": x, "y": y}


class KmsTokenKey(KmsKey):
    """A key of RSA_2048; implements the ports TokenSigner and TokenKey."""

    whose = "the tokens' key"
    algorithm = "RSASSA_PKCS1_V1_5_SHA_256"

    def _numbers(self, der: bytes) -> dict[str, str]:
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
        from cryptography.hazmat.primitives.serialization import load_der_public_key

        key = load_der_public_key(der)
        if not isinstance(key, RSAPublicKey) or key.key_size != RSA_BITS:
            raise LookupError("the tokens' key isn't one of RSA_2048")
        public = key.public_numbers()
        n, e = (_base64url(number, (number.bit_length() + 7) // 8) for number in (public.n, public.e))
        return {"kty": "RSA", "alg": "RS256", "n": n, "e": e}


def _base64url(number: int, size: int) -> str:
    return base64.urlsafe_b64encode(number.to_bytes(size, "big")).rstrip(b"=").decode()
