"""What remains of tasks and owners, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fakes.faults import Faults
from fakes.store import World
from herald.ports import Remnant
from herald.records import Attempt, Caller, Entry, Header, TakenSend, TaskRef, Webhook

KINDS = {Header: "header", TakenSend: "follow-up", Webhook: "webhook", Attempt: "attempt"}


class FakeRemains(Faults):
    """Remains of a World. ``objects`` are bodies in the bucket, by task; ``besides`` is what owners have."""

    def __init__(self, world: World) -> None:
        super().__init__(world.lock)
        self.world = world
        self.objects: dict[TaskRef, set[str]] = {}
        self.besides: dict[Caller, set[str]] = {}

    def items(self, place: TaskRef | Caller) -> list[Remnant]:
        with self._call("items"):
            if isinstance(place, Caller):
                return [Remnant(sk, "origins") for sk in sorted(self.besides.get(place, ()))]
            found = [(sk, item.record) for (ref, sk), item in self.world.items.items() if ref == place]
            return [_remnant(sk, record) for sk, record in sorted(found, key=lambda each: each[0])]

    def delete(self, place: TaskRef | Caller, sort_keys: Sequence[str]) -> None:
        with self._call("delete"):
            for sk in sort_keys:
                if isinstance(place, Caller):
                    self.besides.get(place, set()).discard(sk)
                else:
                    self.world.remove(place, sk)

    def bodies(self, ref: TaskRef) -> list[str]:
        with self._call("bodies"):
            return sorted(self.objects.get(ref, ()))

    def delete_bodies(self, keys: Sequence[str]) -> None:
        with self._call("delete_bodies"):
            for objects in self.objects.values():
                objects.difference_update(keys)

    def tasks_of(self, owner: Caller) -> Iterable[TaskRef]:
        with self._call("tasks_of"):
            return [ref for ref, sk in self.world.items if sk == "TASK" and ref.caller == owner]

    def find(self, task_id: str) -> Iterable[TaskRef]:
        with self._call("find"):
            return [ref for ref, sk in self.world.items if sk == "TASK" and ref.task_id == task_id]


def _remnant(sk: str, record: Header | Entry | TakenSend | Webhook | Attempt) -> Remnant:
    if isinstance(record, Entry):
        return Remnant(sk, record.kind, record.number, record.at, record.run, record.state)
    return Remnant(sk, KINDS[type(record)])
