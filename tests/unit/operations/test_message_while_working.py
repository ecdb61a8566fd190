"""A message to a task whose agent is at work: it is taken, it starts nothing, and the log decides every race."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from builders.api import ApiBench
from fakes.clock import START
from herald.operations.call import Limits
from herald.ports import Unavailable
from herald.protocol.errors import InvalidParamsError, TaskNotFoundError, UnsupportedOperationError
from herald.protocol.states import TaskState

OPEN = [None, TaskState.WORKING]


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


def open_task(api: ApiBench, state: TaskState | None = TaskState.WORKING) -> str:
    task_id: str = api.send()["id"]
    if state:
        api.put_status(api.ref(task_id), state, "Reading")
    return task_id


def texts(task: dict[str, list[dict[str, list[dict[str, str]]]]]) -> list[str]:
    return [said["parts"][0]["text"] for said in task["history"]]


@pytest.mark.parametrize("state", OPEN)
def test_it_is_one_transaction_of_the_message_what_it_is_known_by_and_the_header(
    api: ApiBench, state: TaskState | None
) -> None:
    task_id = open_task(api, state)
    header, before = api.header(api.ref(task_id)), len(api.world.stream)
    api.clock.advance(30)

    task = api.send(messageId="m2", taskId=task_id, text="and this")

    assert task["status"]["state"] == (state or TaskState.SUBMITTED)
    assert texts(task) == ["hi", "and this"]
    assert [change.sk.split("#")[0] for change in api.world.changes(before)] == ["LOG", "MSG", "TASK"]
    entry = api.world.entries(api.ref(task_id))[-1]
    assert (entry.kind, entry.turn, entry.run, entry.at) == ("message", 0, -1, START + 30_000)
    assert not entry.opens_turn
    assert entry.traceparent == "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
    after = api.header(api.ref(task_id))
    assert (after.state, after.turn, after.opened_at, after.run) == (header.state, 0, START, header.run)
    assert (after.status_number, after.due_at, after.end) == (header.status_number, header.due_at, entry.number)


def test_it_costs_two_reads_and_a_transaction(api: ApiBench) -> None:
    task_id = open_task(api)
    api.log.calls.clear()

    api.send(messageId="m2", taskId=task_id)

    assert dict(api.log.calls) == {"header": 1, "read": 1, "commit": 1}


def test_b4_a_task_id_alone_brings_the_tasks_context_along(api: ApiBench) -> None:
    task_id = open_task(api)

    task = api.send(messageId="m2", taskId=task_id)

    assert {said["contextId"] for said in task["history"]} == {task["contextId"]}


def test_b4_another_context_is_refused_and_nothing_is_stored(api: ApiBench) -> None:
    task_id = open_task(api)
    before = len(api.world.stream)

    with pytest.raises(InvalidParamsError) as refused:
        api.send(messageId="m2", taskId=task_id, contextId="another")

    assert refused.value.violations[0].field == "message.contextId"
    assert len(api.world.stream) == before


@pytest.mark.parametrize("state", [None, TaskState.COMPLETED])
def test_sent_twice_it_is_taken_once_whatever_has_become_of_the_task(api: ApiBench, state: TaskState | None) -> None:
    task_id = open_task(api)
    api.send(messageId="m2", taskId=task_id)
    if state:
        api.put_status(api.ref(task_id), state)
    before = len(api.world.stream)

    task = api.send(messageId="m2", taskId=task_id)

    assert task["status"]["state"] == (state or TaskState.WORKING)
    assert len(api.world.stream) == before


def test_g13_an_idempotency_key_used_with_other_content_is_refused(api: ApiBench) -> None:
    task_id = open_task(api)
    api.send(messageId="m2", taskId=task_id, text="one", metadata={"idempotencyKey": "k"})

    with pytest.raises(InvalidParamsError, match="idempotencyKey"):
        api.send(messageId="m3", taskId=task_id, text="two", metadata={"idempotencyKey": "k"})


def test_idempotent_send_off_takes_each_send(api: ApiBench) -> None:
    api = ApiBench(limits=Limits(idempotent_send="off"))
    task_id = open_task(api)

    for _ in range(2):
        task = api.send(messageId="m2", taskId=task_id)

    assert len(task["history"]) == 3


def test_a_lost_answer_of_the_store_takes_it_once(api: ApiBench) -> None:
    task_id = open_task(api)
    api.log.lose_answer_next("commit")

    assert len(api.send(messageId="m2", taskId=task_id)["history"]) == 2
    assert len(api.world.entries(api.ref(task_id))) == 3


@pytest.mark.parametrize("after_effect", [False, True])
def test_a_throttled_table_is_unavailable_and_the_same_send_may_be_tried_again(
    api: ApiBench, after_effect: bool
) -> None:
    task_id = open_task(api)
    api.log.fail_next("commit", Unavailable("throttled"), after_effect=after_effect)
    with pytest.raises(Unavailable):
        api.send(messageId="m2", taskId=task_id)

    api.send(messageId="m2", taskId=task_id)

    assert [entry.kind for entry in api.world.entries(api.ref(task_id))] == ["message", "status", "message"]


def artifact(api: ApiBench, task_id: str) -> None:
    api.put_artifact(api.ref(task_id))


def another_message(api: ApiBench, task_id: str) -> None:
    api.send(messageId="m0", taskId=task_id)


def progress(api: ApiBench, task_id: str) -> None:
    api.put_status(api.ref(task_id), TaskState.WORKING)


@pytest.mark.parametrize("other", [artifact, another_message, progress])
def test_what_others_write_in_the_same_moment_goes_before_it(
    api: ApiBench, other: Callable[[ApiBench, str], None]
) -> None:
    task_id = open_task(api)
    api.log.before_next("commit", lambda: other(api, task_id))

    task = api.send(messageId="m2", taskId=task_id)

    entries = api.world.entries(api.ref(task_id))
    assert [entry.number for entry in entries] == [0, 1, 2, 3]
    assert entries[3].kind == "message"
    assert api.call("GetTask", {"id": task_id}) == task  # the answer holds what the other has written


def test_b6_a_task_that_ends_in_the_same_moment_has_ended(api: ApiBench) -> None:
    task_id = open_task(api)
    api.log.before_next("commit", lambda: api.put_status(api.ref(task_id), TaskState.COMPLETED))

    with pytest.raises(UnsupportedOperationError, match="without taskId"):
        api.send(messageId="m2", taskId=task_id)

    assert [entry.kind for entry in api.world.entries(api.ref(task_id))] == ["message", "status", "status"]


def test_b15_a_task_that_asks_in_the_same_moment_is_resumed(api: ApiBench) -> None:
    task_id = open_task(api)
    api.log.before_next("commit", lambda: api.put_status(api.ref(task_id), TaskState.INPUT_REQUIRED, "Which?"))

    task = api.send(messageId="m2", taskId=task_id)

    assert task["status"]["state"] == "TASK_STATE_WORKING"
    header = api.header(api.ref(task_id))
    assert (header.turn, header.run, header.status_number) == (3, -1, 4)
    assert api.world.entries(api.ref(task_id))[4].opens_turn


def test_a_task_that_expires_in_the_same_moment_is_not_found(api: ApiBench) -> None:
    task_id = open_task(api)
    expires = api.header(api.ref(task_id)).expires_second
    for call in ("read", "commit"):
        api.clock.set(START)
        api.log.before_next(call, lambda: api.clock.set(expires * 1000))
        with pytest.raises(TaskNotFoundError):
            api.send(messageId="m2", taskId=task_id)


def test_a_blocking_call_waits_until_the_task_has_ended_or_asks(api: ApiBench) -> None:
    task_id = open_task(api)
    api.log.after_next(
        "commit",
        lambda: api.log.after_next("header", lambda: api.put_status(api.ref(task_id), TaskState.COMPLETED, "Done")),
    )

    task = api.send(messageId="m2", taskId=task_id, config={"returnImmediately": False})

    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert api.clock.slept == [0.1, pytest.approx(0.15)]


# ---- size ----


def test_it_counts_toward_the_size_of_its_task(api: ApiBench) -> None:
    task_id = open_task(api)
    api.put_artifact(api.ref(task_id), text="x" * 2_400_000)
    api.send(messageId="m2", taskId=task_id, text="x" * 2_400_000)
    before = len(api.world.stream)

    with pytest.raises(InvalidParamsError) as refused:
        api.send(messageId="m3", taskId=task_id, text="x" * 100_000)

    [violation] = refused.value.violations
    assert violation.field == "message.parts"
    assert "5,000,000 bytes at most" in violation.description
    assert len(api.world.stream) == before
    api.send(messageId="m4", taskId=task_id, text="x" * 90_000)  # what is left


def test_many_small_ones_fill_a_task_no_further_than_a_large_one(api: ApiBench) -> None:
    task_id = open_task(api)
    api.put_artifact(api.ref(task_id), text="x" * 4_700_000)
    for number in range(4):
        api.send(messageId=f"n{number}", taskId=task_id, text="x" * 40_000)

    with pytest.raises(InvalidParamsError, match=r"message\.parts"):
        api.send(messageId="n4", taskId=task_id, text="x" * 40_000)


def test_of_two_at_once_that_fit_alone_one_is_refused(api: ApiBench) -> None:
    task_id = open_task(api)
    api.log.before_next("commit", lambda: api.send(messageId="m2", taskId=task_id, text="x" * 3_000_000))

    with pytest.raises(InvalidParamsError, match=r"message\.parts"):
        api.send(messageId="m3", taskId=task_id, text="x" * 3_000_000)

    assert len(api.world.entries(api.ref(task_id))) == 3


def test_an_artifact_that_was_replaced_counts_once(api: ApiBench) -> None:
    task_id = open_task(api)
    for _ in range(3):
        api.put_artifact(api.ref(task_id), text="x" * 2_000_000)

    api.send(messageId="m2", taskId=task_id)


def test_a_repeated_one_is_known_though_the_task_is_full_by_now(api: ApiBench) -> None:
    task_id = open_task(api)
    api.send(messageId="m2", taskId=task_id, text="x" * 1_000_000)
    api.put_artifact(api.ref(task_id), text="x" * 3_900_000)
    before = len(api.world.stream)

    api.send(messageId="m2", taskId=task_id, text="x" * 1_000_000)

    assert len(api.world.stream) == before
