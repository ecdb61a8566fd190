"""The table of numbers that receivers are promised (docs/webhooks.md), each row through the whole sender."""

from __future__ import annotations

from typing import Any

import pytest

from builders.deliveries import ADDRESS, URL, Road
from fakes.clock import START
from fakes.world import answer
from herald.adapters import http
from herald.delivery import retry, url_policy
from herald.ports import Answer, TransportFailure
from herald.records import Webhook, WebhookState
from herald.settings import SendWebhooksSettings

# START is 2026-01-01 00:00:00 UTC, a Thursday.
SECOND, MINUTE, HOUR = 1, 60, 3_600


def after(reply: Any, *, failures: int = 0, random: float = 0.5) -> Webhook:
    """What a webhook becomes when a receiver replies this after so many failures in a row."""
    road = Road()
    road.random = lambda: random
    state = WebhookState.FAILING if failures else WebhookState.ACTIVE
    webhook = road.register(state=state, failures=failures, attempt=failures)
    road.working(1)
    road.transport.script(URL, reply)
    road.delivery.answer(webhook.doorbell, lambda: 300)
    return road.webhook()


def wait(reply: Any, *, failures: int = 0, random: float = 0.5) -> float:
    """Seconds until the next attempt."""
    webhook = after(reply, failures=failures, random=random)
    assert webhook.state is WebhookState.FAILING
    return (webhook.next_attempt_at - START) / 1000


@pytest.mark.parametrize(
    ("failure", "least", "usual", "most"),
    [
        (1, 4, 5, 6),
        (2, 24, 30, 36),
        (3, 96, 120, 144),
        (4, 480, 600, 720),
        (5, 1_440, 1_800, 2_160),
        (6, 5_760, 7_200, 8_640),
        (7, 14_400, 18_000, 21_600),
        (8, 28_800, 36_000, 43_200),
        (9, 28_800, 36_000, 43_200),
        (10, 28_800, 36_000, 43_200),
        (11, 28_800, 36_000, 43_200),
    ],
)
def test_the_wait_after_each_failure_and_how_far_it_is_jittered(
    failure: int, least: float, usual: float, most: float
) -> None:
    assert wait(500, failures=failure - 1, random=0.0) == pytest.approx(least)
    assert wait(500, failures=failure - 1, random=0.5) == usual
    assert wait(500, failures=failure - 1, random=1.0) == pytest.approx(most, abs=0.001)


def test_the_twelfth_failure_in_a_row_disables() -> None:
    webhook = after(500, failures=11)
    assert (webhook.state, webhook.failures) == (WebhookState.DISABLED, 12)
    assert webhook.reason == "exhausted: 12 attempts in a row failed, the last one with http_5xx"


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        # seconds
        ("7", 7),
        (" 7 ", 7),
        ("3", 5),  # never below the schedule
        ("0", 5),
        ("21600", 6 * HOUR),
        ("21601", 6 * HOUR),
        ("999999999999999999999999", 6 * HOUR),
        # an HTTP date, in the three forms of RFC 9110
        ("Thu, 01 Jan 2026 00:02:00 GMT", 2 * MINUTE),
        ("Thursday, 01-Jan-26 00:02:00 GMT", 2 * MINUTE),
        ("Thu Jan  1 00:02:00 2026", 2 * MINUTE),
        ("Fri, 02 Jan 2026 00:00:00 GMT", 6 * HOUR),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 6 * HOUR),
        # a date that is past
        ("Wed, 31 Dec 2025 23:59:59 GMT", 5),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 5),
        ("Mon, 01 Jan 0001 00:00:00 GMT", 5),
        # garbage
        ("", 5),
        ("soon", 5),
        ("-1", 5),
        ("1.5", 5),
        ("1e9", 5),
        ("0x10", 5),
        ("NaN", 5),
        ("7, 9", 5),
        ("Thu, 32 Jan 2026 00:02:00 GMT", 5),
        ("Thu, 01 Jan 99999 00:00:00 GMT", 5),
        ("9" * 5_000, 6 * HOUR),
    ],
)
def test_retry_after_of_every_kind(asked: str, seconds: float) -> None:
    assert wait(answer(503, retry_after=asked)) == seconds
    assert wait(answer(400, retry_after=asked)) == seconds  # on any failure


