"""The key that signs the Agent Card, in KMS: its private half never leaves there."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from herald.adapters.aws import call, code_of

if TYPE_CHECKING:
    from mypy_boto3_kms import KMSClient

BYTES = 32  # of a coordinate, and of r and s, on P-256

GONE = frozenset({"DisabledException", "KMSInvalidStateException", "NotFoundException"})


class KmsCardKey:
    """An asymmetric key of KMS (ECC_NIST_P256, SIGN_VERIFY); implements the ports CardSigner and CardKey.

    ``sign`` needs the right kms:Sign and ``jwk`` kms:GetPublicKey: no function has both.

    Args:
        client: makes the client, or hands out the one there is.
        arn: of the key. Its last part, the key's id, is the ``kid``: who may only sign knows that, too.
    """

    def __init__(self, client: Callable[[], KMSClient], arn: str) -> None:
        self._client = client
        self._arn = arn
        self._jwk: dict[str, str] | None = None

    @property
    def kid(self) -> str:
        return self._arn.rpartition("/")[2]

    def sign(self, content: bytes) -> bytes:
        """One request. The digest is sent: KMS takes 4,096 bytes at most, and cards may be longer."""
        # Loaded where a card is signed, so that no other start of the function pays for it.
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        try:
            answer = call(
                self._client().sign,
                KeyId=self._arn,
                Message=hashlib.sha256(content).digest(),
                MessageType="DIGEST",
                SigningAlgorithm="ECDSA_SHA_256",
            )
        except ClientError as error:
            raise _told(error) from error
        r, s = decode_dss_signature(answer["Signature"])
        return r.to_bytes(BYTES, "big") + s.to_bytes(BYTES, "big")

    def jwk(self) -> dict[str, str]:
        """One request in the life of the process: a key of KMS never changes."""
        if self._jwk is None:
            self._jwk = self._read()
        return self._jwk

    def _read(self) -> dict[str, str]:
        from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
        from cryptography.hazmat.primitives.serialization import load_der_public_key

        try:
            answer = call(self._client().get_public_key, KeyId=self._arn)
        except ClientError as error:
            raise _told(error) from error
        key = load_der_public_key(answer["PublicKey"])
        if not isinstance(key, EllipticCurvePublicKey) or key.curve.name != "secp256r1":
            raise LookupError("the card's key isn't one of ECC_NIST_P256")
        numbers = key.public_numbers()
        return {
            "kty": "EC",
            "crv": "P-256",
            "kid": self.kid,
            "use": "sig",
            "alg": "ES256",
            "x": _base64url(numbers.x),
            "y": _base64url(numbers.y),
        }


def _told(error: ClientError) -> Exception:
    """A key that is gone or disabled as LookupError; anything else as it is."""
    return LookupError(f"the card's key: {code_of(error)}") if code_of(error) in GONE else error


def _base64url(number: int) -> str:
    return base64.urlsafe_b64encode(number.to_bytes(BYTES, "big")).rstrip(b"=").decode()
