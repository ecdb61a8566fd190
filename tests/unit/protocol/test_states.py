"""Which state may follow which."""

from __future__ import annotations

import pytest

from herald.protocol.states import INTERRUPTED, TERMINAL, TaskState, may_follow

ENDS = {"COMPLETED", "FAILED", "CANCELED", "REJECTED"}
ROWS = {
    "SUBMITTED": {"WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED"} | ENDS,
    "WORKING": {"WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED"} | ENDS,
    "INPUT_REQUIRED": {"WORKING"} | ENDS,
    "AUTH_REQUIRED": {"WORKING"} | ENDS,
    "COMPLETED": set(),
    "FAILED": set(),
    "CANCELED": set(),
    "REJECTED": set(),
}


@pytest.mark.parametrize("name", list(ROWS))
def test_b7_the_states_that_may_follow(name: str) -> None:
    assert {state.name for state in TaskState if may_follow(TaskState[name], state)} == ROWS[name]


def test_a15_the_states_are_the_protos_without_unspecified() -> None:
    assert [state.value for state in TaskState] == [
        "TASK_STATE_SUBMITTED",
        "TASK_STATE_WORKING",
        "TASK_STATE_COMPLETED",
        "TASK_STATE_FAILED",
        "TASK_STATE_CANCELED",
        "TASK_STATE_INPUT_REQUIRED",
        "TASK_STATE_REJECTED",
        "TASK_STATE_AUTH_REQUIRED",
    ]


def test_terminal_and_interrupted_states() -> None:
    assert {state.name for state in TERMINAL} == ENDS
    assert {state.name for state in INTERRUPTED} == {"INPUT_REQUIRED", "AUTH_REQUIRED"}
