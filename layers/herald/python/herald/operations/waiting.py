"""How a blocking SendMessage waits (A2A specification section 3.2.2): it polls the header, and only that."""

from __future__ import annotations

from herald.ports import Clock, TaskLog
from herald.records import Header

FIRST_PAUSE = 0.1  # seconds
LONGEST_PAUSE = 1.0
GROWTH = 1.5


def settled(log: TaskLog, clock: Clock, header: Header, give_up: int) -> None:
    """Return when the task is in a terminal or interrupted state, or when it is ``give_up`` (ms since 1970)."""
    pause = FIRST_PAUSE
    seen: Header | None = header
    while seen is not None and not seen.terminal and not seen.interrupted:
        left = (give_up - clock.now()) / 1000
        if left <= 0:
            return
        clock.sleep(min(pause, left))
        pause = min(LONGEST_PAUSE, pause * GROWTH)
        seen = log.header(header.ref)
