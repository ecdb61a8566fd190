"""What a deployment makes of the adopter's card: addresses, capabilities, security, the push extension."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from herald.bindings import card_security
from herald.bindings.card import WrittenCard
from herald.bindings.card_rules import PUSH_EXTENSION, JsonObject
from herald.bindings.card_security import Door
from herald.bindings.card_signature import SignedCard
from herald.delivery import retry, token
from herald.ports import CardSigner, Meter
from herald.protocol.card import AgentCard
from herald.protocol.version import VERSION

JWKS_PATH = "/.well-known/jwks.json"


@dataclass(frozen=True, slots=True)
class Deployment:
    """What the card says about this deployment.

    Attributes:
        door: who is let in.
        webhook_seconds: how long a receiver may take.
        webhooks_per_task: how many a task may have.
        webhook_tokens: whether a receiver that asks for a Bearer token gets one.
        egress_addresses: the addresses that all notifications come from; none where they come from anywhere.
    """

    door: Door
    webhook_seconds: float
    webhooks_per_task: int
    webhook_tokens: bool = False
    egress_addresses: tuple[str, ...] = ()


class Cards:
    """The adopter's cards as they are served, each at any base address.

    Args:
        signer: None for cards without a signature.
        meter: counts those that go out without one that they should have.
    """

    def __init__(
        self, written: WrittenCard, deployment: Deployment, signer: CardSigner | None, meter: Meter | None = None
    ) -> None:
        def signed(card: Mapping[str, Any]) -> SignedCard:
            return SignedCard(lambda base_url: completed(card, written, base_url, deployment), JWKS_PATH, signer, meter)

        self.public = signed(written.card)
        self._extended = None if written.extended is None else signed(written.extended)

    @property
    def extended(self) -> Callable[[str], JsonObject] | None:
        """What makes the card for authenticated callers; None when there is none."""
        card = self._extended
        return None if card is None else lambda base_url: card.page(base_url).card


def completed(card: Mapping[str, Any], written: WrittenCard, base_url: str, deployment: Deployment) -> JsonObject:
    """One of the written cards as it is at ``base_url``: ProtoJSON, not signed yet."""
    extensions = list(card["capabilities"].get("extensions", []))
    if written.push_notifications:
        extensions.append(push_extension(base_url, deployment))
    return AgentCard.parse(
        {
            **card,
            # In order of preference: JSON-RPC has one address for everything, and every SDK speaks it.
            "supportedInterfaces": [
                {"url": f"{base_url}/", "protocolBinding": "JSONRPC", "protocolVersion": VERSION},
                {"url": base_url, "protocolBinding": "HTTP+JSON", "protocolVersion": VERSION},
            ],
            "capabilities": {
                "streaming": False,
                "pushNotifications": written.push_notifications,
                "extendedAgentCard": written.extended is not None,
                "extensions": extensions,
            },
            **card_security.filled_in(card, deployment.door),
        }
    ).wire()


def push_extension(base_url: str, deployment: Deployment) -> JsonObject:
    """How notifications are signed and repeated, as the card announces it; docs/webhooks.md explains it."""
    tokens = {"jwt": "RS256, public key at jwksUrl, where the authentication is Bearer without credentials"}
    return {
        "uri": PUSH_EXTENSION,
        "description": "Notifications are signed, delivered in order, at least once, and repeated on failure.",
        "params": {
            "specification": "Standard Webhooks 1.0.0",
            "headers": {
                "id": "webhook-id",
                "timestamp": "webhook-timestamp",
                "signature": "webhook-signature",
                "token": ["X-A2A-Notification-Token", "A2A-Notification-Token"],
            },
            "algorithms": {
                "v1a": "ed25519, public keys at jwksUrl",
                "v1": "hmac-sha256, where the token is whsec_ and the receiver's own key in base64",
                **(tokens if deployment.webhook_tokens else {}),
            },
            "jwksUrl": f"{base_url}{JWKS_PATH}",
            **({"jwt": {"issuer": base_url, "claims": list(token.CLAIMS)}} if deployment.webhook_tokens else {}),
            "toleranceSeconds": 300,
            "timeoutSeconds": deployment.webhook_seconds,
            "retryAfterSeconds": list(retry.DELAYS),
            "attempts": retry.MAX_ATTEMPTS,
            "webhooksPerTask": deployment.webhooks_per_task,
            **({"egressAddresses": list(deployment.egress_addresses)} if deployment.egress_addresses else {}),
        },
    }
