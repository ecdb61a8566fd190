"""Every receiver by every death of ours by every AWS error, on the fakes: what stands afterwards, when it goes on, and
that in the end everything has arrived in order.

The faults strike at a task's first notification. Then the receiver is well and nothing else goes wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from builders.deliveries import URL, Road
from fakes.clock import FakeClock
from fakes.world import fake_signature
from faults import rules
from faults.cells import DEATHS, Cell, DyingWatch, registered
from faults.figures import Figures
from faults.receivers import ROWS, Row
from herald.ports import Answer, Unavailable, Webhooks, WebhookTransport
from herald.records import Webhook


def test_the_axes_are_whole() -> None:
    assert set(DEATHS) == set(rules.DEATHS)
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert (len(ROWS), len(rules.DEATHS), len(rules.ERRORS)) == (62, 6, 16)


@pytest.mark.parametrize("error", rules.ERRORS)
@pytest.mark.parametrize("death", rules.DEATHS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_c3_nothing_is_lost(row: Row, death: str, error: str, figures: Figures) -> None:
    road = Road(watch=DyingWatch())
    road.random = Random(f"{row.name} {death} {error}").random  # noqa: S311 - jitter, nothing secret
    registered(road)
    row.play(road)
    refused = 1 if row.posts and row.kind in rules.BAD else 0

    timed = Timed(road.transport, road.clock)
    road.delivery = replace(road.delivery, sender=replace(road.sender, transport=timed))

    repeated = Cell(road, row, death, error, refused, road.numbers).run()

    _assert_every_attempt_was_equal_and_freshly_signed(road, timed.seconds)
    figures.count("on the fakes", row.kind, repeated)


class Timed:
    """A transport that notes when it is asked."""

    def __init__(self, transport: WebhookTransport, clock: FakeClock) -> None:
        self._transport, self._clock = transport, clock
        self.seconds: list[int] = []

    def post(self, url: str, address: str, headers: Mapping[str, str], body: bytes, seconds: float) -> Answer:
        self.seconds.append(self._clock.now() // 1000)
        return self._transport.post(url, address, headers, body, seconds)


def _assert_every_attempt_was_equal_and_freshly_signed(road: Road, times: list[int]) -> None:
    key = road.webhook().key
    bodies: dict[int, bytes] = {}
    for post, time in zip(road.posts(), times, strict=True):
        number, second = int(post.headers["webhook-id"].rpartition("_")[2]), int(post.headers["webhook-timestamp"])
        assert post.headers["webhook-id"] == f"msg_{key}_{number:012d}"
        assert bodies.setdefault(number, post.body) == post.body
        assert second == time
        signature = fake_signature("acme", post.headers["webhook-id"], second, post.body)
        assert post.headers["webhook-signature"] == signature
    assert {post.url for post in road.transport.posts} == {URL}


@pytest.mark.parametrize(("jitter", "end"), [(0.0, 0), (1.0, 1)], ids=["shortest", "longest"])
@pytest.mark.parametrize("row", [row for row in ROWS if row.wait[1]], ids=lambda row: row.name)
def test_c3_jitter_takes_the_wait_from_the_least_to_the_most(row: Row, jitter: float, end: int) -> None:
    road = Road()
    registered(road)
    road.working(1)
    road.random = lambda: jitter
    row.play(road)
    road.ring()
    road.answer()

    assert road.webhook().next_attempt_at - road.clock.now() == row.wait[end] * 1000


class Refusing:
    """Webhooks whose updates are refused although nobody has changed anything."""

    def __init__(self, webhooks: Webhooks) -> None:
        self._webhooks = webhooks

    def update(self, before: Webhook, after: Webhook) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._webhooks, name)


@pytest.mark.parametrize("status", [200, 500, 410])
def test_an_update_that_is_refused_for_no_reason_is_a_fault_of_our_own_after_one_post(status: int) -> None:
    road = Road()
    registered(road)
    road.working(1)
    road.transport.script(URL, status)
    road.delivery = replace(road.delivery, webhooks=Refusing(road.webhooks))
    seconds = iter(range(300, 0, -60))  # so that a sender that went on would end, too

    with pytest.raises(Unavailable):
        road.delivery.answer(road.webhook().doorbell, lambda: next(seconds))

    assert road.numbers() == [1]
