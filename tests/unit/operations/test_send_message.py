"""SendMessage: new tasks, follow-ups, and the same send a second time."""

from __future__ import annotations

import pytest

from builders.api import ApiBench, message, sending
from fakes.clock import START
from herald.operations.call import Limits
from herald.ports import Unavailable
from herald.protocol import codec
from herald.protocol.errors import (
    InvalidParamsError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from herald.protocol.states import TaskState
from herald.records import Entry

INTERRUPTED = [TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED]
TERMINAL = [TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED]


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


def waiting_task(api: ApiBench, state: TaskState = TaskState.INPUT_REQUIRED) -> str:
    task_id: str = api.send()["id"]
    api.put_status(api.ref(task_id), state, "Which one?")
    return task_id


# ---- a new task ----


def test_a_message_makes_a_submitted_task_that_names_its_context(api: ApiBench) -> None:
    task = api.send()

    assert task["status"] == {"state": "TASK_STATE_SUBMITTED", "timestamp": "2026-01-01T00:00:00.000Z"}
    assert len(task["id"]) == 26
    assert task["contextId"]
    assert task["history"] == [
        message(taskId=task["id"], contextId=task["contextId"]),
    ]


def test_the_stored_entry_holds_message_metadata_modes_and_trace(api: ApiBench) -> None:
    task = api.send(metadata={"n": 0, "f": False, "s": ""}, config={"acceptedOutputModes": ["text/plain"]})

    [entry] = api.world.entries(api.ref(task["id"]))
    assert entry.kind == "message"
    assert (entry.number, entry.turn, entry.run) == (0, 0, -1)
    assert entry.traceparent == "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
    assert entry.body.endswith('"metadata":{"n":0,"f":false,"s":""},"acceptedOutputModes":["text/plain"]}')


def test_a_new_task_is_looked_at_after_a_minute_ends_after_30_days_and_expires_30_days_later(api: ApiBench) -> None:
    header = api.header(api.ref(api.send()["id"]))

    assert header.due_at == START + 60_000
    assert header.end_by == START + 30 * 86_400_000
    assert header.expires_second == START // 1000 + 60 * 86_400


def test_the_clients_context_is_kept(api: ApiBench) -> None:
    assert api.send(contextId="my-context")["contextId"] == "my-context"


def test_a_context_id_too_long_for_a_key_is_refused(api: ApiBench) -> None:
    with pytest.raises(InvalidParamsError) as refused:
        api.send(contextId="é" * 129)

    assert refused.value.violations[0].field == "message.contextId"
    assert not api.world.items


@pytest.mark.parametrize("field", ["contextId", "taskId", "messageId"])
def test_g6_empty_ids_are_refused(api: ApiBench, field: str) -> None:
    with pytest.raises(InvalidParamsError) as refused:
        api.send(**{field: ""})

    assert refused.value.violations[0].field == f"message.{field}"


def test_one_send_is_one_transaction_and_nothing_else(api: ApiBench) -> None:
    api.send()

    assert dict(api.log.calls) == {"create": 1}
    assert not api.webhooks.calls


# ---- the same send again ----


def test_b1_the_same_message_twice_is_one_task_and_one_write(api: ApiBench) -> None:
    first = api.send()
    written = len(api.world.stream)
    api.clock.advance(60)

    second = api.send()

    assert second == first
    assert len(api.world.stream) == written


def test_b1_another_owners_same_message_is_a_task_of_its_own(api: ApiBench) -> None:
    assert api.send("alice")["id"] != api.send("bob")["id"]


def test_g12_the_same_key_of_another_tenant_is_a_task_of_its_own(api: ApiBench) -> None:
    ids = {api.send(tenant=tenant, metadata={"idempotencyKey": "k"})["id"] for tenant in ("", "a", "b")}

    assert len(ids) == 3


def test_b1_the_same_message_id_with_other_content_is_another_task(api: ApiBench) -> None:
    assert api.send(text="one")["id"] != api.send(text="two")["id"]


def test_the_configuration_is_no_part_of_a_sends_identity(api: ApiBench) -> None:
    assert api.send()["id"] == api.send(config={"historyLength": 1, "acceptedOutputModes": ["a/b"]})["id"]


def test_the_order_of_keys_is_no_part_of_a_sends_identity(api: ApiBench) -> None:
    forward = api.call("SendMessage", sending(metadata=None) | {"message": message()})
    backward = dict(reversed(message().items()))

    assert api.send()["id"] == forward["task"]["id"]
    request = {"message": backward, "configuration": {"returnImmediately": True}}
    assert api.call("SendMessage", request)["task"]["id"] == forward["task"]["id"]


@pytest.mark.parametrize("place", ["request", "message"])
def test_b1_the_same_idempotency_key_is_one_task(api: ApiBench, place: str) -> None:
    key = {"idempotencyKey": "k1"}
    request = sending(metadata=key) if place == "request" else {**sending(), "message": message(metadata=key)}

    first, second = (api.call("SendMessage", request)["task"]["id"] for _ in range(2))

    assert first == second


def test_g13_the_same_idempotency_key_with_other_content_is_refused(api: ApiBench) -> None:
    api.send(text="one", metadata={"idempotencyKey": "k1"})

    with pytest.raises(InvalidParamsError) as refused:
        api.send(text="two", metadata={"idempotencyKey": "k1"})

    assert refused.value.violations[0].field == "metadata.idempotencyKey"


def test_a_key_and_a_message_id_never_meet(api: ApiBench) -> None:
    assert api.send()["id"] != api.send(metadata={"idempotencyKey": "m1"})["id"]


@pytest.mark.parametrize("key", ["", 5, None, "k" * 257])
def test_an_idempotency_key_that_is_no_key_is_refused(api: ApiBench, key: object) -> None:
    with pytest.raises(InvalidParamsError, match=r"metadata\.idempotencyKey"):
        api.send(metadata={"idempotencyKey": key})


def test_idempotent_send_key_tells_messages_apart_by_their_key_alone() -> None:
    api = ApiBench(limits=Limits(idempotent_send="key"))

    assert api.send()["id"] != api.send()["id"]
    assert api.send(metadata={"idempotencyKey": "k"})["id"] == api.send(metadata={"idempotencyKey": "k"})["id"]


def test_idempotent_send_off_makes_every_send_a_task() -> None:
    api = ApiBench(limits=Limits(idempotent_send="off"))

    ids = {api.send(metadata={"idempotencyKey": "k"})["id"] for _ in range(3)}

    assert len(ids) == 3


def test_a_send_whose_answer_got_lost_in_the_store_is_answered_with_its_task(api: ApiBench) -> None:
    api.log.lose_answer_next("create")

    task = api.send()

    assert task["status"]["state"] == "TASK_STATE_SUBMITTED"
    assert len(api.world.entries(api.ref(task["id"]))) == 1


def test_a_send_again_after_the_task_has_gone_on_answers_it_as_it_stands(api: ApiBench) -> None:
    ref = api.ref(api.send()["id"])
    api.put_status(ref, TaskState.COMPLETED, "Done")

    task = api.send()

    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert task["status"]["message"]["parts"] == [{"text": "Done"}]


def test_a_send_again_right_when_its_task_expires_is_unavailable_and_makes_nothing(api: ApiBench) -> None:
    expires = api.header(api.ref(api.send()["id"])).expires_second
    before = len(api.world.stream)
    api.log.before_next("header", lambda: api.clock.set(expires * 1000))

    with pytest.raises(Unavailable):
        api.send()

    assert len(api.world.stream) == before


# ---- follow-ups ----


@pytest.mark.parametrize("state", INTERRUPTED)
def test_a_follow_up_is_one_transaction_of_message_working_and_header(api: ApiBench, state: TaskState) -> None:
    task_id = waiting_task(api, state)
    before = len(api.world.stream)

    task = api.send(messageId="m2", taskId=task_id, text="the first")

    assert task["status"]["state"] == "TASK_STATE_WORKING"
    assert api.log.calls["commit"] == 2  # the worker's own, and this one
    told, working = api.world.entries(api.ref(task_id))[2:]
    assert (told.kind, told.number, told.turn) == ("message", 2, 2)
    assert (working.kind, working.number, working.turn, working.run) == ("status", 3, 2, -1)
    header = api.header(api.ref(task_id))
    assert (header.state, header.turn, header.run, header.end) == (TaskState.WORKING, 2, -1, 3)
    assert header.due_at == START + 60_000
    assert [change.sk.split("#")[0] for change in api.world.changes(before)] == ["LOG", "LOG", "MSG", "TASK"]


def test_a_follow_up_is_in_the_history_after_the_question(api: ApiBench) -> None:
    task_id = waiting_task(api)

    task = api.send(messageId="m2", taskId=task_id, text="the first")

    assert [said["parts"][0]["text"] for said in task["history"]] == ["hi", "Which one?", "the first"]


def test_b4_a_task_id_alone_brings_the_tasks_context_along(api: ApiBench) -> None:
    task_id = waiting_task(api)

    task = api.send(messageId="m2", taskId=task_id)

    contexts = {task["contextId"], *(said["contextId"] for said in task["history"])}
    assert contexts == {api.header(api.ref(task_id)).context_id}
    assert '"contextId":"' + task["contextId"] in api.world.entries(api.ref(task_id))[3].body


def test_b4_another_context_is_refused_and_nothing_is_stored(api: ApiBench) -> None:
    task_id = waiting_task(api)
    before = len(api.world.stream)

    with pytest.raises(InvalidParamsError) as refused:
        api.send(messageId="m2", taskId=task_id, contextId="another")

    assert refused.value.violations[0].field == "message.contextId"
    assert len(api.world.stream) == before


@pytest.mark.parametrize("task_id", ["nope", "a/b#c", "é", "x" * 5000])
def test_b3_a_task_id_of_the_clients_own_making_is_not_found_and_nothing_is_stored(api: ApiBench, task_id: str) -> None:
    with pytest.raises(TaskNotFoundError):
        api.send(taskId=task_id)

    assert not api.world.items


@pytest.mark.parametrize("state", TERMINAL)
def test_b6_a_message_to_a_task_that_has_ended_is_unsupported(api: ApiBench, state: TaskState) -> None:
    task_id = api.send()["id"]
    api.put_status(api.ref(task_id), state)

    with pytest.raises(UnsupportedOperationError, match="without taskId"):
        api.send(messageId="m2", taskId=task_id)


@pytest.mark.parametrize("state", [None, TaskState.INPUT_REQUIRED, TaskState.COMPLETED])
def test_a_follow_up_sent_twice_is_taken_once_whatever_has_become_of_the_task(
    api: ApiBench, state: TaskState | None
) -> None:
    task_id = waiting_task(api)
    api.send(messageId="m2", taskId=task_id)
    if state:
        api.put_status(api.ref(task_id), state)
    before = len(api.world.stream)

    task = api.send(messageId="m2", taskId=task_id)

    assert task["status"]["state"] == (state or TaskState.WORKING)
    assert len(api.world.stream) == before


def test_g13_a_follow_up_whose_key_was_used_with_other_content_is_refused(api: ApiBench) -> None:
    task_id = waiting_task(api)
    key = {"idempotencyKey": "k"}
    api.send(messageId="m2", taskId=task_id, text="one", metadata=key)
    api.put_status(api.ref(task_id), TaskState.INPUT_REQUIRED)

    with pytest.raises(InvalidParamsError, match="idempotencyKey"):
        api.send(messageId="m3", taskId=task_id, text="two", metadata=key)


def test_of_two_follow_ups_at_once_one_opens_a_turn_and_the_other_waits_in_it(api: ApiBench) -> None:
    task_id = waiting_task(api)
    api.log.before_next("commit", lambda: api.send(messageId="m2", taskId=task_id))

    api.send(messageId="m3", taskId=task_id)

    entries = api.world.entries(api.ref(task_id))
    assert [(entry.kind, entry.turn) for entry in entries[2:]] == [("message", 2), ("status", 2), ("message", 2)]
    assert [entry.number for entry in entries if entry.opens_turn] == [0, 3]


def test_the_same_follow_up_twice_at_once_is_taken_once(api: ApiBench) -> None:
    task_id = waiting_task(api)
    api.log.before_next("commit", lambda: api.send(messageId="m2", taskId=task_id))

    task = api.send(messageId="m2", taskId=task_id)

    assert task["status"]["state"] == "TASK_STATE_WORKING"
    assert [entry.kind for entry in api.world.entries(api.ref(task_id))] == ["message", "status", "message", "status"]


def test_a_follow_up_whose_answer_got_lost_in_the_store_is_taken_once(api: ApiBench) -> None:
    task_id = waiting_task(api)
    api.log.lose_answer_next("commit")

    assert api.send(messageId="m2", taskId=task_id)["status"]["state"] == "TASK_STATE_WORKING"
    assert len(api.world.entries(api.ref(task_id))) == 4


def test_a_task_that_is_canceled_while_a_follow_up_comes_stays_canceled(api: ApiBench) -> None:
    task_id = waiting_task(api)
    api.log.before_next("commit", lambda: api.call("CancelTask", {"id": task_id}))

    with pytest.raises(UnsupportedOperationError):
        api.send(messageId="m2", taskId=task_id)

    assert api.world.entries(api.ref(task_id))[-1].state is TaskState.CANCELED


def test_a_task_that_expires_while_a_follow_up_comes_is_not_found(api: ApiBench) -> None:
    task_id = waiting_task(api)
    expires = api.header(api.ref(task_id)).expires_second
    api.log.before_next("commit", lambda: api.clock.set(expires * 1000))

    with pytest.raises(TaskNotFoundError):
        api.send(messageId="m2", taskId=task_id)


# ---- waiting ----


def test_b22_without_return_immediately_the_call_polls_the_header_alone_up_to_its_bound(api: ApiBench) -> None:
    task = api.call("SendMessage", {"message": message(), "configuration": {"blocking": False}})["task"]

    assert task["status"]["state"] == "TASK_STATE_SUBMITTED"
    assert api.clock.now() == START + 25_000
    assert api.clock.slept[:4] == pytest.approx([0.1, 0.15, 0.225, 0.3375])
    assert max(api.clock.slept) == 1.0
    assert api.log.calls["read"] == 1
    assert api.log.calls["header"] == len(api.clock.slept)


@pytest.mark.parametrize(("now", "seconds"), [(True, 0), (False, 25)], ids=["at once", "blocking"])
def test_b16_an_agent_that_says_nothing_for_30_seconds_holds_no_caller(
    api: ApiBench, now: bool, seconds: float
) -> None:
    task = api.call("SendMessage", sending(now=now))["task"]

    assert api.clock.now() == START + seconds * 1000  # API Gateway gives up after 29 s
    assert task["status"]["state"] == "TASK_STATE_SUBMITTED"
    assert not api.launcher.calls  # nor does the call itself wait for an execution to be started


@pytest.mark.parametrize("state", [*INTERRUPTED, *TERMINAL])
def test_a_blocking_call_returns_as_soon_as_the_task_has_ended_or_waits(api: ApiBench, state: TaskState) -> None:
    def work() -> None:
        [ref] = {ref for ref, _ in api.world.items}
        api.put_artifact(ref)
        api.put_status(ref, state)

    api.log.before_next("header", work)

    task = api.call("SendMessage", {"message": message()})["task"]

    assert task["status"]["state"] == state
    assert task["artifacts"] == [{"artifactId": "a", "parts": [{"text": "x"}]}]
    assert api.clock.slept == [0.1]


def test_a_blocking_send_again_of_a_task_that_has_ended_waits_for_nothing(api: ApiBench) -> None:
    api.put_status(api.ref(api.send()["id"]), TaskState.COMPLETED)

    api.call("SendMessage", {"message": message()})

    assert api.clock.slept == []


def test_f11_the_bound_is_a_setting(api: ApiBench) -> None:
    api = ApiBench(limits=Limits(blocking_seconds=3))

    api.call("SendMessage", {"message": message()})

    assert api.clock.now() == START + 3_000


# ---- history ----


@pytest.mark.parametrize(("length", "kept"), [(None, ["hi", "Which one?", "x"]), (2, ["Which one?", "x"]), (9, 3)])
def test_a24_history_length_holds_for_the_answer_of_a_send(
    api: ApiBench, length: int | None, kept: list[str] | int
) -> None:
    task_id = waiting_task(api)

    config = {} if length is None else {"historyLength": length}
    task = api.send(messageId="m2", taskId=task_id, text="x", config=config)

    said = [each["parts"][0]["text"] for each in task["history"]]
    assert said == kept if isinstance(kept, list) else len(said) == kept


def test_a24_a_blocking_send_returns_at_most_what_was_asked_for(api: ApiBench) -> None:
    request = sending(now=False, config={"historyLength": 0})

    assert "history" not in api.call("SendMessage", request)["task"]


def test_a24_a_negative_history_length_is_refused(api: ApiBench) -> None:
    with pytest.raises(InvalidParamsError) as refused:
        api.send(config={"historyLength": -1})

    assert refused.value.violations[0].field == "configuration.historyLength"
    assert not api.world.items


# ---- numbers ----


@pytest.mark.parametrize("data", ['{"n":1.10}', "12345678901234567890123", "null", "{}", "[1,null]", "false", "5"])
def test_a10_g3_data_comes_back_digit_for_digit(api: ApiBench, data: str) -> None:
    request = sending()
    request["message"]["parts"] = [{"data": codec.loads(data)}]
    task = api.call("SendMessage", request)["task"]

    assert f'"parts":[{{"data":{data}}}]' in codec.dumps(task)
    stored: Entry = api.world.entries(api.ref(task["id"]))[0]
    assert f'"parts":[{{"data":{data}}}]' in stored.body


# ---- size ----


def test_a_follow_up_that_would_make_the_task_too_large_is_refused_and_the_task_waits_on(api: ApiBench) -> None:
    task_id = waiting_task(api)
    api.put_artifact(api.ref(task_id), text="x" * 2_000_000)
    before = len(api.world.stream)

    with pytest.raises(InvalidParamsError) as refused:
        api.send(messageId="m2", taskId=task_id, text="x" * 3_000_000)

    [violation] = refused.value.violations
    assert violation.field == "message.parts"
    assert "5,000,000 bytes" in violation.description
    assert len(api.world.stream) == before


def test_a_large_follow_up_is_recognised_again_whatever_the_tasks_size_is_now(api: ApiBench) -> None:
    task_id = waiting_task(api)
    api.send(messageId="m2", taskId=task_id, text="x" * 3_000_000)
    api.put_status(api.ref(task_id), TaskState.INPUT_REQUIRED)
    before = len(api.world.stream)

    api.send(messageId="m2", taskId=task_id, text="x" * 3_000_000)

    assert len(api.world.stream) == before
