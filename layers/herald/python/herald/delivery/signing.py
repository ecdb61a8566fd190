"""Standard Webhooks 1.0.0 signatures: v1a (ed25519) with keys of our own, v1 (HMAC-SHA256) with a client's secret.

v1a names no audience, so every tenant has keys of its own, derived from one secret; a key is never stored.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from herald.delivery.rotation import Version

PURPOSE = "herald/webhook/v1a"
MAX_KEYS = 1_024  # derived keys kept per process


class Versions(Protocol):
    """The signing secret. ``herald.delivery.rotation`` decides which of its versions does what."""

    def signing(self) -> Sequence[Version]:
        """The versions whose keys sign, newest first. Raises LookupError when the secret has none, and Unavailable."""

    def published(self) -> Sequence[Version]:
        """The versions whose keys are published. Raises as ``signing`` does."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The public half of a tenant's key: 32 bytes, and its RFC 7638 thumbprint as the key's id."""

    raw: bytes

    @property
    def kid(self) -> str:
        canonical = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": _base64url(self.raw)}, separators=(",", ":"))
        return _base64url(hashlib.sha256(canonical.encode()).digest())

    @property
    def whpk(self) -> str:
        """As Standard Webhooks writes a public key."""
        return "whpk_" + base64.b64encode(self.raw).decode()

    @property
    def jwk(self) -> dict[str, str]:
        """As RFC 8037 writes it, with the Standard Webhooks form beside."""
        return {
            "kty": "OKP",
            "crv": "Ed25519",
            "kid": self.kid,
            "use": "sig",
            "alg": "EdDSA",
            "x": _base64url(self.raw),
            "whpk": self.whpk,
        }


class SigningKeys:
    """The tenants' keys; implements the port Signer."""

    def __init__(self, versions: Versions) -> None:
        self._versions = versions
        self._derived: dict[tuple[str, str], Ed25519PrivateKey] = {}

    def sign(self, tenant: str, message_id: str, second: int, body: bytes) -> list[str]:
        """``["v1a,<base64>"]``, newest key first; around a rotation of the secret two keys sign.

        Raises:
            Unavailable: the secret can't be read.
            LookupError: it has no current version.
        """
        content = signed_content(message_id, second, body)
        signatures = (self._key(tenant, version).sign(content) for version in self._versions.signing())
        return ["v1a," + base64.b64encode(signature).decode() for signature in signatures]

    def public(self, tenant: str) -> list[PublicKey]:
        """The keys that sign, are about to sign or have signed lately for a tenant.

        Derived for any name, so that the answer tells nobody which tenants there are.
        """
        keys = [self._key(tenant, version) for version in self._versions.published()]
        return [PublicKey(key.public_key().public_bytes_raw()) for key in keys]

    def _key(self, tenant: str, version: Version) -> Ed25519PrivateKey:
        place = (tenant, version.version_id)
        key = self._derived.get(place)
        if key is None:
            if len(self._derived) >= MAX_KEYS:
                self._derived.clear()
            key = self._derived[place] = Ed25519PrivateKey.from_private_bytes(_seed(tenant, version))
        return key


def _seed(tenant: str, version: Version) -> bytes:
    info = json.dumps([PURPOSE, tenant, version.version_id]).encode()  # as JSON, so that no two tenants run together
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(version.text.encode())


def signed_content(message_id: str, second: int, body: bytes) -> bytes:
    """What a signature covers: ``id.timestamp.body``."""
    return f"{message_id}.{second}.".encode() + body


def sign_v1(key: bytes, message_id: str, second: int, body: bytes) -> str:
    """``v1,<base64>``: HMAC-SHA256 with the client's secret."""
    digest = hmac.new(key, signed_content(message_id, second, body), hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
