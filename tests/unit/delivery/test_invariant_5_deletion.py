"""Invariant 5: after DELETE of a webhook returns, at most the attempt already under way arrives."""

from __future__ import annotations

import pytest

from builders.deliveries import URL, Road
from builders.killing import Calls, watch
from builders.records import a_ref
from fakes.world import answer
from herald.client_secrets import Secrets


def road_to_walk(calls: Calls) -> Road:
    road = Road()
    road.register(snapshot_due=True, secrets=Secrets("tok", "Bearer", "sek"))
    for number in range(1, 4):
        road.working(number)
    road.completed(4)
    road.transport.script(URL, 200, 500)
    watch(road, calls)
    return road


def walk(road: Road) -> None:
    road.ring()
    while road.answer():
        pass
    road.settle(rounds=3)


CALLS = Calls()
walk(road_to_walk(CALLS))


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("place", range(1, len(CALLS.names) + 1), ids=lambda place: f"{place}-{CALLS.names[place - 1]}")
def test_at_most_the_attempt_under_way_arrives_whenever_the_webhook_is_deleted(place: int, moment: str) -> None:
    posted = -1

    def delete() -> None:
        nonlocal posted
        posted = len(road.transport.posts)
        road.webhooks.delete(a_ref(), "cfg-1")

    calls = Calls(place, before=delete) if moment == "before" else Calls(place, after=delete)
    road = road_to_walk(calls)

    walk(road)

    assert posted >= 0
    under_way = calls.names[:place]
    last_get = max((at for at, name in enumerate(under_way) if name == "webhooks.get"), default=-1)
    looked = last_get >= 0 and not (moment == "before" and calls.names[place - 1] == "webhooks.get")
    assert len(road.transport.posts) - posted <= (1 if looked else 0)
    assert road.webhooks.get(a_ref(), "cfg-1") is None


def test_a_hidden_doorbell_of_a_deleted_webhook_sends_nothing() -> None:
    road = Road()
    road.register()
    road.working(1)
    road.transport.script(URL, 500)
    road.run()

    road.webhooks.delete(a_ref(), "cfg-1")
    road.wait(5)

    assert road.numbers() == [1]
    assert road.doorbells.queue == []


def test_a_webhook_deleted_and_made_again_under_the_same_id_is_another_one() -> None:
    road = Road()
    road.register()
    road.working(1)
    road.ring()

    def replace_it() -> None:
        road.webhooks.delete(a_ref(), "cfg-1")
        road.register(key="n" * 26, cursor=1, snapshot=1, snapshot_due=True)

    road.webhooks.before_next("get", replace_it)
    road.run()

    assert [post.headers["webhook-id"] for post in road.posts()] == [f"msg_{'n' * 26}_000000000001"]
    assert road.posts()[0].event.keys() == {"task"}


def test_the_answer_of_the_last_attempt_changes_nothing_that_was_deleted() -> None:
    road = Road()
    road.register()
    road.working(1)

    def deleted_meanwhile(_: object) -> object:
        road.webhooks.delete(a_ref(), "cfg-1")
        return answer(500)

    road.transport.script(URL, deleted_meanwhile)  # type: ignore[arg-type]
    road.run()

    assert road.webhooks.get(a_ref(), "cfg-1") is None
    assert road.doorbells.queue == []
