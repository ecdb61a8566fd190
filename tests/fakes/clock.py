"""Time and names that tests can foresee."""

from __future__ import annotations

import base64

START = 1_767_225_600_000  # 2026-01-01T00:00:00Z


class FakeClock:
    """Stands still until it is told otherwise; sleeping moves it on at once."""

    def __init__(self, now: int = START) -> None:
        self._now = now
        self.slept: list[float] = []

    def now(self) -> int:
        return self._now

    def set(self, now: int) -> None:
        self._now = now

    def advance(self, seconds: float) -> None:
        self._now += round(seconds * 1000)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)


class SequentialIds:
    """Tokens of the right shape (26 lower-case base32 characters), one after the other."""

    def __init__(self) -> None:
        self._last = 0

    def token(self) -> str:
        self._last += 1
        return token(self._last)


def token(number: int) -> str:
    """The ``number``-th token of SequentialIds, counted from 1."""
    # The number stands in the first bytes, so that tokens differ where an eye looks first.
    return base64.b32encode(number.to_bytes(5, "big").ljust(16, b"\0")).decode().rstrip("=").lower()
