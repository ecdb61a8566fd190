"""GetTask: one read, folded."""

from __future__ import annotations

import pytest

from builders.api import ApiBench
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
