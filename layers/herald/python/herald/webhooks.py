"""For receivers: check that a notification is genuine, and read it.

    from herald.webhooks import VerificationError, verify

    try:
        notification = verify(raw_body, request_headers, jwks=jwks)
    except VerificationError as error:
        ...  # answer 400; error.reason says why

Signatures are those of Standard Webhooks 1.0.0: ``v1a`` (ed25519, with the sender's public keys) and ``v1``
(HMAC-SHA256, with a ``whsec_`` secret that the receiver chose). This module stands alone: it needs ``cryptography`` and
the standard library, and is also built as the wheel ``herald-webhooks``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

__all__ = ["Notification", "Reason", "VerificationError", "keys_from_jwks", "verify"]

TOLERANCE = 300  # seconds
MAX_SIGNATURES = 16  # more than any rotation needs; each costs a check

_MESSAGE_ID = re.compile(r"msg_[A-Za-z0-9_-]+_([0-9]{12})")
_KINDS = frozenset({"task", "message", "statusUpdate", "artifactUpdate"})

Key = Ed25519PublicKey | str


class Reason(StrEnum):
    """Why a notification isn't accepted."""

    MISSING_HEADER = "missing_header"  # webhook-id, webhook-timestamp or webhook-signature isn't there, or twice
    MALFORMED_HEADER = "malformed_header"
    TOO_OLD = "too_old"  # sent longer ago than the tolerance: perhaps a replay
    TOO_NEW = "too_new"  # from the future: look at this machine's clock
    WRONG_SIGNATURE = "wrong_signature"  # no signature fits any key: perhaps the keys must be loaded anew
    UNKNOWN_BODY = "unknown_body"  # genuine, but no A2A StreamResponse


