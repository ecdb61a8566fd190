"""What is kept beside tasks, in memory."""

from __future__ import annotations

from fakes.faults import Faults
from herald.ports import Unavailable
from herald.records import TaskRef


class FakeKeptBodies(Faults):
    """KeptBodies in memory, by key."""

    def __init__(self) -> None:
        super().__init__()
        self.bodies: dict[str, bytes] = {}

    def keep(self, ref: TaskRef, name: str, body: bytes, expires_second: int) -> str:
        key = f"bodies/{ref.tenant}/{ref.owner}/{ref.task_id}/{name}"
        with self._call("keep"):
            self.bodies.setdefault(key, body)
        return key

    def get(self, key: str) -> bytes:
        with self._call("get"):
            if key not in self.bodies:
                raise Unavailable(f"{key} isn't in the bucket")
            return self.bodies[key]

    def link(self, key: str, seconds: int) -> str:
        return f"https://bucket.example/{key}?for={seconds}"
