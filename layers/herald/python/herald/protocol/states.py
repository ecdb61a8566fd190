"""Task states and the one table of which may follow which (A2A specification section 4.1.3)."""

from __future__ import annotations

from enum import StrEnum


class TaskState(StrEnum):
    """The states of a task, named as in a2a.proto. UNSPECIFIED isn't among them: it is never stored or sent."""

    SUBMITTED = "TASK_STATE_SUBMITTED"
    WORKING = "TASK_STATE_WORKING"
    COMPLETED = "TASK_STATE_COMPLETED"
    FAILED = "TASK_STATE_FAILED"
    CANCELED = "TASK_STATE_CANCELED"
    INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"
    REJECTED = "TASK_STATE_REJECTED"
    AUTH_REQUIRED = "TASK_STATE_AUTH_REQUIRED"


S = TaskState

TERMINAL = frozenset({S.COMPLETED, S.FAILED, S.CANCELED, S.REJECTED})
INTERRUPTED = frozenset({S.INPUT_REQUIRED, S.AUTH_REQUIRED})
ENDS_TURN = TERMINAL | INTERRUPTED

_RUNNING = frozenset(S) - {S.SUBMITTED}

# An interrupted task goes on by a follow-up message (WORKING), or it ends.
FOLLOWS: dict[TaskState, frozenset[TaskState]] = {
    S.SUBMITTED: _RUNNING,
    S.WORKING: _RUNNING,
    S.INPUT_REQUIRED: TERMINAL | {S.WORKING},
    S.AUTH_REQUIRED: TERMINAL | {S.WORKING},
    S.COMPLETED: frozenset(),
    S.FAILED: frozenset(),
    S.CANCELED: frozenset(),
    S.REJECTED: frozenset(),
}


def may_follow(state: TaskState, following: TaskState) -> bool:
    """True when a task in ``state`` may be given ``following``."""
    return following in FOLLOWS[state]
