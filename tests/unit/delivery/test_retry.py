"""When a failure is tried again, and when a webhook is given up (case C3)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from herald.delivery import retry
from herald.delivery.retry import GiveUp, Outcome, Wait, decide, outcome_of_status, retry_after

MINUTE, HOUR = 60, 3_600


def wait(outcome: Outcome, failures: int = 1, *, blocked: int = 0, random: float = 0.5) -> float:
    decision = decide(outcome, failures, blocked, lambda: random)
    assert isinstance(decision, Wait), decision
    return decision.seconds


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [
        (1, 5),
        (2, 30),
        (3, 2 * MINUTE),
        (4, 10 * MINUTE),
        (5, 30 * MINUTE),
        (6, 2 * HOUR),
        (7, 5 * HOUR),
        (8, 10 * HOUR),
        (9, 10 * HOUR),
        (10, 10 * HOUR),
        (11, 10 * HOUR),
    ],
)
def test_c3_the_wait_after_each_failure_is_that_of_the_schedule(failures: int, seconds: int) -> None:
    assert wait(Outcome(retry.HTTP_5XX, 500), failures) == seconds


def test_c3_the_whole_schedule_is_12_attempts_in_47_h_43_min() -> None:
    assert retry.MAX_ATTEMPTS == 12
    assert sum(retry.DELAYS) == 47 * HOUR + 42 * MINUTE + 35


def test_c3_the_twelfth_failure_in_a_row_exhausts_the_schedule() -> None:
    assert decide(Outcome(retry.HTTP_5XX, 503), 12, 0, lambda: 0.5) == GiveUp(
        "exhausted: 12 attempts in a row failed, the last one with http_5xx"
    )


@pytest.mark.parametrize(("random", "seconds"), [(0.0, 24.0), (0.5, 30.0), (1.0, 36.0)])
def test_jitter_is_from_0_8_to_1_2(random: float, seconds: float) -> None:
    assert wait(Outcome(retry.HTTP_5XX, 500), 2, random=random) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(retry.HTTP_4XX, 429),
        Outcome(retry.HTTP_5XX, 502),
        Outcome(retry.HTTP_5XX, 504),
        Outcome(retry.READ_TIMEOUT),
        Outcome(retry.CONNECT_TIMEOUT),
    ],
)
def test_an_overloaded_receiver_gets_at_least_a_minute(outcome: Outcome) -> None:
    assert wait(outcome) == 60
    assert wait(outcome, 4) == 600


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(retry.HTTP_4XX, 400),
        Outcome(retry.HTTP_4XX, 404),
        Outcome(retry.HTTP_5XX, 500),
        Outcome(retry.HTTP_5XX, 503),
        Outcome(retry.HTTP_3XX, 302),
        Outcome(retry.DNS_ERROR),
        Outcome(retry.NO_ROUTE),
        Outcome(retry.CONNECTION_REFUSED),
        Outcome(retry.TLS_ERROR),
        Outcome(retry.BAD_ANSWER),
    ],
)
def test_everything_else_follows_the_schedule(outcome: Outcome) -> None:
    assert wait(outcome) == 5


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [(0, 5), (3, 5), (7, 7), (3_600, 3_600), (21_600, 21_600), (86_400, 21_600)],
)
def test_c3_retry_after_counts_up_to_6_hours_and_never_below_the_schedule(asked: float, seconds: float) -> None:
    assert wait(Outcome(retry.HTTP_5XX, 503, retry_after=asked)) == seconds


def test_410_disables_at_once() -> None:
    assert decide(Outcome(retry.GONE, 410), 1, 0, lambda: 0.5) == GiveUp("gone: the receiver answered 410")


def test_the_disable_header_disables_at_once() -> None:
    assert decide(Outcome(retry.HTTP_4XX, 400, disable=True), 1, 0, lambda: 0.5) == GiveUp(
        "disabled by the receiver: it answered webhook-delivery: disable"
    )


def test_a_blocked_url_gets_three_attempts_within_ten_minutes() -> None:
    blocked = Outcome(retry.SSRF_BLOCKED)
    longest = wait(blocked, 1, blocked=1, random=1.0) + wait(blocked, 2, blocked=2, random=1.0)

    assert longest < 10 * MINUTE
    assert decide(blocked, 3, 3, lambda: 0.5) == GiveUp("ssrf_blocked: its URL was refused 3 times")


def test_failures_before_do_not_count_as_blocked() -> None:
    assert wait(Outcome(retry.SSRF_BLOCKED), 6, blocked=1) == 60


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (200, "delivered"),
        (204, "delivered"),
        (299, "delivered"),
        (100, "bad_answer"),
        (103, "bad_answer"),
        (301, "http_3xx"),
        (302, "http_3xx"),
        (304, "http_3xx"),
        (400, "http_4xx"),
        (404, "http_4xx"),
        (410, "gone"),
        (429, "http_4xx"),
        (500, "http_5xx"),
        (599, "http_5xx"),
        (600, "bad_answer"),
        (999, "bad_answer"),
    ],
)
def test_success_is_200_to_299_and_nothing_else(status: int, name: str) -> None:
    assert outcome_of_status(status) == name


NOW = round(datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("Thu, 01 Jan 2026 12:02:00 GMT", 120.0),
        ("Thu, 01 Jan 2026 13:02:00 +0100", 120.0),
        ("Thursday, 01-Jan-26 12:02:00 GMT", 120.0),
        ("Thu Jan  1 12:02:00 2026", 120.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("99999999999999999999", 999_999_999.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("Thu, 99 Jan 2026 12:02:00 GMT", None),
        ("Thu, 01 Jan 99999 12:02:00 GMT", None),
    ],
)
def test_retry_after_is_read_in_both_forms(text: str | None, seconds: float | None) -> None:
    assert retry_after(text, NOW) == seconds
