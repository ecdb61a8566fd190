"""A JWT in its compact form (RFC 7519, RFC 7515): read, its header checked, its signature verified.

What the header says only chooses among the issuer's own keys and the algorithms below: a key, or an address of one,
that a token brings along is never looked at.
"""

from __future__ import annotations

import re
import warnings
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning

from herald.authorization import strict_json
from herald.authorization.keys import Key
from herald.authorization.refusal import Reason, Refused

MAX_TOKEN = 8_192  # characters; API Gateway takes 10 KB of headers in all

ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)
"""Signatures by a private key only: with a shared secret (HS256), whoever can verify can forge."""

# An ID token, a logout token or a security event is a JWT of the same issuer, too. Where `typ` tells, it must be this.
TYPES = frozenset({"jwt", "at+jwt"})

_BEARER = re.compile(r"bearer +(\S+)", re.IGNORECASE)
_COMPACT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Token:
    """A token whose signature hasn't been looked at yet."""

    text: str = field(repr=False)
    algorithm: str
    kid: str | None
    payload: bytes = field(repr=False)

    def signed_by(self, key: Key) -> bool:
        registry = jws.JWSRegistry(algorithms=[self.algorithm], strict_check_header=False)
        registry.max_header_length = MAX_TOKEN
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SecurityWarning)  # EdDSA has a newer name, which few issuers use
                jws.deserialize_compact(self.text, key.public, registry=registry)
        except (JoseError, ValueError):
            return False
        return True

    def claims(self) -> dict[str, Any]:
        """What the token says; to be believed only once its signature is verified.

        Raises:
            Refused: it isn't JSON, or says something twice.
        """
        try:
            return strict_json.read_object(self.payload)
        except ValueError:
            raise Refused(Reason.MALFORMED) from None


def from_header(authorization: str) -> Token:
    """The token of an Authorization header.

    Raises:
        Refused: there is none, or its header can't be taken.
    """
    bearer = _BEARER.fullmatch(authorization)
    if not bearer:
        raise Refused(Reason.MALFORMED)
    return read(bearer[1])


def read(text: str) -> Token:
    """Read a token and check its header.

    Raises:
        Refused: it isn't a JWT, or its header can't be taken.
    """
    if len(text) > MAX_TOKEN or not _COMPACT.fullmatch(text):
        raise Refused(Reason.MALFORMED)
    try:
        header, payload, _ = (_decoded(part) for part in text.split("."))
        said = strict_json.read_object(header)
    except ValueError:
        raise Refused(Reason.MALFORMED) from None
    algorithm, kid = said.get("alg"), said.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise Refused(Reason.ALGORITHM)
    if "crit" in said or "cty" in said or not isinstance(kid, str | None):
        raise Refused(Reason.MALFORMED)  # no extension is understood here, and no token inside a token
    if not _is_type_taken(said.get("typ", "JWT")):
        raise Refused(Reason.TYPE)
    return Token(text, algorithm, kid, payload)


def _is_type_taken(kind: Any) -> bool:
    return isinstance(kind, str) and kind.lower().removeprefix("application/") in TYPES


def _decoded(part: str) -> bytes:
    """base64url without padding, and in the one way that its bytes are written."""
    raw = urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if urlsafe_b64encode(raw).rstrip(b"=").decode() != part:
        raise ValueError("another spelling of the same bytes")
    return raw
