"""The input of an execution: which turn of which task. Ids only, for a state holds 256 KB at most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from herald.records import TaskRef


def turn_from(event: Any) -> tuple[TaskRef, int]:
    """The task and the turn that ``{"tenant":…,"owner":…,"taskId":…,"turn":…}`` names; other members are ignored.

    Raises:
        ValueError: the event isn't one.
    """
    if not isinstance(event, Mapping):
        raise ValueError(f"a turn is an object with tenant, owner, taskId and turn, not {type(event).__name__}")  # noqa: TRY004 - the event is wrong, not the call
    names = {name: event.get(name) for name in ("tenant", "owner", "taskId")}
    if wrong := [name for name, value in names.items() if not isinstance(value, str)]:
        raise ValueError(f"{', '.join(wrong)}: must be a string in a turn")
    turn = event.get("turn")
    if type(turn) is not int or turn < 0:
        raise ValueError("turn: must be the number of a log entry")
    return TaskRef(str(names["tenant"]), str(names["owner"]), str(names["taskId"])), turn
