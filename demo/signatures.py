"""A notification's two signatures, checked as a receiver does: v1 by a public package, v1a by Herald's verifier."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from herald.webhooks import VerificationError, verify


def new_secret() -> str:
    """A secret of the receiver's own, as Standard Webhooks writes one: ``whsec_`` and 32 random bytes."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


@dataclass(frozen=True, slots=True)
class Checks:
    """What a receiver knows: its own secret, and the sender's public keys."""

    secret: str = field(repr=False)
    jwks: Mapping[str, Any]

    def faults(self, body: bytes, headers: Mapping[str, str]) -> dict[str, str]:
        """What is wrong with each signature: {"v1": "", "v1a": ""} when both hold.

        Each check is given only its own signatures, so that the one can't hold for the other.
        """
        lower = {name.lower(): value for name, value in headers.items()}
        return {"v1": self._v1(body, _only("v1", lower)), "v1a": self._v1a(body, _only("v1a", lower))}

    def _v1(self, body: bytes, headers: dict[str, str]) -> str:
        try:
            Webhook(self.secret).verify(body.decode(), headers)
        except (WebhookVerificationError, ValueError) as error:
            return str(error) or type(error).__name__
        return ""

    def _v1a(self, body: bytes, headers: dict[str, str]) -> str:
        try:
            verify(body, headers, jwks=self.jwks)
        except (VerificationError, ValueError) as error:
            return str(error)
        return ""


def _only(version: str, headers: Mapping[str, str]) -> dict[str, str]:
    tokens = [token for token in headers.get("webhook-signature", "").split() if token.startswith(f"{version},")]
    return {**headers, "webhook-signature": " ".join(tokens)}


def read(body: bytes) -> dict[str, Any]:
    """A notification's event, numbers digit for digit; {} when the body isn't a JSON object."""
    try:
        event = json.loads(body, parse_float=Decimal)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}
