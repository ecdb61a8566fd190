"""Reading ahead of a cursor: what comes next for a webhook."""

from __future__ import annotations

from collections import deque

from herald.delivery import message
from herald.delivery.message import Notification
from herald.ports import TaskLog, Unavailable
from herald.records import Entry, TaskRef, Webhook

PAGE = 25  # entries read at once: their bodies are held in memory


class Ahead:
    """The log ahead of a cursor, read in pages. Entries never change, so a page stays good whatever happens."""

    def __init__(self, log: TaskLog, ref: TaskRef) -> None:
        self._log = log
        self._ref = ref
        self.read_anew()

    def read_anew(self) -> None:
        self._entries: deque[Entry] = deque()
        self._cursor = -1  # as seen last: what lies before it may have been dropped
        self._more = True  # whether there may be entries after those that were read

    def drained(self, webhook: Webhook) -> bool:
        """True when all that was read is dealt with and nothing was left unread. Reads nothing."""
        self._skip(webhook.cursor)
        return not self._entries and not self._more

    def next(self, webhook: Webhook) -> Notification | None:
        """What comes next for a webhook; None when there is nothing.

        Raises:
            Unavailable: entries that a snapshot folds can't be seen.
        """
        if webhook.snapshot_due:
            return self._snapshot(webhook)
        if webhook.cursor < self._cursor:  # it was set back
            self.read_anew()
        self._skip(webhook.cursor)
        after = webhook.cursor
        while not self._entries and self._more:
            page = self._log.read(self._ref, after=after, limit=PAGE)
            self._more = len(page) == PAGE
            self._entries.extend(page)
            after = page[-1].number if page else after
            self._skip(webhook.cursor)
        return message.of_entry(self._entries[0]) if self._entries else None

    def _skip(self, cursor: int) -> None:
        self._cursor = cursor
        while self._entries and (self._entries[0].number <= cursor or not message.is_sent(self._entries[0])):
            self._entries.popleft()

    def _snapshot(self, webhook: Webhook) -> Notification:
        size = webhook.snapshot + 1
        entries = self._log.read(self._ref, limit=size)
        if len(entries) < size:
            raise Unavailable(f"entries of task {self._ref.task_id} that a snapshot needs can't be seen")
        return message.of_snapshot(self._ref, entries, webhook.mark)
