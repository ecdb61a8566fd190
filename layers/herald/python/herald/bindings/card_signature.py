"""The card's signature: JWS over canonical JSON (A2A specification section 8.4, RFC 7515, RFC 8785)."""

from __future__ import annotations

import base64
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from herald import metrics
from herald.bindings.card_rules import JsonObject
from herald.ports import CardSigner, Meter, Unmetered
from herald.protocol import codec

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Page:
    """A card as it is served.

    Attributes:
        card: its ProtoJSON, with ``signatures`` if it could be signed.
        signed: whether it has all the signatures that it should have.
    """

    card: JsonObject
    signed: bool


class SignedCard:
    """A card at each base address, signed at its first reading and kept; a deployment has one address.

    KMS may fail. Then the card goes out without its signature, which is a valid card, and the next reading tries again:
    a client that insists on a signature refuses it, and all others go on, whereas a card that isn't served stops
    everybody.

    Args:
        make: the unsigned card at a base address.
        jwks_path: where the key is published, below the base address.
        signer: None for a card without a signature.
        meter: counts the cards that go out without one that they should have.
    """

    def __init__(
        self,
        make: Callable[[str], JsonObject],
        jwks_path: str,
        signer: CardSigner | None,
        meter: Meter | None = None,
    ) -> None:
        self._make = make
        self._jwks_path = jwks_path
        self._signer = signer
        self._meter = meter or Unmetered()
        self._made: dict[str, JsonObject] = {}
        self._signed: dict[str, Page] = {}

    def tag(self, base_url: str) -> str:
        """The ETag: a weak one, of what is signed and of the key's name, because a process's signature is its own."""
        content = codec.dumps(self.unsigned(base_url)) + (self._signer.kid if self._signer else "")
        return f'W/"{hashlib.sha256(content.encode()).hexdigest()[:32]}"'

    def page(self, base_url: str) -> Page:
        """The card at a base address."""
        if (known := self._signed.get(base_url)) is not None:
            return known
        card = self.unsigned(base_url)
        if self._signer is None:
            return Page(card, signed=True)
        try:
            signatures = sign(card, self._signer, f"{base_url}{self._jwks_path}")
        except Exception:
            logger.exception("the card is served without its signature")
            self._meter.add(metrics.CARDS_UNSIGNED)
            return Page(card, signed=False)
        page = self._signed[base_url] = Page({**card, "signatures": signatures}, signed=True)
        return page

    def unsigned(self, base_url: str) -> JsonObject:
        """The card at a base address, without ``signatures``."""
        if base_url not in self._made:
            self._made[base_url] = self._make(base_url)
        return self._made[base_url]


def sign(card: JsonObject, signer: CardSigner, jku: str) -> list[JsonObject]:
    """The ``signatures`` of a card: one, or two where verifiers disagree about what is signed.

    Args:
        jku: address of the JWKS that holds the signer's public key.

    Raises:
        Unavailable: the key can't be used at the moment.
        LookupError: it is gone or disabled.
    """
    header = {"alg": "ES256", "typ": "JOSE", "kid": signer.kid, "jku": jku}
    protected = _base64url(codec.dumps(header).encode())
    return [
        {
            "protected": protected,
            "signature": _base64url(signer.sign(f"{protected}.{_base64url(payload)}".encode("ascii"))),
        }
        for payload in payloads(card)
    ]


def payloads(card: Mapping[str, Any]) -> list[bytes]:
    """What is signed of a card: its canonical form, without ``signatures``.

    The specification leaves out the default values of fields, which ProtoJSON has done. a2a-sdk leaves out every empty
    string, array and object and every null besides, those inside an extension's ``params`` and a requirement without
    scopes included. Where a card has any, the two forms differ and both are given, the specification's first: a
    verifier is content with one signature that fits.
    """
    import rfc8785  # 20 ms, so it is loaded where a card is signed

    content = {name: value for name, value in card.items() if name != "signatures"}
    return list(dict.fromkeys(rfc8785.dumps(each) for each in (content, _without_empty(content))))


def _without_empty(value: Any) -> Any:
    """A value without the empty strings, arrays and objects and the nulls in it; None if nothing is left."""
    if isinstance(value, dict):
        kept: Any = {name: left for name, member in value.items() if (left := _without_empty(member)) is not None}
    elif isinstance(value, list):
        kept = [left for member in value if (left := _without_empty(member)) is not None]
    else:
        return None if value == "" else value
    return kept or None


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
