"""What is announced of a webhook: once for each change of its state, after it is stored, never in the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from builders.deliveries import URL, Road
from builders.records import KEY, a_ref
from fakes.clock import START
from fakes.world import answer
from herald.ports import News, Unavailable
from herald.records import Doorbell, Webhook, WebhookState

BELL = Doorbell(a_ref(), "cfg-1", KEY)


def road_with(*numbers: int, **webhook: Any) -> Road:
    road = Road()
    road.register(**webhook)
    for number in numbers:
        road.working(number)
    return road


def test_a_webhook_that_never_fails_is_no_news() -> None:
    road = road_with(1, 2)
    road.completed(3)
    road.run()
    assert road.announcer.news == []


def test_a_run_of_failures_is_announced_once_and_so_is_its_recovery_after_the_log_is_drained() -> None:
    road = road_with(1, 2)
    road.transport.script(URL, 500, 502)
    road.run()
    road.wait(5)
    assert road.announcer.news == [("webhook.failing", "cfg-1", "http_5xx")]

    road.transport.script(URL, 200)
    road.wait(60)

    assert road.numbers() == [1, 1, 1, 2]
    assert road.announcer.news[1:] == [("webhook.recovered", "cfg-1", "delivered")]


def test_the_last_entry_recovers_a_webhook_too() -> None:
    road = road_with()
    road.completed(1)
    road.transport.script(URL, 500)
    road.run()
    road.wait(5)
    assert [name for name, _, _ in road.announcer.news] == ["webhook.failing", "webhook.recovered"]


@pytest.mark.parametrize(
    ("reply", "state", "outcome"),
    [
        (answer(410), {}, "gone"),
        (answer(500, webhook_delivery="disable"), {}, "http_5xx"),
        (answer(200, webhook_delivery="disable"), {}, "delivered"),
        (answer(503), {"state": WebhookState.FAILING, "failures": 11, "attempt": 11}, "http_5xx"),
    ],
)
def test_a_webhook_that_is_given_up_is_announced_as_disabled(reply: Any, state: dict[str, Any], outcome: str) -> None:
    road = road_with(1, **state)
    road.transport.script(URL, reply)

    road.delivery.answer(BELL, lambda: 300)

    assert road.announcer.news == [("webhook.disabled", "cfg-1", outcome)]


def test_what_is_announced_is_stored_already() -> None:
    road = road_with(1)
    road.transport.script(URL, 500)
    told: list[Webhook] = []

    class Looking:
        def announce(self, news: News, webhook: Webhook, outcome: str, at: int) -> None:
            assert (news, at) == (News.FAILING, START)
            assert webhook == road.webhook()
            told.append(webhook)

    replace(road.delivery, announcer=Looking()).answer(BELL, lambda: 300)

    assert len(told) == 1


def test_an_announcer_that_fails_is_not_in_the_way(caplog: pytest.LogCaptureFixture) -> None:
    road = road_with(1, 2)
    road.transport.script(URL, 500)
    road.announcer.fail_next("announce", Unavailable("PutEvents: a secret"), times=2)

    road.run()
    road.wait(5)

    assert road.numbers() == [1, 1, 2]
    assert road.webhook().state is WebhookState.ACTIVE
    assert caplog.messages == [
        "webhook.failing can't be announced: Unavailable",
        "webhook.recovered can't be announced: Unavailable",
    ]


def test_a_change_that_somebody_else_came_before_is_not_announced() -> None:
    road = road_with(1)
    road.transport.script(URL, 500)
    road.webhooks.before_next("update", lambda: road.webhooks.delete(a_ref(), "cfg-1"))
    road.run()
    assert road.announcer.news == []


@pytest.mark.parametrize(
    ("script", "news"),
    [
        ([500], ["webhook.failing", "webhook.recovered"]),
        ([answer(410)], ["webhook.disabled"]),
    ],
    ids=["failing", "disabled"],
)
def test_a_change_whose_answer_got_lost_is_announced_and_costs_no_time(script: list[Any], news: list[str]) -> None:
    road = road_with(1)
    road.transport.script(URL, *script)
    road.webhooks.lose_answer_next("update")

    road.run()
    road.wait(5)  # the schedule's own five seconds: the doorbell was hidden, not left to the due index

    assert [name for name, _, _ in road.announcer.news] == news
    assert road.numbers() == [1, 1][: len(news)]
    assert road.doorbells.hidden == [("receipt-1", 5)][: len(news) - 1]


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_recovery_whose_answers_get_lost_is_announced_once(at: int) -> None:
    road = road_with(1, 2)
    road.transport.script(URL, 500)
    for _ in range(at):
        road.webhooks.after_next("update", lambda: None)
    road.webhooks.lose_answer_next("update")
    road.run()
    road.wait(5)
    assert road.numbers() == [1, 1, 2]
    assert [name for name, _, _ in road.announcer.news] == ["webhook.failing", "webhook.recovered"]
