"""The soak's settings, its seeded choice of who fails, and what a run of dead receivers is compared by."""

from __future__ import annotations

from collections import Counter

import pytest
from bench.soak import __main__ as soak
from bench.soak import dead
from bench.soak.receivers import FAULTS, failing


def test_the_settings_are_the_issues_own_unless_said_otherwise() -> None:
    made = soak.settings_from({})

    assert (made.minutes, made.rate, made.webhooks, made.updates, made.fail) == (15, 200, 2, 5, 10)
    assert made.tasks == 3_000
    assert soak.settings_from({"MINUTES": "0.5", "RATE": "20"}).tasks == 10


@pytest.mark.parametrize("environment", [{"RATE": "fast"}, {"RATE": "0"}, {"WEBHOOKS": "11"}, {"FAIL": "-1"}])
def test_a_setting_that_wont_do_is_refused(environment: dict[str, str]) -> None:
    with pytest.raises(SystemExit):
        soak.settings_from(environment)


def test_one_in_ten_first_arrivals_fails_in_all_four_ways_and_half_as_many_repeats() -> None:
    choose = failing(seed=1, share=0.1)

    first = Counter(choose(f"/soak/{number}/0", 3, 0) for number in range(20_000))
    again = Counter(choose(f"/soak/{number}/0", 3, 1) for number in range(20_000))

    assert 1_800 < sum(first[fault] for fault in FAULTS) < 2_200
    assert 850 < sum(again[fault] for fault in FAULTS) < 1_150
    assert all(400 < first[fault] < 600 for fault in FAULTS)


def test_the_same_seed_chooses_the_same_and_another_one_others() -> None:
    def chosen(seed: int) -> list[str]:
        return [failing(seed, 0.1)(f"/soak/{number}/1", 2, 0) for number in range(100)]

    assert chosen(1) == chosen(1)
    assert chosen(1) != chosen(2)


def test_fifty_of_a_thousand_webhooks_are_dead_half_of_them_in_each_way() -> None:
    settings = dead.settings_from({})

    fates = Counter(
        dead.fate(settings, f"/with/{task}/{webhook}")
        for task in range(settings.tasks)
        for webhook in range(settings.webhooks)
    )

    assert fates == {"ok": 950, "refuses": 25, "hangs": 25}
    assert dead.fate(settings, "/without/0/1") == "ok"


def test_healthy_webhooks_that_waited_for_a_dead_one_fail() -> None:
    [fault] = dead.compared([0.1] * 100, [0.1] * 90 + [15.0] * 10)

    assert fault.kind == "delayed"
    assert dead.compared([0.1] * 100, [0.2] * 100) == []
    assert dead.compared([4.0] * 100, [6.0] * 100) == []
