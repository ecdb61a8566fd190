"""What a client gives to be shown to its receiver: sealed when its webhook is registered, opened for each attempt."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, field, replace
from typing import Self

from herald.ports import Sealer
from herald.records import Webhook

HMAC_PREFIX = "whsec_"
HMAC_BYTES = range(24, 65)


@dataclass(frozen=True, slots=True)
class Secrets:
    """A token, and an HTTP authentication. Never logged: the representation holds none of it."""

    token: str = field(default="", repr=False)
    scheme: str = ""
    credentials: str = field(default="", repr=False)

    @property
    def asks_for_token(self) -> bool:
        """True for the scheme Bearer without credentials: the receiver wants a token of ours."""
        return self.scheme.lower() == "bearer" and not self.credentials

    def __bool__(self) -> bool:
        return bool(self.token or self.scheme or self.credentials)

    def sealed_into(self, sealer: Sealer, webhook: Webhook) -> Webhook:
        """The webhook with these secrets in it, bound to its ``place``; as it is where there are none."""
        if not self:
            return webhook
        text = json.dumps([self.token, self.scheme, self.credentials])
        return replace(webhook, sealed=sealer.seal(text, webhook.place))

    @classmethod
    def open(cls, sealer: Sealer, webhook: Webhook) -> Self:
        """What was sealed into a webhook; empty when the client gave nothing.

        Raises:
            ValueError: it can't be opened, see ``Sealer``.
        """
        if not webhook.sealed:
            return cls()
        token, scheme, credentials = json.loads(sealer.open(webhook.sealed, webhook.place))
        return cls(token, scheme, credentials)


def resealed(sealer: Sealer, webhook: Webhook) -> Webhook:
    """The webhook with its secrets as the newest key seals them; as it is where they are, or where it has none.

    Raises:
        ValueError: they can't be opened, see ``Sealer``.
    """
    if not webhook.sealed:
        return webhook
    return replace(webhook, sealed=sealer.renewed(webhook.sealed, webhook.place))


def hmac_key(token: str) -> bytes | None:
    """The key of a client's ``whsec_`` token (Standard Webhooks 1.0.0); None for any other token.

    Raises:
        ValueError: the token begins with ``whsec_`` and isn't base64 of 24 to 64 bytes.
    """
    if not token.startswith(HMAC_PREFIX):
        return None
    try:
        key = base64.b64decode(token.removeprefix(HMAC_PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if len(key) not in HMAC_BYTES:
        raise ValueError("a whsec_ token must be base64 of 24 to 64 bytes after its prefix")
    return key
