"""Erasing a task: everything that is stored of it, and nothing comes after.

Webhooks go first, so that nothing more is delivered. An open task is canceled, so that nobody may change its header any
more, and its execution is stopped. Then all goes but the header, by which an erasure that was interrupted is found
again.

Some writers ask nothing of the header: a run of the agent that hasn't noticed puts its artifacts wherever a number is
free, a sender records a failed attempt, a request under way registers its webhook. None of them outlives its function's
time-out. So the last pass comes after that time and removes what came meanwhile, and the header with it.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from herald.log import Appender, Fenced, status_entry
from herald.ports import Clock, Ids, Remains, Remnant, TaskLog, WorkerLauncher
from herald.protocol.states import ENDS_TURN, TaskState
from herald.records import Caller, Entry, Header, TaskRef

logger = logging.getLogger(__name__)

# How long a function that is running already may go on writing, ms: the time-outs of template.yaml, and Lambda's own.
API_MS = 30_000
SENDER_MS = 90_000
RUN_MS = 900_000

# What each kind of item is called when it is counted, in the order in which it is told.
NAMES = {
    "header": "header",
    "message": "log entry",
    "run": "log entry",
    "status": "log entry",
    "artifact": "log entry",
    "follow-up": "mark of a follow-up",
    "webhook": "webhook",
    "attempt": "failed attempt",
    "origins": "list of webhook origins",
    "other": "other item",
}
BODY = "large body"

Counts = Counter[str]


@dataclass(frozen=True, slots=True)
class Pass:
    """What a first pass removed, by name, and until when (ms since 1970) somebody may write whom it couldn't stop."""

    removed: Counts
    writers_until: int
    canceled: bool  # the task was open, and was ended for this
    running: bool  # whoever is waited for longest is a run of the agent


@dataclass(frozen=True, slots=True)
class Erasure:
    """Erases tasks, and what an owner has besides.

    Each method raises ``Unavailable`` when a service doesn't answer; what is gone is gone, and it may be called again.
    """

    log: TaskLog
    remains: Remains
    launcher: WorkerLauncher
    clock: Clock
    ids: Ids

    def look(self, place: TaskRef | Caller) -> Counts:
        """How many things there are of each name; nothing is changed."""
        return _counted(self.remains.items(place), self._bodies(place))

    def first(self, ref: TaskRef) -> Pass:
        """Stop everything that is done for a task, and remove all but its header."""
        now = self.clock.now()
        webhooks = [each for each in self.remains.items(ref) if each.kind == "webhook"]
        self._delete(ref, webhooks)
        header = self.log.header(ref)
        canceled = False
        if header is not None and not header.terminal:
            header, canceled = self._cancel(header)
        items = [each for each in self.remains.items(ref) if each.kind != "header"]
        bodies = self._bodies(ref)
        run_until = _run_until(header, items)
        until = max(run_until, now + API_MS, now + SENDER_MS if webhooks else 0)
        self._delete(ref, items)
        self.remains.delete_bodies(bodies)
        removed = _counted([*webhooks, *items], bodies)
        removed["log entry"] -= canceled  # that one was ours
        return Pass(+removed, until, canceled, running=until == run_until)

    def last(self, place: TaskRef | Caller) -> Counts:
        """Remove whatever is left, a task's header too. To be called when nobody can write any more."""
        items, bodies = self.remains.items(place), self._bodies(place)
        self._delete(place, [each for each in items if each.kind != "header"])
        self.remains.delete_bodies(bodies)
        self._delete(place, [each for each in items if each.kind == "header"])
        return _counted(items, bodies)

    def _bodies(self, place: TaskRef | Caller) -> list[str]:
        return self.remains.bodies(place) if isinstance(place, TaskRef) else []

    def _delete(self, place: TaskRef | Caller, items: Sequence[Remnant]) -> None:
        self.remains.delete(place, [each.sort_key for each in items])

    def _cancel(self, header: Header) -> tuple[Header | None, bool]:
        """The header of a task that has ended now, and whether that was our doing. Its execution is stopped."""
        appender = Appender(self.log, self.clock, self.ids, header, header.end, _still_open)

        def canceled(number: int, writer: str) -> Entry:
            return status_entry(appender.header, number, writer, TaskState.CANCELED, self.clock.now())

        try:
            appender.commit(canceled, lambda before, entry: before.with_status(entry, due_at=None))
        except Fenced:  # it has ended or gone meanwhile
            return self.log.header(header.ref), False
        ended = appender.header
        try:
            self.launcher.stop(ended.ref, ended.turn, ended.opened_at)
        except Exception as error:  # whatever it still writes is waited for and removed
            logger.warning("The execution of task %s couldn't be stopped: %s", ended.ref.task_id, error)
        return ended, True


def _still_open(header: Header) -> None:
    if header.terminal:
        raise Fenced(f"the task has ended, in {header.state}")


def _run_until(header: Header | None, items: Iterable[Remnant]) -> int:
    """Until when a run of the agent may write that hasn't noticed its task's end; 0 when there is none.

    A run that has ended its turn, or stopped at a checkpoint, writes no more. Where the log isn't whole, after an
    erasure that was interrupted, a run may have begun right before the task ended; none can have begun after.
    """
    log = [each for each in items if each.number >= 0]
    if header is not None and not set(range(header.end + 1)) <= {each.number for each in log}:
        return header.status_at + RUN_MS
    runs = [each for each in log if each.kind == "run"]
    over = {each.run for each in log if each.state in ENDS_TURN} | {
        each.run for each in runs if each.number != each.run
    }
    return max((each.at + RUN_MS for each in runs if each.run not in over), default=0)


def _counted(items: Iterable[Remnant], bodies: Sequence[str]) -> Counts:
    counts = Counter(NAMES[each.kind] for each in items)
    if bodies:
        counts[BODY] = len(bodies)
    return counts
