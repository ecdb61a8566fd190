"""referenceTaskIds are checked against the caller's own tasks."""

from __future__ import annotations

import pytest

from builders.api import ApiBench
from herald.protocol.errors import InvalidParamsError
from herald.protocol.states import TaskState

ABSENT = "aaaaaaaaaaaaaaaaaaaaaaaaaa"


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


def tasks(api: ApiBench, many: int) -> list[str]:
    return [api.send(messageId=f"r{number}")["id"] for number in range(many)]


def refusal(api: ApiBench, references: list[str], **sent: str) -> InvalidParamsError:
    before = len(api.world.stream)
    with pytest.raises(InvalidParamsError) as refused:
        api.send(messageId="m9", referenceTaskIds=references, **sent)
    assert len(api.world.stream) == before
    return refused.value


def test_ones_own_tasks_are_taken_for_a_new_task_and_for_a_follow_up(api: ApiBench) -> None:
    one, other = tasks(api, 2)

    task = api.send(referenceTaskIds=[one, other])
    follow_up = api.send(messageId="m2", taskId=task["id"], referenceTaskIds=[task["id"], one, one])

    assert task["history"][0]["referenceTaskIds"] == [one, other]
    assert follow_up["history"][1]["referenceTaskIds"] == [task["id"], one, one]


@pytest.mark.parametrize("ended", [TaskState.COMPLETED, TaskState.CANCELED])
def test_a_task_that_has_ended_may_be_referred_to(api: ApiBench, ended: TaskState) -> None:
    [one] = tasks(api, 1)
    api.put_status(api.ref(one), ended)

    api.send(referenceTaskIds=[one])


@pytest.mark.parametrize("follow_up", [False, True])
def test_e11_each_one_that_is_not_there_or_not_yours_is_named_by_its_place(api: ApiBench, follow_up: bool) -> None:
    [mine] = tasks(api, 1)
    theirs = api.send("bob")["id"]
    sent = {"taskId": mine} if follow_up else {}

    error = refusal(api, [mine, ABSENT, theirs, "a/b", ""], **sent)

    assert [(each.field, each.description) for each in error.violations] == [
        (f"message.referenceTaskIds[{place}]", "names no task of yours; check the id, or leave it out")
        for place in (1, 2, 3, 4)
    ]


def test_e11_another_tenants_task_is_not_there(api: ApiBench) -> None:
    theirs = api.send("alice", "acme")["id"]

    assert refusal(api, [theirs]).violations == refusal(api, [ABSENT]).violations


def test_a_message_may_refer_to_ten_tasks(api: ApiBench) -> None:
    ten = tasks(api, 10)

    api.send(messageId="m8", referenceTaskIds=ten)

    [violation] = refusal(api, [*ten, ten[0]]).violations
    assert (violation.field, violation.description) == ("message.referenceTaskIds", "must name 10 tasks at most")


def test_each_costs_one_read_of_a_header_however_often_it_is_named(api: ApiBench) -> None:
    one, other = tasks(api, 2)
    api.log.calls.clear()

    api.send(messageId="m8", referenceTaskIds=[one, other, one])

    assert dict(api.log.calls) == {"header": 2, "create": 1}


@pytest.mark.parametrize("follow_up", [False, True])
def test_a_repeated_send_is_known_though_the_task_it_refers_to_is_gone(api: ApiBench, follow_up: bool) -> None:
    [one] = tasks(api, 1)
    api.clock.advance(3600)
    other = api.send()["id"]
    sent = {"messageId": "m2", "referenceTaskIds": [one], **({"taskId": other} if follow_up else {})}
    first = api.send(**sent)
    api.clock.set(api.header(api.ref(one)).expires_second * 1000)

    assert api.send(**sent) == first
    assert refusal(api, [one]).violations[0].field == "message.referenceTaskIds[0]"


def test_the_adopters_reply_sees_checked_references_only() -> None:
    seen = []

    async def reply(request: object) -> None:
        seen.append(request)

    api = ApiBench(reply=reply)

    refusal(api, [ABSENT])
    assert seen == []
