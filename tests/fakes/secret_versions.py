"""The versions of the signing secret, in the stages that a test gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fakes.clock import START, FakeClock
from herald.delivery.rotation import Staged


@dataclass(frozen=True)
class FakeVersion:
    """A version of a secret; it is old unless a test says otherwise."""

    version_id: str = "v-1"
    text: str = field(default="the signing secret", repr=False)
    created_at: int = 0


class FakeVersions:
    """``herald.delivery.signing.Versions``: one current version, unless a test says otherwise.

    Without a clock it is START for ever.
    """

    def __init__(
        self,
        current: FakeVersion | None = FakeVersion(),
        *,
        pending: FakeVersion | None = None,
        previous: FakeVersion | None = None,
        clock: FakeClock | None = None,
    ) -> None:
        self._staged = None if current is None else Staged(current, previous, pending)
        self._clock = clock or FakeClock(START)

    def signing(self) -> Sequence[FakeVersion]:
        return self._stages().signing(self._clock.now())

    def published(self) -> Sequence[FakeVersion]:
        return self._stages().published(self._clock.now())

    def _stages(self) -> Staged[FakeVersion]:
        if self._staged is None:
            raise LookupError("the secret has no current version")
        return self._staged
