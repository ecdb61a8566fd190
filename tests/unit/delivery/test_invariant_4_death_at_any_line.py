"""Invariant 4, the crash part: a sender that dies at any call it makes, before or after its effect, loses nothing and
repeats at most the notification in flight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import groupby

import pytest

from builders.deliveries import URL, Road
from builders.killing import Calls, Killed, watch
from builders.records import a_header, run_entry
from fakes.clock import START
from fakes.world import Post, answer
from herald.client_secrets import Secrets
from herald.ports import Answer
from herald.records import WebhookState

OWED = [0, 2, 3, 4, 5]  # a snapshot of entry 0, then every entry but the run


def kill() -> None:
    raise Killed


def first_time_entry_3_fails() -> Callable[[Post], Answer]:
    failed = False

    def reply(post: Post) -> Answer:
        nonlocal failed
        fails = post.headers["webhook-id"].endswith("3") and not failed
        failed = failed or fails
        return answer(500, b"no") if fails else answer(200)

    return reply


def road_to_walk(calls: Calls) -> Road:
    """A task's whole delivery: snapshot, updates, a failure at entry 3, recovery, the end."""
    road = Road()
    road.register(snapshot_due=True, secrets=Secrets("tok", "Bearer", "sek"), due_at=START + 3_600_000)
    road.store(run_entry(1), header=a_header())
    for number in (2, 3, 4):
        road.working(number)
    road.completed(5)
    road.transport.script(URL, *[first_time_entry_3_fails()] * 20)
    watch(road, calls)
    return road


def walk(road: Road) -> None:
    road.ring()
    for _ in range(4):
        while road.answer():
            pass
        road.clock.advance(5)
        road.sweep()


CALLS = Calls()
walk(road_to_walk(CALLS))


def test_the_walk_meets_every_port() -> None:
    assert {name.partition(".")[0] for name in CALLS.names} == {
        "clock",
        "doorbells",
        "log",
        "resolver",
        "sealer",
        "signer",
        "transport",
        "webhooks",
    }
    assert len(CALLS.names) > 60


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("place", range(1, len(CALLS.names) + 1), ids=lambda place: f"{place}-{CALLS.names[place - 1]}")
def test_a_sender_that_dies_there_loses_nothing_and_repeats_one_notification_at_most(place: int, moment: str) -> None:
    calls = Calls(place, before=kill) if moment == "before" else Calls(place, after=kill)
    road = road_to_walk(calls)

    with pytest.raises(Killed):
        walk(road)
    watch(road, Calls())
    road.settle(rounds=3)

    received = road.numbers()
    assert [number for number, _ in groupby(received)] == OWED
    assert road.webhook().cursor == 5
    assert road.webhook().state is WebhookState.ACTIVE
    assert road.webhook().due_at is None
    expected = Counter({0: 1, 2: 1, 3: 2, 4: 1, 5: 1})  # entry 3 fails once
    assert sum((Counter(received) - expected).values()) <= 1