def test_retry_after_of_ten_seconds_late_in_the_schedule_shortens_nothing() -> None:
    assert wait(answer(503, retry_after="10"), failures=7) == 10 * HOUR


def test_retry_after_on_a_success_is_no_wait() -> None:
    assert after(answer(200, retry_after="60")).state is WebhookState.ACTIVE


@pytest.mark.parametrize(
    "reply",
    [429, 502, 504, TransportFailure("read_timeout", 15_000), TransportFailure("connect_timeout", 5_000)],
    ids=str,
)
def test_an_overloaded_receiver_is_left_alone_for_a_minute(reply: Any) -> None:
    assert [wait(reply, failures=failures, random=0.0) for failures in range(4)] == [60, 60, 96, 480]


@pytest.mark.parametrize("status", [300, 301, 307, 400, 401, 403, 404, 408, 413, 500, 501, 503, 599])
def test_every_other_status_follows_the_schedule(status: int) -> None:
    assert wait(status) == 5


def test_410_disables_at_once() -> None:
    webhook = after(410)
    assert (webhook.state, webhook.reason) == (WebhookState.DISABLED, "gone: the receiver answered 410")


@pytest.mark.parametrize("status", [200, 204, 301, 404, 429, 500])
@pytest.mark.parametrize("value", ["disable", "Disable", " DISABLE "])
def test_the_disable_header_disables_at_once_whatever_the_status(status: int, value: str) -> None:
    webhook = after(answer(status, webhook_delivery=value))
    assert webhook.state is WebhookState.DISABLED
    assert webhook.reason == "disabled by the receiver: it answered webhook-delivery: disable"


@pytest.mark.parametrize("value", ["", "enable", "disabled", "disable;q=1"])
def test_another_value_of_that_header_says_nothing(value: str) -> None:
    assert wait(answer(500, webhook_delivery=value)) == 5


def test_a_url_that_the_guard_refuses_gets_three_attempts_and_at_most_ten_minutes() -> None:
    road = Road()
    road.random = lambda: 1.0
    road.register()
    road.working(1)
    road.resolver.set("client.example", ["10.0.0.1"])
    times: list[float] = []
    while road.webhook().state is not WebhookState.DISABLED:
        tried = len(road.watch.attempts)
        road.run()
        times += [(road.clock.now() - START) / 1000] * (len(road.watch.attempts) - tried)
        road.clock.advance(1)

    assert times == [0, 72, 432]
    assert road.webhook().reason == "ssrf_blocked: its URL was refused 3 times"


def test_an_attempt_has_15_seconds_of_which_dns_may_take_2_and_connecting_5() -> None:
    assert SendWebhooksSettings.model_fields["webhook_timeout"].default == 15
    assert (url_policy.DNS_SECONDS, http.CONNECT_SECONDS) == (2.0, 5.0)
    road = Road()
    road.register()
    road.working(1)
    road.run()
    assert (road.posts()[0].seconds, road.posts()[0].address) == (15.0, ADDRESS)


def test_16_kib_of_an_answer_are_read_and_4_kib_kept() -> None:
    assert http.HEAD_BYTES == 16_384
    road = Road()
    road.register()
    road.working(1)
    road.transport.script(URL, Answer(500, {}, b"x" * 16_384, 5))
    road.run()
    [attempt] = road.webhooks.attempts(road.webhook())
    assert attempt.head == "x" * 4_096


def test_the_failure_classes_are_these() -> None:
    classes = {value for name, value in vars(retry).items() if name.isupper() and isinstance(value, str)}
    assert classes - {retry.DISABLED_BY_RECEIVER, retry.DELIVERED} == {
        "bad_answer",
        "connect_timeout",
        "connection_refused",
        "dns_error",
        "gone",
        "http_3xx",
        "http_4xx",
        "http_5xx",
        "no_route",
        "own_fault",
        "read_timeout",
        "ssrf_blocked",
        "tls_error",
    }
