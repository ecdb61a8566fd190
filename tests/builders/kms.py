"""moto's KMS, mended: it takes a digest (MessageType DIGEST) for a message and hashes it once more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA256
from moto.kms.utils import ECDSAPrivateKey, RSAPrivateKey


@contextmanager
def digests_signed() -> Iterator[None]:
    """Inside, keys of P-256 and RSA sign digests as AWS does. What is no digest is an error."""

    def sign(self: ECDSAPrivateKey, message: bytes, signing_algorithm: str) -> bytes:
        assert (len(message), signing_algorithm) == (32, "ECDSA_SHA_256")
        signature: bytes = self.private_key.sign(message, ec.ECDSA(Prehashed(SHA256())))
        return signature

    def sign_rsa(self: RSAPrivateKey, message: bytes, signing_algorithm: str) -> bytes:
        assert (len(message), signing_algorithm) == (32, "RSASSA_PKCS1_V1_5_SHA_256")
        return self.private_key.sign(message, padding.PKCS1v15(), Prehashed(SHA256()))

    with mock.patch.object(ECDSAPrivateKey, "sign", sign), mock.patch.object(RSAPrivateKey, "sign", sign_rsa):
        yield
