"""What a receiver knows at the end: the Task that its notifications amount to, and how it differs from GetTask's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

Json = dict[str, Any]


def amount_to(events: Iterable[Json]) -> Json:
    """The Task that StreamResponses amount to: a snapshot, then updates (A2A specification sections 4.2, 4.3.3).

    The message of a status joins the history when another status follows; chunks of an artifact are joined.

    Raises:
        ValueError: an update comes before any snapshot.
    """
    task: Json = {}
    for event in events:
        if "task" in event:
            task = deepcopy(event["task"])
        elif not task:
            raise ValueError("an update came before the task itself")
        elif "statusUpdate" in event:
            _move_on(task, event["statusUpdate"])
        elif "artifactUpdate" in event:
            _deliver(task, event["artifactUpdate"])
    return task


def _move_on(task: Json, update: Json) -> None:
    if "message" in task["status"]:
        task.setdefault("history", []).append(task["status"]["message"])
    task["status"] = deepcopy(update["status"])
    if "metadata" in update:
        task["metadata"] = {**task.get("metadata", {}), **update["metadata"]}


def _deliver(task: Json, update: Json) -> None:
    chunk = deepcopy(update["artifact"])
    artifacts = task.setdefault("artifacts", [])
    for place, known in enumerate(artifacts):
        if known["artifactId"] == chunk["artifactId"]:
            if update.get("append"):
                chunk["parts"] = known["parts"] + chunk["parts"]
                chunk = {**known, **chunk}
            artifacts[place] = chunk
            return
    artifacts.append(chunk)


def differences(one: Any, other: Any, path: str = "task") -> Iterator[str]:
    """Where two JSON values differ, as paths like ``task.status.state``."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted({*one, *other}):
            if name in one and name in other:
                yield from differences(one[name], other[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}"
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from differences(first, second, f"{path}[{place}]")
    elif one != other:
        yield path
