"""An issuer of access tokens: its keys, its documents, and whatever tokens a test asks for, false ones too."""

from __future__ import annotations

import json
import warnings
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry, serialize_compact

from fakes.clock import START, FakeClock
from herald.authorization.claims import Expected
from herald.authorization.key_ring import KeyRing
from herald.authorization.verifier import Verifier
from herald.ports import Unavailable

ISSUER = "https://issuer.example.com"
JWKS_URL = f"{ISSUER}/keys"
DISCOVERY_URL = f"{ISSUER}/.well-known/openid-configuration"
AUDIENCE = "https://agents.example.com"
NOW = START // 1000
EXPECTED = Expected(ISSUER, frozenset({AUDIENCE}), ("herald/call",), "tenant")

Json = dict[str, Any]
PrivateKey = ECKey | RSAKey | OKPKey | OctKey


@cache
def key(kind: str = "P-256", name: str = "k1") -> PrivateKey:
    """A private key of this kind; the same one for the same name."""
    told: Any = {"kid": name}
    if kind.startswith("RSA"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecurityWarning)  # of a key that is too short on purpose
            return RSAKey.generate_key(int(kind[3:] or 2048), told)
    if kind.startswith("Ed"):
        return OKPKey.generate_key(kind, told)  # type: ignore[arg-type]
    return ECKey.generate_key(kind, told)


def public(private: PrivateKey, **members: Any) -> Json:
    """Its public half as the issuer publishes it; a member given as None is left out."""
    found = {**private.as_dict(private=False), **members}
    return {name: value for name, value in found.items() if value is not None}


def claims(**members: Any) -> Json:
    """What a good token says; a member given as None is left out."""
    found = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "alice",
        "scope": "herald/call",
        "iat": NOW,
        "exp": NOW + 3600,
        **members,
    }
    return {name: value for name, value in found.items() if value is not None}


def token(said: Json | bytes | None = None, *, by: PrivateKey | None = None, **header: Any) -> str:
    """A token; header members as given, one given as None left out. Whatever the header says, the key signs."""
    private = by or key()
    members = {"alg": "ES256", "typ": "at+jwt", "kid": private.kid, **header}
    found = {name: value for name, value in members.items() if value is not None}
    payload = said if isinstance(said, bytes) else json.dumps(claims() if said is None else said).encode()
    registry = JWSRegistry(algorithms=list(JWSRegistry.algorithms), strict_check_header=False)
    registry.max_header_length = 100_000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)  # of algorithms that aren't to be used
        return serialize_compact(found, payload, private, registry=registry)


def assembled(header: bytes, payload: bytes, signature: bytes = b"signature") -> str:
    """A token of these three parts, signed by nobody."""
    return ".".join(urlsafe_b64encode(part).rstrip(b"=").decode() for part in (header, payload, signature))


@dataclass
class FakeIssuerDocuments:
    """IssuerDocuments from memory; an address that isn't there is Unavailable. ``read_urls`` has what was asked for."""

    documents: dict[str, bytes] = field(default_factory=dict)
    read_urls: list[str] = field(default_factory=list)

    def publish(self, *keys: Json) -> None:
        self.documents[JWKS_URL] = json.dumps({"keys": list(keys)}).encode()

    def read(self, url: str) -> bytes:
        self.read_urls.append(url)
        if url not in self.documents:
            raise Unavailable("no answer")
        return self.documents[url]


@dataclass
class Gate:
    """A verifier, its clock, and the issuer that it asks."""

    expected: Expected = EXPECTED
    clock: FakeClock = field(default_factory=FakeClock)
    issuer: FakeIssuerDocuments = field(default_factory=FakeIssuerDocuments)

    def __post_init__(self) -> None:
        self.issuer.publish(public(key()))
        self.keys = KeyRing(self.issuer, ISSUER, JWKS_URL, self.clock)
        self.verifier = Verifier(self.expected, self.keys, self.clock)

    def refusal(self, text: str) -> str:
        """Why a token isn't taken; "" when it is."""
        from herald.authorization.refusal import Refused

        try:
            self.verifier.identify(f"Bearer {text}")
        except Refused as refused:
            return refused.reason.name
        return ""
