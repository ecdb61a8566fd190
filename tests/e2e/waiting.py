"""Waiting for a condition, with a bound: the only way in which an e2e test lets time pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

BOUND = 60.0  # seconds; what is waited for takes one or two on an idle machine, a cold start included
LOOK = 0.05  # seconds between two looks


def wait_for(what: str, look: Callable[[], T], seconds: float = BOUND) -> T:
    """What ``look`` returns, once it is true.

    Raises:
        AssertionError: it isn't within so many seconds; names ``what`` and what was seen last.
    """
    give_up = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < give_up, f"waited {seconds:.0f} s for {what}; the last look gave {seen!r}"
        time.sleep(LOOK)
    return seen
