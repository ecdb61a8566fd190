"""From an Authorization header to who is calling."""

from __future__ import annotations

from dataclasses import dataclass

from herald.authorization import claims, token
from herald.authorization.claims import Expected, Identity
from herald.authorization.key_ring import KeyRing
from herald.authorization.refusal import Reason, Refused
from herald.ports import Clock


@dataclass(frozen=True, slots=True)
class Verifier:
    """Checks tokens of one issuer: form, algorithm, key, signature, and only then what they say."""

    expected: Expected
    keys: KeyRing
    clock: Clock

    def identify(self, authorization: str) -> Identity:
        """Who calls, of an Authorization header.

        Raises:
            Refused: the token isn't taken.
            Unavailable: the issuer's keys can't be had, so nobody knows.
        """
        sent = token.from_header(authorization)
        key = self.keys.find(sent.kid, sent.algorithm)
        if key is None:
            raise Refused(Reason.UNKNOWN_KEY)
        if not sent.signed_by(key):
            raise Refused(Reason.SIGNATURE)
        return claims.identify(sent.claims(), self.expected, self.clock.now() / 1000)
