"""What a verified token's claims must say, and who they say is calling (RFC 7519 section 4.1, RFC 9068)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from herald.authorization.refusal import Reason, Refused

SKEW_SECONDS = 60  # of the issuer's clock and ours

_SUBJECT = re.compile(r"[\x20-\x7e]{1,255}")  # OpenID Connect Core section 2
_TENANT = re.compile(r"[A-Za-z0-9._~-]{1,64}")


@dataclass(frozen=True, slots=True)
class Expected:
    """What an operator has set.

    Attributes:
        audiences: one of them must be among the token's ``aud``. Empty for an issuer of our own, whose scopes are this
            API's: its tokens name no audience, and one that does is meant for somebody else.
        scopes: what a token needs for this API.
        tenant_claim: the claim that holds the caller's tenant; "" where callers have none.
    """

    issuer: str
    audiences: frozenset[str] = frozenset()
    scopes: tuple[str, ...] = ()
    tenant_claim: str = ""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who calls.

    Attributes:
        owner: issuer and subject, with a # between them, which no issuer's URL has.
        tenant: "" for none.
        missing: the scopes that the token lacks.
        expires_second: the last second at which the token counts, skew included.
    """

    owner: str
    tenant: str
    missing: tuple[str, ...]
    expires_second: int


def identify(claims: Mapping[str, Any], expected: Expected, now_second: float) -> Identity:
    """Check the claims of a token whose signature is verified.

    Raises:
        Refused: one of them isn't what it must be.
    """
    if claims.get("iss") != expected.issuer:
        raise Refused(Reason.ISSUER)
    if claims.get("token_use", "access") != "access":
        raise Refused(Reason.TYPE)  # Cognito's ID tokens
    if not _is_for_us(claims, expected.audiences):
        raise Refused(Reason.AUDIENCE)
    expires = _moment(claims, "exp")
    if expires is None:
        raise Refused(Reason.MALFORMED)
    if now_second >= expires + SKEW_SECONDS:
        raise Refused(Reason.EXPIRED)
    for name in ("nbf", "iat"):
        begins = _moment(claims, name)
        if begins is not None and now_second < begins - SKEW_SECONDS:
            raise Refused(Reason.NOT_YET_VALID)
    subject = claims.get("sub")
    if not isinstance(subject, str) or not _SUBJECT.fullmatch(subject):
        raise Refused(Reason.SUBJECT)
    granted = _scopes(claims)
    return Identity(
        owner=f"{expected.issuer}#{subject}",
        tenant=_tenant(claims, expected.tenant_claim),
        missing=tuple(scope for scope in expected.scopes if scope not in granted),
        expires_second=math.ceil(expires) + SKEW_SECONDS,
    )


def _is_for_us(claims: Mapping[str, Any], audiences: frozenset[str]) -> bool:
    """Cognito's access tokens have no ``aud``; there the client that asked for the token stands for it."""
    named = claims.get("aud")
    if named is None:
        return not audiences or (claims.get("token_use") == "access" and _is_one(claims.get("client_id"), audiences))
    return any(_is_one(each, audiences) for each in (named if isinstance(named, list) else [named]))


def _is_one(named: Any, audiences: frozenset[str]) -> bool:
    return isinstance(named, str) and named in audiences


def _moment(claims: Mapping[str, Any], name: str) -> float | None:
    """A NumericDate, seconds since 1970; None when there is none."""
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e11:
        raise Refused(Reason.MALFORMED)
    return float(value)


def _scopes(claims: Mapping[str, Any]) -> set[str]:
    """Of ``scope`` (RFC 9068) and ``scp`` (Entra ID, Okta): words of a string, or a list."""
    granted: set[str] = set()
    for name in ("scope", "scp"):
        value = claims.get(name)
        words = value.split(" ") if isinstance(value, str) else value
        if isinstance(words, list):
            granted |= {word for word in words if isinstance(word, str)}
    return granted


def _tenant(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name) if name else None
    if value is None:
        return ""
    if not isinstance(value, str) or not _TENANT.fullmatch(value):
        raise Refused(Reason.TENANT)
    return value
