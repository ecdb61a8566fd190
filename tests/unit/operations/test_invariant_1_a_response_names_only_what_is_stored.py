"""Invariant 1: a response names only what is already stored.

A fault is put right before and right after each write of each operation. When the operation answers, what its answer
names is in the store; when it fails, the same call again gives the answer that it would have given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from builders.api import HOOK, ApiBench
from herald.ports import Unavailable
from herald.protocol.errors import TaskNotCancelableError
from herald.protocol.states import TaskState
from herald.records import Webhook


@dataclass(frozen=True)
class Case:
    write: str  # "log.create": the port and the method that writes
    prepare: Callable[[ApiBench], str]
    call: Callable[[ApiBench, str], Any]
    check: Callable[[ApiBench, Any], None]


def _task_is_stored(api: ApiBench, task: dict[str, Any]) -> None:
    assert api.call("GetTask", {"id": task["id"]}) == task


def _webhook_is_stored(api: ApiBench, config: dict[str, Any]) -> None:
    [webhook] = api.world.all(api.ref(config["taskId"]), "PUSH#", Webhook)
    assert (webhook.config_id, webhook.url) == (config["id"], config["url"])


def _nothing(api: ApiBench) -> str:
    return ""


def _submitted(api: ApiBench) -> str:
    return str(api.send()["id"])


def _waiting(api: ApiBench) -> str:
    task_id = _submitted(api)
    api.put_status(api.ref(task_id), TaskState.INPUT_REQUIRED)
    return task_id


CASES = {
    "new task": Case("log.create", _nothing, lambda api, _: api.send(), _task_is_stored),
    "follow-up": Case(
        "log.commit", _waiting, lambda api, task_id: api.send(messageId="m2", taskId=task_id), _task_is_stored
    ),
    "message while working": Case(
        "log.commit", _submitted, lambda api, task_id: api.send(messageId="m2", taskId=task_id), _task_is_stored
    ),
    "cancel": Case(
        "log.commit", _submitted, lambda api, task_id: api.call("CancelTask", {"id": task_id}), _task_is_stored
    ),
    "webhook": Case(
        "webhooks.put",
        _submitted,
        lambda api, task_id: api.call("CreateTaskPushNotificationConfig", {"taskId": task_id, "id": "c", "url": HOOK}),
        _webhook_is_stored,
    ),
}


@pytest.fixture(params=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def test_an_answer_is_given_after_its_write(case: Case) -> None:
    api = ApiBench()

    case.check(api, case.call(api, case.prepare(api)))


@pytest.mark.parametrize("after_effect", [False, True], ids=["before the write", "after the write"])
def test_a_write_that_fails_is_never_answered_for_and_may_be_asked_for_again(case: Case, after_effect: bool) -> None:
    api = ApiBench()
    task_id = case.prepare(api)
    port, method = case.write.split(".")
    getattr(api, port).fail_next(method, Unavailable("no answer"), after_effect=after_effect)
    before = len(api.world.stream)

    with pytest.raises(Unavailable):
        case.call(api, task_id)

    assert (len(api.world.stream) > before) is after_effect
    try:
        answer = case.call(api, task_id)
    except TaskNotCancelableError:  # the first cancel did it, and the second one says so
        assert after_effect
        assert api.header(api.ref(task_id)).state is TaskState.CANCELED
    else:
        case.check(api, answer)


def test_a_read_that_fails_after_the_write_leaves_what_the_same_send_meets_again() -> None:
    api = ApiBench()
    task_id = _waiting(api)
    api.log.after_next("commit", lambda: api.log.fail_next("read", Unavailable("no answer")))
    with pytest.raises(Unavailable):
        api.send(messageId="m2", taskId=task_id, config={"returnImmediately": False})

    task = api.send(messageId="m2", taskId=task_id)

    _task_is_stored(api, task)
    assert [entry.kind for entry in api.world.entries(api.ref(task_id))] == ["message", "status", "message", "status"]
