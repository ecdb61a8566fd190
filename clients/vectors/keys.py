"""The keys of the test vectors, equal for ever. Everybody knows them: they must never sign anything else."""

from __future__ import annotations

import base64
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Jwk = dict[str, Any]


def base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _rsa(p: str, q: str) -> rsa.RSAPrivateKey:
    """The key of two primes in hex, with the public exponent 65537."""
    first, second, exponent = int(p, 16), int(q, 16), 65_537
    private = pow(exponent, -1, (first - 1) * (second - 1))
    return rsa.RSAPrivateNumbers(
        first,
        second,
        private,
        rsa.rsa_crt_dmp1(private, first),
        rsa.rsa_crt_dmq1(private, second),
        rsa.rsa_crt_iqmp(first, second),
        rsa.RSAPublicNumbers(exponent, first * second),
    ).private_key()


def ed25519_jwk(key: Ed25519PrivateKey, kid: str) -> Jwk:
    x = base64url(key.public_key().public_bytes_raw())
    return {"kty": "OKP", "crv": "Ed25519", "kid": kid, "use": "sig", "alg": "EdDSA", "x": x}


def rsa_jwk(key: rsa.RSAPrivateKey, kid: str) -> Jwk:
    public = key.public_key().public_numbers()
    n = base64url(public.n.to_bytes((public.n.bit_length() + 7) // 8))
    return {"kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256", "n": n, "e": base64url(public.e.to_bytes(3))}


def card_jwk(key: ec.EllipticCurvePrivateKey, kid: str) -> Jwk:
    """The key that signs an Agent Card: it stands beside those of notifications."""
    public = key.public_key().public_numbers()
    x, y = (base64url(part.to_bytes(32)) for part in (public.x, public.y))
    return {"kty": "EC", "crv": "P-256", "kid": kid, "use": "sig", "alg": "ES256", "x": x, "y": y}


ED25519_CURRENT, ED25519_NEXT, ED25519_OTHER = (
    Ed25519PrivateKey.from_private_bytes(bytes([n]) * 32) for n in (1, 2, 3)
)
CARD = ec.derive_private_key(7, ec.SECP256R1())
RSA_CURRENT = _rsa(
    (
        "fc47b1fad26332e35128638461ff5b2678b9b2aa7ce3156ef4e2fd95793e9172af69ef0fc3c22788a9e43837d43d3201"
        "6351bcd3baebb64fe6da668104d316d80fae4693960b1683c3dacfcd70cdbcbb46975be31778990511b0b97cbee9f3f7"
        "4d6a8ea21bae5432c7a7783fa6d48ae2e78395a93b37aa72c77879fbbfcd0bab"
    ),
    (
        "c362e0afdbddd4b5893f1ae65740c8e111f2a75732f55c7fc9ed54d99e5e02d79bc15e4c3bb1606aa0eac9c96eaa23c4"
        "884ba898b671cb9b4f4411ff2a32036bf97a4ce2143a87823270b94e82cf553536b9b609eb424a5bdbd17861190a296b"
        "6b8ede255df6d9b4379a71d2a1557601133a1b38f21b41ca94707d35963d90fb"
    ),
)
RSA_NEXT = _rsa(
    (
        "d5acab1814819b5ae1f8f70879b5a3c3906577864ce3c1d92a572c44f10368e622ec45632cecc3ce0f45e66f8450090f"
        "cc8cfa0369f403db95071884121f6001bda59ce07a6e951d9ab23e24a1050a7622c1e99eb1191c99a64ba462011dedd2"
        "74111a564afd8ded6fbc4050383f779df14e7e3f212b42826fdad69b0f2c409d"
    ),
    (
        "b928639273cae8a1c7be282bd8a30c6bfbea4e5c9fa9aa6d7a80b7f84fabfed9f3403977df073d0f1430ad91982b6304"
        "042f5193b4e4548339a1d3e56289493ceea28404eb4af27d1c8f32ee0ef027b6c223246fe9e0cebada6fa78eb139bbf7"
        "8bbcd39f4b1ce8b1d3d802bb464bbc7b2a6871d979cc9bfd308c593e9d7bc323"
    ),
)
RSA_WEAK = _rsa(
    (
        "d45b544a65ceaea40112149fb6a72e5e30ca3216a7593bd468b537f0776cb4495103dd575ebd000541f6f5e23d4e2e90"
        "5eb4bb984dde56cd3b079302304c4151"
    ),
    (
        "ccdb2e386c4fdd09b86d697af2d5114d37aa557ae6fbaf2e128eb7787764674d3d2685c018e0f3ff4ef278556fa0ff9f"
        "08c8d362505c75a8bd9e0214fd902f7d"
    ),
)
