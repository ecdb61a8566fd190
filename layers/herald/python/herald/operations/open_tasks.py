"""How many tasks one owner may have open at a time.

The owner's open tasks are counted in an index, and the room that was found is remembered: a process gives out a
twentieth of it before it counts again. So nearly every send is let in without a request more, and the limit is soft:
each process of the API that an owner's sends meet at the same time may pass it by a twentieth of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from herald.ports import Clock, Usage
from herald.protocol.errors import ResourceExhaustedError
from herald.records import Caller

SHARE = 20  # one part in so many of the room is given out before the next count
KNOWN_MS = 600_000  # a count is good for so long
FULL_MS = 1_000  # and for so long when there was no room: who asks on and on isn't counted each time
MOST_OWNERS = 1_000  # that one process remembers


@dataclass(slots=True)
class _Room:
    left: int
    full: bool
    until: int  # ms since 1970


@dataclass(frozen=True, slots=True)
class OpenTasks:
    """The limit on an owner's open tasks, and what this process knows of their room."""

    usage: Usage
    clock: Clock
    limit: int
    _rooms: dict[Caller, _Room] = field(default_factory=dict, init=False, repr=False)

    def check(self, owner: Caller) -> None:
        """Return if the owner may open one more.

        Raises:
            ResourceExhaustedError: they have as many open tasks as they may.
        """
        room = self._rooms.get(owner)
        if room is None or room.until <= self.clock.now() or (room.left <= 0 and not room.full):
            room = self._counted(owner)
        if room.full:
            raise ResourceExhaustedError(
                f"You have {self.limit:,} open tasks, the most that one owner may have: wait until some have ended, "
                "answer those that wait for you, or cancel some. Then send the same message again.",
                metadata={"limit": str(self.limit)},
            )

    def opened(self, owner: Caller) -> None:
        """One more is open."""
        if room := self._rooms.get(owner):
            room.left -= 1

    def _counted(self, owner: Caller) -> _Room:
        self._rooms.pop(owner, None)
        free = self.limit - self.usage.open_tasks(owner, self.limit)
        full = free <= 0
        room = _Room(-(-free // SHARE), full, self.clock.now() + (FULL_MS if full else KNOWN_MS))
        if len(self._rooms) >= MOST_OWNERS:
            del self._rooms[next(iter(self._rooms))]  # whose count is the oldest
        self._rooms[owner] = room
        return room
