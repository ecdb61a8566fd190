"""What makes two sends one: the identity of a send, and the ids that are derived from it.

A new task's id is derived from the identity, so a repeated send meets its own task. Nothing secret enters it.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from herald.ports import Ids
from herald.protocol import codec
from herald.protocol.errors import invalid
from herald.records import Caller

IDEMPOTENCY_KEY = "idempotencyKey"
MAX_KEY = 256


@dataclass(frozen=True, slots=True)
class Identity:
    """A send's identity.

    Attributes:
        text: canonical JSON (UTF-8) of what makes it this send and no other.
        content_hash: SHA-256 of the message, hexadecimal.
        repeatable: False where each send is a send of its own.
    """

    text: bytes
    content_hash: str
    repeatable: bool = True

    @property
    def task_id(self) -> str:
        """Of the task that this send makes: 26 URL-safe characters."""
        return digest(self.text)

    @property
    def context_id(self) -> str:
        """Of the context that this send opens when the client names none."""
        return digest(b"context" + self.text)

    @property
    def once(self) -> tuple[str, str] | None:
        """For ``TaskLog.commit``: what a follow-up is recognised by, and its content."""
        return (hashlib.sha256(self.text).hexdigest(), self.content_hash) if self.repeatable else None


def digest(text: bytes) -> str:
    """The first 16 bytes of a SHA-256 as lower-case base32: 26 characters."""
    return base64.b32encode(hashlib.sha256(text).digest()[:16]).decode().rstrip("=").lower()


def identify(
    caller: Caller,
    message: dict[str, Any],
    key: str,
    mode: Literal["message", "key", "off"],
    ids: Ids,
) -> Identity:
    """The identity of a send.

    Args:
        message: as the client sent it, ProtoJSON.
        key: the client's idempotencyKey; "" when it gave none.
    """
    content_hash = hashlib.sha256(codec.canonical(message)).hexdigest()
    task_id = message.get("taskId", "")
    parts = [caller.tenant, caller.owner, task_id]
    if mode == "off" or (mode == "key" and not key):
        return Identity(codec.canonical([*parts, "once", ids.token()]), content_hash, repeatable=False)
    if key:
        return Identity(codec.canonical([*parts, "key", key]), content_hash)
    return Identity(codec.canonical([*parts, "message", message["messageId"], content_hash]), content_hash)


def idempotency_key(*metadata: dict[str, Any] | None) -> str:
    """The client's idempotencyKey: the request's own metadata first, then the message's; "" when it gave none.

    Raises:
        InvalidParamsError: it isn't a string of 1 to 256 characters.
    """
    for place, found in zip(("metadata", "message.metadata"), metadata, strict=True):
        if found and IDEMPOTENCY_KEY in found:
            key = found[IDEMPOTENCY_KEY]
            if not isinstance(key, str) or not 1 <= len(key) <= MAX_KEY:
                raise invalid(f"{place}.{IDEMPOTENCY_KEY}", f"must be a string of 1 to {MAX_KEY} characters")
            return key
    return ""
