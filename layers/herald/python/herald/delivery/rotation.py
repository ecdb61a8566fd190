"""Which versions of the signing secret sign at a moment, and which are published: decided by when the newest was made.

A rotation is one new version, however it came about; Secrets Manager knows when it was made, so that all processes
agree on what follows, whatever they have cached:

| age of the current version   | signs             | published                   |
| ---------------------------- | ----------------- | --------------------------- |
| less than ``LEAD_MS``        | previous          | previous, current           |
| the ``OVERLAP_MS`` after it  | current, previous | current, previous           |
| the ``LINGER_MS`` after that | current           | current, previous           |
| more                         | current           | current                     |

A version that waits in AWSPENDING is published, too. Where there is no previous version, the current one signs at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

Stage = Literal["AWSCURRENT", "AWSPENDING", "AWSPREVIOUS"]

HOUR_MS = 3_600_000

# A key is published so long before it signs: many times what a publisher or a sender keeps of the secret (5 minutes)
# and what caches keep of the JWKS (5 minutes).
LEAD_MS = HOUR_MS
OVERLAP_MS = 24 * HOUR_MS  # two keys sign: a receiver that loads the JWKS once a day always has one of them
LINGER_MS = HOUR_MS  # a key is published so long after it has signed for the last time

SAFE_MS = LEAD_MS + OVERLAP_MS + LINGER_MS
"""The age of a version at which the next one may be made: the last rotation has left no trace."""


class Version(Protocol):
    """A version of a secret, as Secrets Manager keeps it. ``created_at`` is in milliseconds since 1970."""

    @property
    def version_id(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def created_at(self) -> int: ...


V = TypeVar("V", bound=Version)


@dataclass(frozen=True, slots=True)
class Staged(Generic[V]):
    """The versions of a secret in their stages, as they stood at one moment."""

    current: V
    previous: V | None = None
    pending: V | None = None

    def signing(self, now: int) -> list[V]:
        """The versions whose keys sign, the newest first."""
        former, age = self._former, now - self.current.created_at
        if former is None or age >= LEAD_MS + OVERLAP_MS:
            return [self.current]
        return [former] if age < LEAD_MS else [self.current, former]

    def published(self, now: int) -> list[V]:
        """The versions whose keys are published: those that sign, are about to, or have done so lately."""
        former = self._former if now - self.current.created_at < SAFE_MS else None
        return _each_once([*self.signing(now), self.current, former, self.pending])

    @property
    def _former(self) -> V | None:
        same = self.previous is not None and self.previous.version_id == self.current.version_id
        return None if same else self.previous


def _each_once(versions: Sequence[V | None]) -> list[V]:
    found: dict[str, V] = {}
    for version in versions:
        if version is not None:
            found.setdefault(version.version_id, version)
    return list(found.values())
