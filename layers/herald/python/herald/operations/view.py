"""A task as a client sees it (A2A specification sections 3.2.4 and 4.1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from herald.log import fold
from herald.operations.call import not_found
from herald.ports import TaskLog
from herald.records import Entry, Header, TaskRef


def task(ref: TaskRef, entries: Sequence[Entry], history_length: int | None) -> dict[str, Any]:
    """The Task that a log, read from entry 0, amounts to, with at most ``history_length`` messages; None: all.

    Raises:
        TaskNotFoundError: there is no entry.
    """
    if not entries:
        raise not_found(ref.task_id)
    folded = fold(ref, entries)
    if history_length is not None and "history" in folded:
        folded["history"] = folded["history"][-history_length:] if history_length else []
        if not folded["history"]:
            del folded["history"]
    return folded


def header(log: TaskLog, ref: TaskRef) -> Header:
    """A task's header.

    Raises:
        TaskNotFoundError: there is no such task.
    """
    found = log.header(ref)
    if found is None:
        raise not_found(ref.task_id)
    return found
