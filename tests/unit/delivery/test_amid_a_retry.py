"""Deleting, replacing and erasing in the middle of a retry: the doorbell hides, is in flight, or the wait is long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from builders.deliveries import URL, Road
from builders.records import KEY, a_ref
from fakes.clock import START
from fakes.remains import FakeRemains
from fakes.world import FakeLauncher, Post, answer
from herald.ops.erasure import Erasure
from herald.ports import Answer
from herald.records import Doorbell, WebhookState

BELL = Doorbell(a_ref(), "cfg-1", KEY)
OTHER = "https://other.example/hook"


def failing(*, retry_after: str = "", numbers: tuple[int, ...] = (1,)) -> Road:
    """A road whose webhook has failed once: its doorbell hides, or its wait is long."""
    road = Road()
    road.register()
    for number in numbers:
        road.working(number)
    road.transport.script(URL, answer(500, retry_after=retry_after))
    road.run()
    assert road.webhook().state is WebhookState.FAILING
    return road


def during(act: Callable[[], object], status: int) -> Callable[[Post], Answer]:
    def reply(_: Post) -> Answer:
        act()
        return answer(status)

    return reply


def erasure(road: Road) -> Erasure:
    return Erasure(road.log, FakeRemains(road.world), FakeLauncher(), road.clock, road.ids)


def delete(road: Road) -> None:
    road.webhooks.delete(a_ref(), "cfg-1")


def erase(road: Road) -> None:
    erasure(road).first(a_ref())


@pytest.mark.parametrize("gone", [delete, erase])
@pytest.mark.parametrize("retry_after", ["", "3600"], ids=["hidden", "long"])
def test_nothing_more_is_sent_to_what_goes_while_it_waits(gone: Callable[[Road], None], retry_after: str) -> None:
    road = failing(retry_after=retry_after)

    gone(road)
    road.settle(5)

    assert road.numbers() == [1]
    assert road.doorbells.queue == []
    assert road.webhooks.get(a_ref(), "cfg-1") is None


@pytest.mark.parametrize("gone", [delete, erase])
@pytest.mark.parametrize("status", [200, 500, 410])
def test_the_attempt_under_way_is_the_last_and_makes_nothing_anew(gone: Callable[[Road], None], status: int) -> None:
    road = failing(numbers=(1, 2))
    road.transport.script(URL, during(lambda: gone(road), status))
    road.clock.advance(5)

    road.settle(5)

    assert road.numbers() == [1, 1]
    assert road.webhooks.get(a_ref(), "cfg-1") is None
    assert road.doorbells.queue == []
    assert [name for name, _, _ in road.announcer.news] == ["webhook.failing"]


def test_an_erasure_amid_an_attempt_leaves_no_record_of_it() -> None:
    road = failing()
    road.transport.script(URL, during(lambda: erase(road), 500))
    road.clock.advance(5)
    road.answer()
    assert [sk for _, sk in road.world.items if sk.startswith("TRY#")]  # recorded after the first pass

    road.clock.advance(180)
    erasure(road).last(a_ref())

    assert road.world.items == {}


@pytest.mark.parametrize("retry_after", ["", "300", "3600"])
def test_a_replacement_is_served_at_once_whatever_the_old_one_waits_for(retry_after: str) -> None:
    road = failing(retry_after=retry_after)
    old = road.webhook()
    fresh = replace(
        old,
        key="n" * 26,
        url=OTHER,
        state=WebhookState.ACTIVE,
        failures=0,
        attempt=0,
        next_attempt_at=0,
        cursor=1,
        snapshot=1,
        snapshot_due=True,
    )
    road.webhooks.put(fresh)
    road.run()

    assert road.numbers(OTHER) == [1]
    road.settle(3)
    assert (road.numbers(), road.numbers(OTHER)) == ([1], [1])
    assert road.webhook().delivered == 1


@pytest.mark.parametrize("status", [200, 500, 410])
def test_a_replacement_amid_an_attempt_is_not_touched_by_it(status: int) -> None:
    road = failing()
    fresh = replace(road.webhook(), key="n" * 26, url=OTHER, state=WebhookState.ACTIVE, failures=0, attempt=0)
    road.transport.script(URL, during(lambda: road.webhooks.put(fresh), status))
    road.clock.advance(5)

    road.answer()

    assert road.webhook() == fresh
    assert [name for name, _, _ in road.announcer.news] == ["webhook.failing"]


@pytest.mark.parametrize("act", ["pause", "skip", "replay"])
def test_a_command_amid_the_last_attempt_of_a_schedule(act: str) -> None:
    road = Road()
    road.register(state=WebhookState.FAILING, failures=11, attempt=11, cursor=1, next_attempt_at=START)
    road.working(1)
    road.working(2)
    commands: dict[str, Callable[[], Any]] = {
        "pause": lambda: road.control.pause(road.webhook()),
        "skip": lambda: road.control.skip(road.webhook()),
        "replay": lambda: road.control.replay(road.webhook(), 1),
    }
    road.transport.script(URL, during(commands[act], 500))

    road.delivery.answer(BELL, lambda: 300)

    # The old notification's failure counts no more: it isn't disabled for what the command has put an end to.
    assert road.webhook().state is (WebhookState.PAUSED if act == "pause" else WebhookState.ACTIVE)
    assert road.numbers() == {"pause": [2], "skip": [2, 2], "replay": [2, 1, 2]}[act]
