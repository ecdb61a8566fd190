"""The versions of the signing secret, in the stages that a test gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from herald.delivery.signing import Stage


@dataclass(frozen=True)
class FakeVersion:
    version_id: str = "v-1"
    text: str = field(default="the signing secret", repr=False)


class FakeVersions:
    """``herald.delivery.signing.Versions``: one current version, unless a test says otherwise."""

    def __init__(
        self,
        current: FakeVersion | None = FakeVersion(),
        *,
        pending: FakeVersion | None = None,
        previous: FakeVersion | None = None,
    ) -> None:
        self._stages = {"AWSCURRENT": current, "AWSPENDING": pending, "AWSPREVIOUS": previous}

    def current(self) -> FakeVersion:
        if (found := self._stages["AWSCURRENT"]) is None:
            raise LookupError("the secret has no current version")
        return found

    def stage(self, stage: Stage) -> FakeVersion | None:
        return self._stages[stage]

    def all(self) -> Sequence[FakeVersion]:
        return [version for version in self._stages.values() if version is not None]
