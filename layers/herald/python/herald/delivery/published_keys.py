"""All public keys of a deployment, as its JWKS holds them: of notifications, by tenant, and of the Agent Card."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from herald.delivery.signing import SigningKeys
from herald.ports import CardKey

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PublishedKeys:
    """The sets of keys.

    Attributes:
        notifications: Ed25519, a tenant's own.
        card: ES256, in the set without a tenant, which the card's signature names; None for a card without a signature.
    """

    notifications: SigningKeys
    card: CardKey | None = None

    def of(self, tenant: str) -> list[Mapping[str, str]]:
        """The keys of a tenant, "" for none, as JSON Web Keys.

        A card's key that is gone or was disabled is left out: receivers of notifications have nothing to do with it.

        Raises:
            Unavailable: a key can't be read at the moment.
            LookupError: the signing secret has no current version.
        """
        keys: list[Mapping[str, str]] = [key.jwk for key in self.notifications.public(tenant)]
        if self.card is None or tenant:
            return keys
        try:
            return [*keys, self.card.jwk()]
        except LookupError:
            logger.exception("the card's key isn't published")
            return keys
