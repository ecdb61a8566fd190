"""The keys of a JWK set (RFC 7517) that can verify a signature; all others are passed over."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from joserfc import jwk
from joserfc.errors import JoseError, SecurityWarning

from herald.authorization import strict_json

MAX_KEYS = 100
RSA_BITS = range(2048, 8192 + 1)  # a shorter one can be broken, a longer one takes too long

_RSA = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_BY_KIND = {
    "RSA None": _RSA,
    "EC P-256": frozenset({"ES256"}),
    "EC P-384": frozenset({"ES384"}),
    "EC P-521": frozenset({"ES512"}),
    "OKP Ed25519": frozenset({"EdDSA", "Ed25519"}),
}
"""Key type and curve -> the algorithms that such a key verifies. A symmetric key is of no type here."""

_MEMBERS = ("kty", "crv", "n", "e", "x", "y")  # of a public key, and nothing else


@dataclass(frozen=True, slots=True)
class Key:
    """A public key of the issuer's."""

    kid: str | None
    algorithms: frozenset[str]
    public: Any = field(repr=False)


def read(document: bytes) -> tuple[Key, ...]:
    """The keys of a JWK set.

    Raises:
        ValueError: it isn't a JWK set, or it has no key that verifies.
    """
    listed = strict_json.read_object(document).get("keys")
    if not isinstance(listed, list) or len(listed) > MAX_KEYS:
        raise ValueError("not a JWK set")
    keys = tuple(key for each in listed if (key := _key(each)))
    if not keys:
        raise ValueError("no key verifies")
    return keys


def _key(told: Any) -> Key | None:
    if not isinstance(told, dict) or told.get("use", "sig") != "sig":
        return None
    operations, kid = told.get("key_ops", ["verify"]), told.get("kid")
    if not isinstance(operations, list) or "verify" not in operations or not isinstance(kid, str | None):
        return None
    algorithms = _BY_KIND.get(f"{told.get('kty')} {told.get('crv')}", frozenset())
    if "alg" in told:
        algorithms &= {str(told["alg"])}
    if not algorithms:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecurityWarning)  # of a key that is too short: it isn't taken
            public = jwk.import_key({name: told[name] for name in _MEMBERS if name in told})
        if told["kty"] == "RSA" and public.raw_value.key_size not in RSA_BITS:  # type: ignore[union-attr]
            return None
    except (JoseError, ValueError, TypeError):
        return None
    return Key(kid, algorithms, public)
