"""Given notifications, then they amount to a Task, and where it differs from another is named."""

from __future__ import annotations

from typing import Any

import pytest
from demo.folding import amount_to, differences


def status(state: str, said: str = "", **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"state": state}
    if said:
        found["message"] = {"messageId": said, "parts": [{"text": said}]}
    return {"statusUpdate": {"taskId": "t", "status": found, **more}}


def chunk(artifact_id: str, *texts: str, append: bool = False) -> dict[str, Any]:
    parts = [{"text": text} for text in texts]
    update = {"taskId": "t", "artifact": {"artifactId": artifact_id, "parts": parts}}
    return {"artifactUpdate": update | ({"append": True} if append else {})}


SNAPSHOT = {"task": {"id": "t", "status": {"state": "SUBMITTED"}, "history": [{"messageId": "m1"}]}}


def test_a_life_amounts_to_its_task() -> None:
    events = [
        SNAPSHOT,
        status("WORKING", "one"),
        chunk("a", "1"),
        chunk("b", "x"),
        chunk("a", "2", append=True),
        chunk("b", "y"),
        status("WORKING", "two", metadata={"n": 1}),
        status("COMPLETED", "three", metadata={"m": 2}),
    ]
    assert amount_to(events) == {
        "id": "t",
        "status": {"state": "COMPLETED", "message": {"messageId": "three", "parts": [{"text": "three"}]}},
        "history": [
            {"messageId": "m1"},
            {"messageId": "one", "parts": [{"text": "one"}]},
            {"messageId": "two", "parts": [{"text": "two"}]},
        ],
        "artifacts": [
            {"artifactId": "a", "parts": [{"text": "1"}, {"text": "2"}]},
            {"artifactId": "b", "parts": [{"text": "y"}]},
        ],
        "metadata": {"n": 1, "m": 2},
    }


def test_folding_leaves_the_notifications_as_they_were() -> None:
    events = [SNAPSHOT, status("WORKING", "one"), chunk("a", "1"), chunk("a", "2", append=True)]
    assert amount_to(events) == amount_to(events)


def test_an_update_before_the_task_is_an_error() -> None:
    with pytest.raises(ValueError, match="before the task"):
        amount_to([status("WORKING")])


def test_equal_tasks_do_not_differ() -> None:
    assert list(differences(amount_to([SNAPSHOT]), SNAPSHOT["task"])) == []


def test_differences_are_named_by_their_path() -> None:
    one = {"status": {"state": "WORKING"}, "artifacts": [{"parts": [{"text": "1"}]}], "history": [1]}
    other = {"status": {"state": "COMPLETED"}, "artifacts": [{"parts": [{"text": "2"}]}], "history": [1, 2], "id": "t"}
    assert list(differences(one, other)) == [
        "task.artifacts[0].parts[0].text",
        "task.history",
        "task.id",
        "task.status.state",
    ]
