"""Invariant 6: nothing of one (tenant, owner) is readable, cancelable or changeable by another, and an error for "not
yours" equals the error for "not there"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from builders.api import HOOK, ApiBench, message
from herald.protocol.errors import InvalidParamsError
from herald.protocol.states import TaskState
from herald.records import TaskRef

CALLS: dict[str, dict[str, Any]] = {
    "GetTask": {"id": "{task}"},
    "CancelTask": {"id": "{task}"},
    "SendMessage": {"message": {**message(messageId="m2"), "taskId": "{task}"}},
    "CreateTaskPushNotificationConfig": {"taskId": "{task}", "id": "c", "url": HOOK},
    "GetTaskPushNotificationConfig": {"taskId": "{task}", "id": "c"},
    "ListTaskPushNotificationConfigs": {"taskId": "{task}"},
    "DeleteTaskPushNotificationConfig": {"taskId": "{task}", "id": "c"},
}

STRANGERS = {
    "another owner": {"owner": "bob", "tenant": ""},
    "the same owner under another tenant": {"owner": "alice", "tenant": "acme"},
    "an owner whose name begins alike": {"owner": "alice#", "tenant": ""},
}

ABSENT = "aaaaaaaaaaaaaaaaaaaaaaaaaa"


@pytest.mark.parametrize("stranger", STRANGERS.values(), ids=STRANGERS.keys())
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("state", [TaskState.WORKING, TaskState.INPUT_REQUIRED, TaskState.COMPLETED])
def test_e9_what_is_not_yours_is_answered_like_what_is_not_there(
    name: str, stranger: dict[str, str], state: TaskState
) -> None:
    api = ApiBench()
    task_id = api.send()["id"]
    api.call("CreateTaskPushNotificationConfig", {"taskId": task_id, "id": "c", "url": HOOK})
    api.put_status(api.ref(task_id), state)
    before = dict(api.world.items)

    def ask(of: str) -> str:
        return str(api.rpc(name, _with_task(CALLS[name], of), **stranger))

    theirs, absent = ask(task_id), ask(ABSENT)

    assert "-32001" in theirs
    assert theirs.replace(task_id, "TASK") == absent.replace(ABSENT, "TASK")
    assert api.world.items == before
    assert not api.launcher.calls


@pytest.mark.parametrize("stranger", STRANGERS.values(), ids=STRANGERS.keys())
def test_e11_a_reference_to_a_task_of_somebody_elses_reads_nothing_of_it(
    stranger: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    api = ApiBench()
    theirs = api.send(text="for alice's eyes", contextId="alice's context")["id"]
    api.put_artifact(api.ref(theirs), text="alice's artifact")
    looked_at: set[TaskRef] = set()

    def watched(read: Callable[..., Any]) -> Callable[..., Any]:
        def watching(ref: TaskRef, *rest: Any) -> Any:
            looked_at.add(ref)
            return read(ref, *rest)

        return watching

    monkeypatch.setattr(api.world, "get", watched(api.world.get))
    monkeypatch.setattr(api.world, "entries", watched(api.world.entries))

    refusals = []
    for named in (theirs, ABSENT):
        with pytest.raises(InvalidParamsError) as refused:
            api.send(**stranger, referenceTaskIds=[named])
        refusals.append((str(refused.value), refused.value.violations))

    assert refusals[0] == refusals[1]
    assert refusals[0][1][0].field == "message.referenceTaskIds[0]"
    assert {(ref.owner, ref.tenant) for ref in looked_at} == {(stranger["owner"], stranger["tenant"])}


def test_the_same_send_of_two_owners_makes_two_tasks_with_two_ids() -> None:
    api = ApiBench()

    ids = {api.send(owner, tenant)["id"] for owner in ("alice", "bob") for tenant in ("", "acme")}

    assert len(ids) == 4


@pytest.mark.parametrize(
    ("one", "other"),
    [(("", "a#b"), ("a", "b")), (("a", "b#c"), ("a#b", "c")), (("a/b", "c"), ("a", "b/c")), (("%23", "a"), ("#", "a"))],
)
def test_names_that_look_alike_when_joined_are_two(one: tuple[str, str], other: tuple[str, str]) -> None:
    api = ApiBench()

    ids = {api.send(owner, tenant)["id"] for tenant, owner in (one, other)}

    assert len(ids) == 2


def _with_task(params: dict[str, Any], task_id: str) -> dict[str, Any]:
    return {
        name: _with_task(value, task_id) if isinstance(value, dict) else task_id if value == "{task}" else value
        for name, value in params.items()
    }
