"""A task's header for a person and for programs."""

from __future__ import annotations

from typing import Any

from herald.ops.text import stamp
from herald.protocol.states import TaskState
from herald.records import Header


def name(state: TaskState) -> str:
    """``WORKING`` for TASK_STATE_WORKING."""
    return state.value.removeprefix("TASK_STATE_")


def as_data(header: Header) -> dict[str, Any]:
    """A header for programs; times as text, in UTC."""
    return {
        "task": header.ref.task_id,
        "owner": header.ref.owner,
        "tenant": header.ref.tenant,
        "context": header.context_id,
        "state": header.state.value,
        "statusAt": stamp(header.status_at),
        "turn": header.turn,
        "run": header.run,
        "end": header.end,
        "openedAt": stamp(header.opened_at),
        "createdAt": stamp(header.created_at),
        "endBy": stamp(header.end_by),
        "dueAt": stamp(header.due_at),
        "expiresAt": stamp(header.expires_second * 1000),
    }
