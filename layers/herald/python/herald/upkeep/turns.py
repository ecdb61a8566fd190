"""What becomes of turns that don't end by themselves."""

from __future__ import annotations

from dataclasses import dataclass, field

from herald import metrics
from herald.ports import Clock, Ids, Meter, TaskLog, Unmetered, WorkerLauncher
from herald.records import Header, TaskRef
from herald.upkeep.ending import fail_task

START_AGAIN_MS = 60_000  # between the first two starts; the wait grows with the turn's age

STOPPED = "The agent stopped unexpectedly."
TOO_LATE = "The agent did not finish this task in time."
NOT_STARTED = "The agent could not be started in time."
TOO_OLD = "This task was still open at its maximum age, so it was ended."
UNANSWERED = "This task waited for its client until its maximum age, so it was ended."


@dataclass(frozen=True, slots=True)
class Turns:
    """Looks after turns.

    ``turn_seconds`` is how long a turn may take from when it was opened.
    """

    log: TaskLog
    launcher: WorkerLauncher
    clock: Clock
    ids: Ids
    turn_seconds: int
    meter: Meter = field(default_factory=Unmetered)

    def stopped(self, ref: TaskRef, turn: int, *, timed_out: bool = False) -> bool:
        """End the task whose execution of this turn has stopped without ending it; True if that was needed.

        A task that has ended, waits for its client or is in another turn is left alone, so a second call changes
        nothing.

        Raises:
            Unavailable: the table didn't answer.
        """
        header = self.log.header(ref)
        if header is None or header.terminal or header.interrupted or header.turn != turn:
            return False
        return self._fail(header, TOO_LATE if timed_out else STOPPED)

    def look_after(self, ref: TaskRef) -> str:
        """Do what is due for one task; what was done, for the log: "" when nothing was.

        Raises:
            Unavailable: the table or Step Functions didn't answer.
        """
        header = self.log.header(ref)
        now = self.clock.now()
        if header is None or header.terminal or header.due_at is None or header.due_at > now:
            return ""  # the index was behind, or the task has expired
        if header.interrupted:
            return self._wait_on(header, now)
        if now >= header.end_by:
            return self._end(header, TOO_OLD)
        if header.run >= 0:
            return self._end(header, TOO_LATE)  # once a turn runs, its deadline is what is due
        return self._start_again(header, now)

    def _wait_on(self, header: Header, now: int) -> str:
        if now >= header.end_by:
            return "ended" if fail_task(self.log, self.clock, self.ids, header, UNANSWERED) else ""
        self.log.defer(header, header.end_by)
        return "deferred"

    def _end(self, header: Header, text: str) -> str:
        if not self._fail(header, text):
            return ""
        self.launcher.stop(header.ref, header.turn, header.opened_at)
        return "ended"

    def _fail(self, header: Header, text: str) -> bool:
        failed = fail_task(self.log, self.clock, self.ids, header, text)
        if failed:
            self.meter.add(metrics.TURNS_FAILED)
        return failed

    def _start_again(self, header: Header, now: int) -> str:
        deadline = header.opened_at + self.turn_seconds * 1000
        if now >= deadline:
            return self._end(header, NOT_STARTED)
        # First start, then put off: the other way round, a crash in between would lose the start for a while. The
        # waits double, for a turn that isn't begun has most likely been started already and waits for its run.
        self.launcher.start(header.ref, header.turn, header.opened_at)
        self.log.defer(header, min(now + max(START_AGAIN_MS, now - header.opened_at), deadline, header.end_by))
        return "started again"
