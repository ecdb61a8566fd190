"""CancelTask (A2A specification section 3.1.5): the terminal entry first, then the execution."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from herald.log import Appender, Fenced, status_entry
from herald.operations import view
from herald.operations.call import Call, not_found
from herald.ports import Clock, Ids, TaskLog, WorkerLauncher
from herald.protocol.errors import TaskNotCancelableError
from herald.protocol.requests import CancelTaskRequest
from herald.protocol.states import TaskState
from herald.records import Entry, Header

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CancelTask:
    """Appends CANCELED on the same condition as every writer, so that exactly one terminal entry wins; then stops the
    execution. From that entry on the agent can write nothing, whether its execution could be stopped or not.

    Raises:
        TaskNotFoundError: there is no such task of the caller's.
        TaskNotCancelableError: the task has ended, be it by an earlier cancel.
    """

    log: TaskLog
    launcher: WorkerLauncher
    clock: Clock
    ids: Ids

    async def __call__(self, call: Call, request: CancelTaskRequest) -> dict[str, Any]:
        ref = call.task(request.id)
        header = view.header(self.log, ref)
        _still_open(header)
        appender = Appender(self.log, self.clock, self.ids, header, header.end, _still_open)

        def canceled(number: int, writer: str) -> Entry:
            return status_entry(
                appender.header,
                number,
                writer,
                TaskState.CANCELED,
                self.clock.now(),
                traceparent=call.traceparent,
            )

        try:
            appender.commit(canceled, lambda before, entry: before.with_status(entry, due_at=None))
        except Fenced:
            raise not_found(ref.task_id) from None  # it has expired between the two reads
        entries = self.log.read(ref)
        self._stop(appender.header)
        return view.task(ref, entries, None)

    def _stop(self, header: Header) -> None:
        try:
            self.launcher.stop(header.ref, header.turn, header.opened_at)
        except Exception:
            # The task is canceled all the same: the run meets the terminal entry when it next reports.
            logger.warning(
                "the execution of a canceled task could not be stopped",
                extra={"task_id": header.ref.task_id},
                exc_info=True,
            )


def _still_open(header: Header) -> None:
    if header.terminal:
        raise TaskNotCancelableError(
            f"The task has already ended, in {header.state}: there is nothing to cancel.",
            metadata={"taskId": header.ref.task_id, "state": header.state.value},
        )
