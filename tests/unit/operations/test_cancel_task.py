"""CancelTask: the terminal entry first, then the execution."""

from __future__ import annotations

import pytest

from builders.api import ApiBench
from fakes.clock import START
from herald.ports import Unavailable
from herald.protocol.errors import TaskNotCancelableError, TaskNotFoundError
from herald.protocol.states import TaskState


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


def cancel(api: ApiBench, task_id: str) -> dict[str, object]:
    task: dict[str, object] = api.call("CancelTask", {"id": task_id})
    return task


def state_of(task: dict[str, object]) -> object:
    status = task["status"]
    assert isinstance(status, dict)
    return status["state"]


@pytest.mark.parametrize("state", [None, TaskState.WORKING, TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED])
def test_b8_an_open_task_is_canceled_in_answer_and_store(api: ApiBench, state: TaskState | None) -> None:
    task_id = api.send()["id"]
    if state:
        api.put_status(api.ref(task_id), state)

    assert state_of(cancel(api, task_id)) == "TASK_STATE_CANCELED"
    assert state_of(api.call("GetTask", {"id": task_id})) == "TASK_STATE_CANCELED"
    header = api.header(api.ref(task_id))
    assert (header.state, header.due_at) == (TaskState.CANCELED, None)


def test_b10_a_task_can_be_read_and_canceled_right_after_it_was_sent(api: ApiBench) -> None:
    task_id = api.send()["id"]

    assert state_of(api.call("GetTask", {"id": task_id})) == "TASK_STATE_SUBMITTED"
    assert state_of(cancel(api, task_id)) == "TASK_STATE_CANCELED"


def test_the_execution_of_the_open_turn_is_stopped_after_the_entry_is_stored(api: ApiBench) -> None:
    ref = api.ref(api.send()["id"])
    api.launcher.start(ref, 0, START)
    api.put_status(ref, TaskState.INPUT_REQUIRED)
    api.clock.advance(100)
    api.send(messageId="m2", taskId=ref.task_id)
    api.launcher.start(ref, 2, START + 100_000)
    seen = []
    api.launcher.before_next("stop", lambda: seen.append(api.header(ref).state))

    cancel(api, ref.task_id)

    assert api.launcher.stopped == [(ref, 2)]
    assert seen == [TaskState.CANCELED]


@pytest.mark.parametrize("why", [Unavailable("throttled"), RuntimeError("AccessDeniedException")])
def test_a_task_is_canceled_even_if_its_execution_cannot_be_stopped(
    api: ApiBench, caplog: pytest.LogCaptureFixture, why: Exception
) -> None:
    task_id = api.send()["id"]
    api.launcher.fail_next("stop", why)

    assert state_of(cancel(api, task_id)) == "TASK_STATE_CANCELED"
    assert "could not be stopped" in caplog.text


@pytest.mark.parametrize("state", [TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED])
def test_a1_a_task_that_has_ended_is_not_cancelable(api: ApiBench, state: TaskState) -> None:
    task_id = api.send()["id"]
    api.put_status(api.ref(task_id), state)
    before = len(api.world.stream)

    with pytest.raises(TaskNotCancelableError) as refused:
        cancel(api, task_id)

    assert refused.value.row.code == -32002
    assert len(api.world.stream) == before


def test_b11_a_second_cancel_is_not_cancelable(api: ApiBench) -> None:
    task_id = api.send()["id"]
    cancel(api, task_id)

    with pytest.raises(TaskNotCancelableError):
        cancel(api, task_id)


@pytest.mark.parametrize("at", ["header", "commit"])
def test_b9_of_a_cancel_and_a_completion_at_once_one_wins_and_the_loser_is_told(api: ApiBench, at: str) -> None:
    ref = api.ref(api.send()["id"])
    api.log.before_next(at, lambda: api.put_status(ref, TaskState.COMPLETED))

    with pytest.raises(TaskNotCancelableError):
        cancel(api, ref.task_id)

    assert [entry.state for entry in api.world.entries(ref) if entry.ends_task] == [TaskState.COMPLETED]


def test_a_cancel_gets_behind_artifacts_that_the_header_does_not_know_of(api: ApiBench) -> None:
    ref = api.ref(api.send()["id"])
    api.put_artifact(ref, "a")
    api.put_artifact(ref, "b")

    task = cancel(api, ref.task_id)

    assert state_of(task) == "TASK_STATE_CANCELED"
    assert [entry.kind for entry in api.world.entries(ref)] == ["message", "artifact", "artifact", "status"]


def test_a_cancel_whose_answer_got_lost_in_the_store_is_one_cancel(api: ApiBench) -> None:
    task_id = api.send()["id"]
    api.log.lose_answer_next("commit")

    assert state_of(cancel(api, task_id)) == "TASK_STATE_CANCELED"
    assert len(api.world.entries(api.ref(task_id))) == 2


def test_an_unknown_task_is_not_found(api: ApiBench) -> None:
    with pytest.raises(TaskNotFoundError):
        cancel(api, "nope")


def test_a_task_that_expires_meanwhile_is_not_found(api: ApiBench) -> None:
    task_id = api.send()["id"]
    expires = api.header(api.ref(task_id)).expires_second
    api.log.before_next("commit", lambda: api.clock.set(expires * 1000))

    with pytest.raises(TaskNotFoundError):
        cancel(api, task_id)
