"""Invariant 9: a webhook that is slow or down changes nothing for SendMessage, the agent or any other webhook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from builders.deliveries import Road
from fakes.world import Post
from herald.ports import Answer, TransportFailure

DEAD, ALIVE = "https://client.example/dead", "https://other.example/alive"


def hang(road: Road) -> Callable[[Post], Answer]:
    def reply(_: Post) -> Answer:
        road.clock.advance(15)
        raise TransportFailure("read_timeout", 15_000)

    return reply


def walk(dead: str) -> tuple[Road, list[tuple[int, int]], Counter[str]]:
    """Five updates, a minute apart: what the living receiver got and when, and what storing them cost."""
    road = Road()
    got: list[tuple[int, int]] = []
    road.register("a-dead", key="d" * 26, url=DEAD)
    road.register("b-alive", key="a" * 26, url=ALIVE)
    if dead != "neither":
        for _ in range(100):
            road.transport.script(DEAD, hang(road) if dead == "hangs" else TransportFailure("connection_refused"))
    costs: Counter[str] = Counter()
    for number in range(1, 6):
        stored_at = road.clock.now()
        before = Counter(road.log.calls) + Counter(road.webhooks.calls) + Counter(road.transport.calls)
        road.working(number)
        costs += Counter(road.log.calls) + Counter(road.webhooks.calls) + Counter(road.transport.calls) - before
        road.ring()
        # The groups of a FIFO queue run side by side: the living one's doorbell doesn't wait for the dead one's.
        while (queued := road.doorbells.receive()) is not None:
            here = road.clock.now()
            hide = road.delivery.answer(queued.doorbell, lambda: 300, queued.receives)
            if queued.doorbell.key == "a" * 26:
                got.append((number, road.clock.now() - here))
            else:
                road.clock.set(max(here, stored_at))  # what it took ran beside
            if hide is None:
                road.doorbells.acknowledge(queued.receipt)
            else:
                road.doorbells.hide(queued.receipt, hide)
        road.clock.advance(60)
    return road, got, costs


@pytest.mark.parametrize("dead", ["refuses", "hangs"])
def test_the_living_webhook_gets_the_same_at_the_same_time(dead: str) -> None:
    road, got, costs = walk(dead)
    well, got_when_well, costs_when_well = walk("neither")

    assert road.numbers(ALIVE) == well.numbers(ALIVE) == [1, 2, 3, 4, 5]
    assert got == got_when_well
    assert [post.headers["webhook-timestamp"] for post in road.posts(ALIVE)] == [
        post.headers["webhook-timestamp"] for post in well.posts(ALIVE)
    ]
    assert costs == costs_when_well


@pytest.mark.parametrize("dead", ["refuses", "hangs"])
def test_the_dead_webhook_is_called_by_its_schedule_and_not_by_every_entry(dead: str) -> None:
    road, _, _ = walk(dead)

    assert set(road.numbers(DEAD)) == {1}
    rung = [ring.doorbell.key for ring in road.doorbells.rings]
    assert (rung.count("d" * 26), rung.count("a" * 26)) == (1, 5)


def test_c2_storing_an_entry_calls_no_receiver_and_reads_no_webhook() -> None:
    _, _, costs = walk("hangs")

    assert costs == Counter()
