"""What a task's page says at its end: what looks wrong, and the command that mends it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders.records import TASK_ID, a_header, a_webhook, status_entry
from fakes.clock import START
from herald.adapters.stepfunctions import Execution
from herald.ops.task import _entry, _hints
from herald.ops.text import either
from herald.ops.turns import stuck
from herald.protocol.states import TaskState
from herald.records import Header, Webhook, WebhookState

MINUTE = 60_000
WORKING = a_header(state=TaskState.WORKING, run=1, due_at=START + 60 * MINUTE)
RUNNING = Execution("e", "RUNNING", START, None, "")
ABORTED = Execution("e", "ABORTED", START, START + 1, "")


@pytest.mark.parametrize(
    ("header", "executions", "now", "why"),
    [
        (WORKING, [RUNNING], START + MINUTE, ""),
        (WORKING, [replace(RUNNING, status="PENDING_REDRIVE")], START + MINUTE, ""),
        (WORKING, [ABORTED], START + MINUTE, "its execution is over (ABORTED) and it hasn't ended"),
        (WORKING, [ABORTED, RUNNING], START + MINUTE, ""),
        (a_header(), [], START + MINUTE, ""),
        (a_header(), [], START + MINUTE + 1, "nothing runs it"),
        (a_header(state=TaskState.INPUT_REQUIRED), [ABORTED], START + 9 * MINUTE, ""),
        (a_header(state=TaskState.COMPLETED, due_at=None), [ABORTED], START + 9 * MINUTE, ""),
    ],
)
def test_what_counts_as_stuck(header: Header, executions: list[Execution], now: int, why: str) -> None:
    assert stuck(header, executions, now) == why


@pytest.mark.parametrize(
    ("webhook", "hint"),
    [
        (
            a_webhook(state=WebhookState.DISABLED, reason="exhausted: 12 attempts"),
            f"Webhook cfg-1 is disabled. See why: attempts {TASK_ID}/cfg-1   Send what waits: resume {TASK_ID}/cfg-1",
        ),
        (
            a_webhook(state=WebhookState.DISABLED, reason="unreadable: its key is gone"),
            "Webhook cfg-1 can't be used any more: its client must register it anew.",
        ),
        (
            a_webhook("a\x1b", state=WebhookState.PAUSED),
            f"Webhook a\\x1b is paused. Send what waits: resume {TASK_ID}/a\\x1b",
        ),
    ],
)
def test_what_is_said_of_a_webhook_at_rest(webhook: Webhook, hint: str) -> None:
    assert _hints(WORKING, [RUNNING], [webhook], START) == [hint]


def test_nothing_is_said_where_all_is_well() -> None:
    assert _hints(WORKING, [RUNNING], [a_webhook()], START + 61 * MINUTE) == []
    late = _hints(WORKING, [RUNNING], [], START + 63 * MINUTE)
    assert late == ["It has been overdue for 3m: sweep doesn't run, or fails at it. See the log of sweep."]


def test_names_are_joined_as_a_person_does() -> None:
    assert [either(["a"]), either(["a", "b"]), either(["a", "b", "c"])] == ["a", "a or b", "a, b or c"]


@pytest.mark.parametrize(
    ("state", "run", "shown"),
    [
        (TaskState.FAILED, -1, True),  # Herald ended it
        (TaskState.FAILED, 1, False),
        (TaskState.WORKING, -1, False),  # the agent's ending, which gave way to a message that it hadn't read
        (TaskState.CANCELED, -1, False),
    ],
)
def test_only_what_herald_itself_says_is_shown_unasked(state: TaskState, run: int, *, shown: bool) -> None:
    entry = status_entry(2, state, "Your diagnosis", run=run)

    assert ("Your diagnosis" in _entry(entry, bodies=False).text) is shown
    assert _entry(entry, bodies=True).text.endswith("B  Your diagnosis")
