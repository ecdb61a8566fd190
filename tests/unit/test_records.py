"""What the records themselves know."""

from __future__ import annotations

import pytest

from herald.records import next_look

HOUR = 3_600_000
NOON = 1_767_268_800_000  # 2026-01-01T12:00:00Z


def test_a_webhook_is_looked_at_once_an_hour_at_its_own_time() -> None:
    first = next_look(NOON, "kaaaaaaaaaaaaaaaaaaaaaaaaa")

    assert first == NOON + 3_020_651
    assert next_look(first - 1, "kaaaaaaaaaaaaaaaaaaaaaaaaa") == first
    assert next_look(first, "kaaaaaaaaaaaaaaaaaaaaaaaaa") == first + HOUR


def test_webhooks_spread_over_the_hour() -> None:
    looks = [next_look(NOON, f"k{number}") for number in range(600)]

    assert all(NOON < look <= NOON + HOUR for look in looks)
    fullest = max(
        sum(NOON + minute * 60_000 < look <= NOON + (minute + 1) * 60_000 for look in looks) for minute in range(60)
    )
    assert fullest < 30  # 10 in each minute on average


@pytest.mark.parametrize("now", [0, 1, HOUR - 1, HOUR, NOON])
def test_the_next_look_is_always_ahead_and_never_more_than_an_hour(now: int) -> None:
    assert 0 < next_look(now, "k") - now <= HOUR
