"""What the client has said while a turn runs, and how far the turn's agent has read it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from herald.protocol import codec
from herald.records import Entry

READ = "read"


class Inbox:
    """The messages after a turn's own. Each is handed out once, in order, to whoever asks for new ones.

    What was handed out counts as read when the run's ending or checkpoint is stored; a crash makes it unread again.

    Args:
        entries: the log up to the entry that opens the run.
    """

    def __init__(self, entries: Iterable[Entry], turn: int) -> None:
        known = list(entries)
        self.read_up_to = _mark(known, turn)
        self._waiting: deque[Entry] = deque()
        for entry in known:
            self.learn(entry)

    @property
    def next(self) -> Entry | None:
        """The oldest message that nobody has read."""
        return self._waiting[0] if self._waiting else None

    def learn(self, entry: Entry) -> None:
        """Take in one entry of the log, in the log's order."""
        if entry.kind == "message" and entry.number > self.read_up_to:
            self._waiting.append(entry)

    def take(self) -> list[Entry]:
        """All that waits; it waits no longer."""
        taken = list(self._waiting)
        self._waiting.clear()
        if taken:
            self.read_up_to = taken[-1].number
        return taken


def _mark(entries: Sequence[Entry], turn: int) -> int:
    """Up to which message the turn had read at its last checkpoint; its own where it had read no other."""
    for entry in reversed(entries):
        if entry.kind == "run" and entry.turn == turn and entry.body != "{}":
            return int(codec.loads(entry.body).get(READ, turn))
    return turn
