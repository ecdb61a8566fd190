"""GetTask: one read, folded."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from builders.api import ApiBench
from builders.records import a_ref, artifact_entry, message_entry
from herald.log import fold
from herald.protocol import codec
from herald.protocol.errors import InvalidParamsError, TaskNotFoundError
from herald.protocol.states import TaskState


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


def test_a_task_is_one_read_of_its_log(api: ApiBench) -> None:
    ref = api.ref(api.send()["id"])
    api.put_artifact(ref, text="one")
    api.put_status(ref, TaskState.COMPLETED, "Done")
    api.log.calls.clear()

    task = api.call("GetTask", {"id": ref.task_id})

    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert task["artifacts"] == [{"artifactId": "a", "parts": [{"text": "one"}]}]
    assert dict(api.log.calls) == {"read": 1}


def test_a23_history_length_0_leaves_the_history_out(api: ApiBench) -> None:
    task_id = api.send()["id"]

    assert "history" not in api.call("GetTask", {"id": task_id, "historyLength": 0})


@pytest.mark.parametrize(("length", "texts"), [(None, ["hi", "one", "two"]), (1, ["two"]), (2, ["one", "two"])])
def test_history_length_keeps_the_last_messages(api: ApiBench, length: int | None, texts: list[str]) -> None:
    ref = api.ref(api.send()["id"])
    for text in ("one", "two", "three"):  # the last one is the status's own
        api.put_status(ref, TaskState.WORKING, text)

    task = api.call("GetTask", {"id": ref.task_id, "historyLength": length})

    assert [said["parts"][0]["text"] for said in task["history"]] == texts


def test_a_negative_history_length_is_refused(api: ApiBench) -> None:
    with pytest.raises(InvalidParamsError) as refused:
        api.call("GetTask", {"id": api.send()["id"], "historyLength": -1})

    assert refused.value.violations[0].field == "historyLength"


def test_an_unknown_task_is_not_found_and_the_error_names_it(api: ApiBench) -> None:
    with pytest.raises(TaskNotFoundError) as refused:
        api.call("GetTask", {"id": "mfrggzdfmztwq2lknnwg23tpoa"})

    assert refused.value.metadata == {"taskId": "mfrggzdfmztwq2lknnwg23tpoa"}


def test_what_can_be_no_id_of_ours_never_reaches_the_store(api: ApiBench) -> None:
    with pytest.raises(TaskNotFoundError):
        api.call("GetTask", {"id": "x" * 3000})

    assert not api.log.calls


def test_an_expired_task_is_not_found(api: ApiBench) -> None:
    task_id = api.send()["id"]
    api.clock.set(api.header(api.ref(task_id)).expires_second * 1000)

    with pytest.raises(TaskNotFoundError):
        api.call("GetTask", {"id": task_id})


def test_invariant_10_a_chunk_costs_a_fold_no_more_than_its_own_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = 0

    class Parts(list[Any]):
        """A list that counts what is copied."""

        def __add__(self, other: list[Any]) -> Parts:
            nonlocal copied
            copied += len(self) + len(other)
            return Parts([*self, *other])

        def extend(self, other: Iterable[Any]) -> None:
            nonlocal copied
            more = list(other)
            copied += len(more)
            super().extend(more)

    def loads(text: str) -> Any:
        body = json.loads(text)
        if "artifactUpdate" in body:
            artifact = body["artifactUpdate"]["artifact"]
            artifact["parts"] = Parts(artifact["parts"])
        return body

    monkeypatch.setattr(codec, "loads", loads)
    chunks = [artifact_entry(number, "token", append=number > 1) for number in range(1, 501)]

    task = fold(a_ref(), [message_entry(0), *chunks])

    assert len(task["artifacts"][0]["parts"]) == 500
    assert copied <= 1_000


def test_a_fold_leaves_what_it_folds_as_it_was() -> None:
    entries = [message_entry(0), artifact_entry(1, "a"), artifact_entry(2, "b", append=True)]

    assert fold(a_ref(), entries) == fold(a_ref(), entries)
