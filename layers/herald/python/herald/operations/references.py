"""The tasks that a message refers to (A2A specification section 4.1.4, ``referenceTaskIds``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from herald.operations.call import Call
from herald.ports import TaskLog
from herald.protocol.errors import FieldViolation, InvalidParamsError, TaskNotFoundError, invalid

FIELD = "message.referenceTaskIds"
MAX_REFERENCES = 10  # each costs a read


def check(log: TaskLog, call: Call, task_ids: Sequence[str], sent_before: Callable[[], bool]) -> None:
    """See that each id names a task of the caller's: an agent may trust what it is referred to.

    A task of somebody else's and one that isn't there are the same here as anywhere. A message that was taken before
    isn't refused for what has become of the tasks since: ``sent_before`` is asked before anything is raised.

    Raises:
        InvalidParamsError: there are too many, or some name no task of the caller's.
    """
    if len(task_ids) > MAX_REFERENCES:
        raise invalid(FIELD, f"must name {MAX_REFERENCES} tasks at most")
    there = {task_id: _is_there(log, call, task_id) for task_id in dict.fromkeys(task_ids)}
    wrong = [
        FieldViolation(f"{FIELD}[{place}]", "names no task of yours; check the id, or leave it out")
        for place, task_id in enumerate(task_ids)
        if not there[task_id]
    ]
    if wrong and not sent_before():
        raise InvalidParamsError("; ".join(f"{each.field}: {each.description}" for each in wrong), violations=wrong)


def _is_there(log: TaskLog, call: Call, task_id: str) -> bool:
    try:
        return log.header(call.task(task_id)) is not None
    except TaskNotFoundError:
        return False
