"""The issuer's keys, kept: asked for again when they are old or when one is missing, and never more often than that.

An issuer that can't be reached doesn't make good tokens bad: its keys go on being used for a day. And a stranger who
sends tokens with made-up key names makes us ask it once in half a minute, no more.
"""

from __future__ import annotations

import logging

from herald.authorization import keys, strict_json
from herald.authorization.keys import Key
from herald.ports import Clock, IssuerDocuments, Unavailable

logger = logging.getLogger(__name__)

FRESH_MS = 3_600_000  # after an hour they are asked for again, so that a withdrawn key doesn't stay
STALE_MS = 86_400_000  # an unreachable issuer's are used so long
PAUSE_MS = 30_000  # between two tries, successful or not

DISCOVERY = "/.well-known/openid-configuration"


class KeyRing:
    """The keys of one issuer.

    Args:
        jwks_url: where they are; "" to ask the issuer's discovery document (OpenID Connect Discovery 1.0, section 4).
    """

    def __init__(self, documents: IssuerDocuments, issuer: str, jwks_url: str, clock: Clock) -> None:
        self._documents = documents
        self._issuer = issuer
        self._jwks_url = jwks_url
        self._clock = clock
        self._keys: tuple[Key, ...] = ()
        self._read_at = 0
        self._tried_at: int | None = None
        self._failing = False

    def find(self, kid: str | None, algorithm: str) -> Key | None:
        """The key of this name for this algorithm; None when the issuer has no such key.

        A token that names no key is one of an issuer that has a single one for the algorithm.

        Raises:
            Unavailable: the issuer can't be reached, so nobody knows.
        """
        now = self._clock.now()
        if now - self._read_at >= FRESH_MS:
            self._read(now)
        if now - self._read_at >= STALE_MS:
            self._keys = ()
        found = self._matching(kid, algorithm)
        if found is None and self._read(now):
            found = self._matching(kid, algorithm)
        if found is None and self._failing:
            raise Unavailable("the issuer's keys")
        return found

    def _matching(self, kid: str | None, algorithm: str) -> Key | None:
        found = [key for key in self._keys if algorithm in key.algorithms and kid in (None, key.kid)]
        return found[0] if len(found) == 1 else None

    def _read(self, now: int) -> bool:
        """Ask the issuer, unless that was tried just now; whether there are new keys."""
        if self._tried_at is not None and now - self._tried_at < PAUSE_MS:
            return False
        self._tried_at = now
        try:
            self._keys = keys.read(self._documents.read(self._jwks_url or self._discovered()))
        except (Unavailable, ValueError) as error:
            self._failing = True
            logger.warning("the issuer's keys can't be read", extra={"error": str(error)})
            return False
        self._read_at, self._failing = now, False
        return True

    def _discovered(self) -> str:
        found = strict_json.read_object(self._documents.read(self._issuer.rstrip("/") + DISCOVERY))
        if found.get("issuer") != self._issuer:
            raise ValueError("the discovery document is another issuer's")
        address = found.get("jwks_uri")
        if isinstance(address, str):
            return address
        raise ValueError("the discovery document names no keys")
