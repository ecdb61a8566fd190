"""The key that signs receivers' tokens, in memory."""

from __future__ import annotations

import base64
from functools import cache

from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from fakes.faults import Faults


class FakeTokenKey(Faults):
    """TokenSigner and TokenKey with a key of its own, made once for all tests: RSA takes its time."""

    def __init__(self, kid: str = "token-key") -> None:
        super().__init__()
        self._kid = kid

    @property
    def kid(self) -> str:
        return self._kid

    def sign(self, content: bytes) -> bytes:
        with self._call("sign"):
            return _rsa_key().sign(content, padding.PKCS1v15(), SHA256())

    def jwk(self) -> dict[str, str]:
        with self._call("jwk"):
            public = _rsa_key().public_key().public_numbers()
            n, e = (
                base64.urlsafe_b64encode(number.to_bytes((number.bit_length() + 7) // 8, "big")).rstrip(b"=").decode()
                for number in (public.n, public.e)
            )
            return {"kid": self._kid, "use": "sig", "kty": "RSA", "alg": "RS256", "n": n, "e": e}


@cache
def _rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
