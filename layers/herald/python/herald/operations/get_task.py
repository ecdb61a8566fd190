"""GetTask (A2A specification section 3.1.3): one consistent read of the log, folded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from herald.operations import view
from herald.operations.call import Call
from herald.ports import TaskLog
from herald.protocol.requests import GetTaskRequest


@dataclass(frozen=True, slots=True)
class GetTask:
    """Answers with the Task as it stands.

    Raises:
        TaskNotFoundError: there is no such task of the caller's.
    """

    log: TaskLog

    async def __call__(self, call: Call, request: GetTaskRequest) -> dict[str, Any]:
        ref = call.task(request.id)
        return view.task(ref, self.log.read(ref), request.history_length)