class VerificationError(Exception):
    """A notification that must not be trusted; ``reason`` says why."""

    def __init__(self, reason: Reason, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Notification:
    """A genuine notification.

    ``id`` is equal on every attempt at the same notification: remember it, and skip what was seen. ``number`` grows
    along a webhook's notifications, with gaps; None where the id holds none. ``event`` is the StreamResponse (A2A
    specification section 4.3.3), a JSON object with the one member ``kind``.
    """

    id: str
    timestamp: int  # seconds since 1970, of this attempt
    number: int | None
    kind: str  # "task", "message", "statusUpdate" or "artifactUpdate"
    event: dict[str, Any]

    @property
    def content(self) -> dict[str, Any]:
        """The Task, Message, TaskStatusUpdateEvent or TaskArtifactUpdateEvent."""
        content: dict[str, Any] = self.event[self.kind]
        return content

    @property
    def task_id(self) -> str:
        """The task that it is about; "" for a message outside a task."""
        return str(self.content.get("id" if self.kind == "task" else "taskId", ""))


def verify(
    body: bytes,
    headers: Mapping[str, str],
    *,
    jwks: Mapping[str, Any] | None = None,
    keys: Iterable[Key] = (),
    secret: str | Sequence[str] = (),
    tolerance: int = TOLERANCE,
    now: float | None = None,
) -> Notification:
    """Check a notification, and read it. It is genuine when one of its signatures fits one of the keys.

    Args:
        body: as received, byte for byte; parsed and printed again, it wouldn't fit.
        headers: of the request, in any case.
        jwks: the sender's published keys, as loaded from ``/.well-known/jwks.json``.
        keys: public keys, as Ed25519PublicKey or ``whpk_…`` text.
        secret: the ``whsec_…`` secret that was registered as the webhook's token; several during its rotation.
        tolerance: seconds by which the sender's time may differ from ``now``.
        now: seconds since 1970; this machine's time when left out.

    Raises:
        VerificationError: it must not be trusted.
        TypeError: ``body`` isn't bytes.
        ValueError: there is no key, or one that can't be read.
    """
    if not isinstance(body, bytes | bytearray):
        raise TypeError("verify needs the raw body as bytes, not parsed JSON and not text")
    public = [*(_public_key(key) for key in keys), *(keys_from_jwks(jwks) if jwks is not None else ())]
    secrets = [_secret_key(text) for text in ([secret] if isinstance(secret, str) else secret)]
    if not public and not secrets:
        raise ValueError("verify needs a key: jwks, keys or secret")
    told = _headers(headers)
    message_id, second, signatures = _signed(told)
    _check_time(second, time.time() if now is None else now, tolerance)
    content = f"{message_id}.{told['webhook-timestamp']}.".encode() + body
    if not any(_fits(version, signature, content, public, secrets) for version, signature in signatures):
        raise VerificationError(Reason.WRONG_SIGNATURE, "no signature of the notification fits any of the keys")
    return _read(message_id, second, bytes(body))


def keys_from_jwks(jwks: Mapping[str, Any]) -> list[Ed25519PublicKey]:
    """The Ed25519 keys of a JWK set (RFC 7517, RFC 8037); keys of other kinds are passed over.

    Raises:
        ValueError: it is no JWK set, or one of its Ed25519 keys is damaged.
    """
    listed = jwks.get("keys") if isinstance(jwks, Mapping) else None
    if not isinstance(listed, list):
        raise ValueError('a JWK set is an object with an array "keys"')  # noqa: TRY004 - a wrong value of a right type
    return [
        _ed25519(_unpadded(key.get("x"), altchars=b"-_"))
        for key in listed
        if isinstance(key, Mapping) and key.get("kty") == "OKP" and key.get("crv") == "Ed25519"
    ]


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in headers.items():
        lowered = name.lower()
        if not lowered.startswith("webhook-"):
            continue
        if lowered in found:
            raise VerificationError(Reason.MISSING_HEADER, f"the header {lowered} is there twice")
        found[lowered] = value
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not found.get(name):
            raise VerificationError(Reason.MISSING_HEADER, f"the header {name} is missing")
    return found


def _signed(headers: Mapping[str, str]) -> tuple[str, int, list[tuple[str, bytes]]]:
    """Id, second and signatures, each as (version, bytes); signatures of unknown versions are passed over."""
    if not re.fullmatch(r"[0-9]{1,12}", headers["webhook-timestamp"]):
        raise VerificationError(Reason.MALFORMED_HEADER, "webhook-timestamp isn't a whole number of seconds")
    signatures = []
    for token in headers["webhook-signature"].split()[:MAX_SIGNATURES]:
        version, comma, text = token.partition(",")
        if not comma:
            raise VerificationError(Reason.MALFORMED_HEADER, "webhook-signature isn't a list of version,base64")
        try:
            signatures.append((version, base64.b64decode(text, validate=True)))
        except (binascii.Error, ValueError):
            raise VerificationError(Reason.MALFORMED_HEADER, "webhook-signature holds text that isn't base64") from None
    return headers["webhook-id"], int(headers["webhook-timestamp"]), signatures


def _check_time(second: int, now: float, tolerance: int) -> None:
    if second < now - tolerance:
        raise VerificationError(Reason.TOO_OLD, f"the notification was sent {now - second:.0f} s ago")
    if second > now + tolerance:
        raise VerificationError(Reason.TOO_NEW, f"the notification comes from {second - now:.0f} s in the future")


def _fits(
    version: str, signature: bytes, content: bytes, keys: Iterable[Ed25519PublicKey], secrets: Iterable[bytes]
) -> bool:
    if version == "v1a":
        return any(_is_signed_by(key, signature, content) for key in keys)
    if version == "v1":
        return any(
            hmac.compare_digest(hmac.new(secret, content, hashlib.sha256).digest(), signature) for secret in secrets
        )
    return False


def _is_signed_by(key: Ed25519PublicKey, signature: bytes, content: bytes) -> bool:
    try:
        key.verify(signature, content)
    except InvalidSignature:
        return False
    return True


def _read(message_id: str, second: int, body: bytes) -> Notification:
    try:
        event = json.loads(body)
    except ValueError:
        event = None
    kinds = [name for name in event if name in _KINDS] if isinstance(event, dict) else []
    if len(kinds) != 1 or not isinstance(event[kinds[0]], dict):
        raise VerificationError(Reason.UNKNOWN_BODY, "the body isn't an A2A StreamResponse")
    match = _MESSAGE_ID.fullmatch(message_id)
    return Notification(message_id, second, int(match[1]) if match else None, kinds[0], event)


def _public_key(key: Key) -> Ed25519PublicKey:
    if isinstance(key, Ed25519PublicKey):
        return key
    if not key.startswith("whpk_"):
        raise ValueError("a public key is an Ed25519PublicKey or whpk_ and base64")
    return _ed25519(_unpadded(key.removeprefix("whpk_")))


def _secret_key(text: str) -> bytes:
    key = _unpadded(text.removeprefix("whsec_"))
    if not 24 <= len(key) <= 64:
        raise ValueError("a secret is whsec_ and base64 of 24 to 64 bytes")
    return key


def _unpadded(text: Any, altchars: bytes = b"+/") -> bytes:
    """Base64 with or without its padding; what can't be read is empty, and refused by its length."""
    if not isinstance(text, str):
        return b""
    bare = text.rstrip("=")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=altchars, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _ed25519(raw: bytes) -> Ed25519PublicKey:
    if len(raw) != 32:
        raise ValueError("an Ed25519 public key is 32 bytes, in base64")
    return Ed25519PublicKey.from_public_bytes(raw)
