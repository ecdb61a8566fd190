"""Running an agent for one turn of one task."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from herald import correlation, metrics
from herald.agent import Agent, Checkpoint, TaskContext, TaskEnded
from herald.log import Appender, Fenced, same_run
from herald.ports import Clock, Ids, Meter, TaskLog, Unavailable, Unmetered
from herald.protocol.states import TaskState
from herald.records import Entry, Header, TaskRef
from herald.worker.opening import same_turn, steps_of, turn_of
from herald.worker.reports import RunReports, opened

logger = logging.getLogger(__name__)

MAX_STEPS = 1_000  # checkpoints in one turn; also bounds the history of its execution (25,000 events)

FAILED = "The agent failed while working on this task."
UNFINISHED = "The agent ended without finishing the task."
TOO_MANY_STEPS = f"The agent stopped {MAX_STEPS:,} times to go on later without finishing the task."


class Outcome(StrEnum):
    """What the execution does next: nothing more for this turn, or run it again from its checkpoint."""

    DONE = "done"
    AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Worker:
    """Runs turns.

    ``agent`` gives the adopter's agent; it is asked only when there is something to run. ``turn_seconds`` is how long
    a turn may take from when it was opened.
    """

    log: TaskLog
    clock: Clock
    ids: Ids
    agent: Callable[[], Agent]
    turn_seconds: int
    meter: Meter = field(default_factory=Unmetered)

    def run(self, ref: TaskRef, turn: int, seconds_left: Callable[[], float]) -> Outcome:
        """Run one turn, or go on with it; a turn that has ended is left alone.

        Raises:
            Unavailable, AgentNotLoaded: a later call may succeed; the task isn't touched by the failure.
        """
        header = self.log.header(ref)
        if header is None or not _is_open(header, turn):
            logger.info("turn %d of task %s has ended already", turn, ref.task_id)
            return Outcome.DONE
        agent = self.agent()
        entries = self.log.read(ref)
        if len(entries) <= header.end:
            # A gap that stays: an agent that were run would miss what was said, or what it has made.
            raise Unavailable(f"entries of task {ref.task_id} that are stored can't be seen")
        correlation.note(ref.task_id, entries[turn].traceparent)
        try:
            header, entries = self._open(header, entries, turn)
        except Fenced as fenced:
            logger.info("task %s: %s", ref.task_id, fenced)
            return Outcome.DONE
        return self._run(agent, header, entries, seconds_left)

    def _open(self, header: Header, entries: list[Entry], turn: int) -> tuple[Header, list[Entry]]:
        """Open a run; the header then, and the log up to the entry that opened it."""
        deadline = min(header.opened_at + self.turn_seconds * 1000, header.end_by)

        def make(number: int, writer: str) -> Entry:
            at, trace = self.clock.now(), entries[turn].traceparent
            return Entry(number, "run", "{}", at, writer, turn, run=number, traceparent=trace)

        known = list(entries)
        appender = Appender(self.log, self.clock, self.ids, header, known[-1].number, same_turn(turn), known.append)
        run = appender.commit(make, lambda header, entry: replace(opened(header, entry), due_at=deadline))
        same_run(turn, run.number)(appender.header)  # after a lost answer, another run may have opened already
        return appender.header, known[: run.number + 1]

    def _run(self, agent: Agent, header: Header, entries: list[Entry], seconds_left: Callable[[], float]) -> Outcome:
        ref, run = header.ref, entries[-1]
        reports = RunReports(self.log, self.clock, self.ids, header, entries)
        if steps_of(entries, run.turn) >= MAX_STEPS:
            self._fail(reports, TOO_MANY_STEPS)
            return Outcome.DONE
        deadline = header.due_at or 0

        def left() -> float:
            return max(0.0, min(seconds_left(), (deadline - self.clock.now()) / 1000))

        context = TaskContext(turn_of(header, entries, run), reports, self.ids, left)
        try:
            return self._finish(reports, _call(agent, context))
        except TaskEnded:
            logger.info("run %d of task %s stops: the task has ended or gone on", run.number, ref.task_id)
        except (Exception, asyncio.CancelledError) as error:
            if reports.trouble:  # ours, not the agent's: a later run may succeed
                raise reports.trouble from error
            if reports.over:
                logger.exception("the agent failed after its task %s had ended or gone on", ref.task_id)
            elif reports.turn_ended:
                logger.exception("the agent failed after it had ended its turn of task %s", ref.task_id)
            else:
                logger.exception("the agent failed in task %s, run %d", ref.task_id, run.number)
                self._fail(reports, FAILED)
        finally:
            reports.close()
        return Outcome.DONE

    def _finish(self, reports: RunReports, result: object) -> Outcome:
        if reports.over or reports.turn_ended:
            if isinstance(result, Checkpoint):
                logger.warning("the agent returned a checkpoint after its turn had ended; it is dropped")
        elif reports.trouble:
            raise reports.trouble
        elif isinstance(result, Checkpoint):
            return Outcome.AGAIN if reports.checkpoint(result.text) else Outcome.DONE
        else:
            if result is not None:
                logger.error("run() must return None or a checkpoint(…), not %s", type(result).__name__)
            self._fail(reports, UNFINISHED)
        return Outcome.DONE

    def _fail(self, reports: RunReports, text: str) -> None:
        if reports.fail(text):
            self.meter.add(metrics.TURNS_FAILED)


def _is_open(header: Header, turn: int) -> bool:
    return header.turn == turn and header.state in (TaskState.SUBMITTED, TaskState.WORKING)


def _call(agent: Agent, context: TaskContext) -> object:
    result = agent.run(context)
    return asyncio.run(_wait_for(result)) if inspect.isawaitable(result) else result


async def _wait_for(result: Awaitable[object]) -> object:
    return await result
