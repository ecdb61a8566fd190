"""The key that signs the Agent Card, in memory."""

from __future__ import annotations

import base64

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from fakes.faults import Faults


class FakeCardKey(Faults):
    """CardSigner and CardKey with a key of its own, new with each fake."""

    def __init__(self, kid: str = "card-key") -> None:
        super().__init__()
        self._kid = kid
        self._key = ec.generate_private_key(ec.SECP256R1())

    @property
    def kid(self) -> str:
        return self._kid

    def sign(self, content: bytes) -> bytes:
        with self._call("sign"):
            r, s = decode_dss_signature(self._key.sign(content, ec.ECDSA(SHA256())))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def jwk(self) -> dict[str, str]:
        with self._call("jwk"):
            point = self._key.public_key().public_numbers()
            x, y = (
                base64.urlsafe_b64encode(coordinate.to_bytes(32, "big")).rstrip(b"=").decode()
                for coordinate in (point.x, point.y)
            )
            return {"kty": "EC", "crv": "P-256", "kid": self._kid, "use": "sig", "alg": "ES256", "x": x, "y": y}
