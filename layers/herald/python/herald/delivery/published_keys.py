"""All public keys of a deployment, as its JWKS holds them: of signatures by tenant, of tokens, of the Agent Card."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from herald.delivery.signing import SigningKeys
from herald.ports import CardKey, TokenKey

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PublishedKeys:
    """The sets of keys.

    Attributes:
        notifications: Ed25519, a tenant's own.
        card: ES256, in the set without a tenant, which the card's signature names; None for a card without a signature.
        tokens: RS256, in every set: one key signs the tokens for the receivers of all tenants, and names theirs in
            ``iss``. None where there are no tokens.
    """

    notifications: SigningKeys
    card: CardKey | None = None
    tokens: TokenKey | None = None

    def of(self, tenant: str) -> list[Mapping[str, str]]:
        """The keys of a tenant, "" for none, as JSON Web Keys.

        A key of KMS that is gone or was disabled is left out: it signs nothing, and takes no other along.

        Raises:
            Unavailable: a key can't be read at the moment.
            LookupError: the signing secret has no current version.
        """
        keys: list[Mapping[str, str]] = [key.jwk for key in self.notifications.public(tenant)]
        for key in (self.tokens, None if tenant else self.card):
            try:
                keys += [] if key is None else [key.jwk()]
            except LookupError:
                logger.exception("a key isn't published")
        return keys
