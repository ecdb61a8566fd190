"""What owners have in use, in memory."""

from __future__ import annotations

from fakes.faults import Faults
from fakes.store import World
from herald.records import Caller, Header, OriginsInUse


class FakeUsage(Faults):
    """Usage over a World's headers. ``lag`` is how many open tasks of an owner its index doesn't show yet."""

    def __init__(self, world: World) -> None:
        super().__init__(world.lock)
        self.world = world
        self.lag = 0
        self._origins: dict[Caller, OriginsInUse] = {}

    def open_tasks(self, owner: Caller, at_most: int) -> int:
        with self._call("open_tasks"):
            found = [
                item.record
                for (ref, _), item in self.world.items.items()
                if ref.caller == owner and isinstance(item.record, Header) and not item.record.terminal
            ]
            return min(max(0, len(found) - self.lag), at_most)

    def origins(self, owner: Caller) -> OriginsInUse:
        with self._call("origins"):
            return self._living(owner)

    def replace_origins(self, before: OriginsInUse, after: OriginsInUse) -> bool:
        with self._call("replace_origins") as outcome:
            if self._living(before.owner).revision != before.revision:
                return False
            self._origins[after.owner] = after
            return not outcome.lost

    def _living(self, owner: Caller) -> OriginsInUse:
        stored = self._origins.get(owner, OriginsInUse(owner))
        now = self.world.clock.now() // 1000
        return stored if max(stored.until.values(), default=0) > now else OriginsInUse(owner)
