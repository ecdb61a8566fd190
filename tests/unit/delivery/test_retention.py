"""A task outlives the schedule of what it has to deliver, however late that was written."""

from __future__ import annotations

from itertools import pairwise

import pytest

from builders.api import HOOK, ApiBench
from builders.deliveries import URL, Road
from builders.records import a_ref, status_entry
from fakes.clock import START
from fakes.world import answer
from herald.operations.call import Limits
from herald.protocol.states import TaskState
from herald.records import WebhookState
from herald.settings import ApiSettings, SettingsError

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def test_a_task_is_ended_seven_days_before_it_expires_at_the_least() -> None:
    api = ApiBench(limits=Limits(max_task_days=1, retention_days=7))
    task = api.send(config={"taskPushNotificationConfig": {"id": "cfg", "url": HOOK}})
    header = api.header(api.ref(task["id"]))

    assert header.end_by == START + DAY
    assert header.expires_second * 1000 == START + 8 * DAY
    assert [webhook.expires_second for webhook in api.webhooks.list(header.ref)] == [header.expires_second]


def test_no_deployment_retains_for_less() -> None:
    with pytest.raises(SettingsError, match=r"HERALD_RETENTION_DAYS is '6'; it should hold days .* \(7 or more\)"):
        ApiSettings.read({"HERALD_RETENTION_DAYS": "6"})


def attempts_until_given_up(road: Road, step: int) -> list[int]:
    """Let time pass, sweeping, until the webhook is disabled; the times of its attempts, ms since START."""
    times: list[int] = []
    while road.webhook().state is not WebhookState.DISABLED:
        before = len(road.posts())
        road.sweep()
        road.run()
        times += [road.clock.now() - START] * (len(road.posts()) - before)
        road.clock.advance(step)
    return times


def a_road_whose_task_ended_at_the_very_last() -> Road:
    """A task that was ended an hour after its maximum age of a day, and expires at 8 days."""
    road = Road()
    road.register(expires_second=START // 1000 + 8 * 86_400)
    road.clock.advance(25 * 3_600)
    road.store(status_entry(1, TaskState.FAILED, at=road.clock.now()))
    return road


def test_the_last_entry_of_a_task_has_the_whole_schedule() -> None:
    road = a_road_whose_task_ended_at_the_very_last()
    road.transport.script(URL, *[500] * 12)

    times = attempts_until_given_up(road, step=5)

    assert len(times) == 12
    first, last = times[0], times[-1]
    assert first == 25 * HOUR
    # 47 h 42 min 35 s, and up to 5 s more for each look of this test.
    assert last - first == pytest.approx(47 * HOUR + 42 * MINUTE + 35_000, abs=MINUTE)


def test_and_the_longest_one_that_a_receiver_can_make_of_it_with_days_to_spare() -> None:
    road = a_road_whose_task_ended_at_the_very_last()
    road.random = lambda: 1.0
    road.transport.script(URL, *[answer(503, retry_after="86400")] * 12)

    times = attempts_until_given_up(road, step=60)

    assert len(times) == 12
    waits = [round((after - before) / HOUR) for before, after in pairwise(times)]
    assert waits == [6] * 7 + [12] * 4
    assert times[-1] < 5 * DAY  # of the 8 until it expires


def test_after_that_a_resume_or_a_replay_has_the_whole_schedule_once_more() -> None:
    road = a_road_whose_task_ended_at_the_very_last()
    road.random = lambda: 1.0
    road.transport.script(URL, *[answer(503, retry_after="86400")] * 12)
    attempts_until_given_up(road, step=60)

    assert not road.control.replay(road.webhook(), 1).expires_early
    assert not road.control.resume(road.webhook()).expires_early
    road.transport.script(URL, *[500] * 12)
    assert len(attempts_until_given_up(road, step=60)) == 12
    assert road.webhooks.get(a_ref(), "cfg-1") is not None


def test_what_is_resumed_in_its_last_hours_is_sent_as_long_as_the_task_is_there_and_the_operator_is_told() -> None:
    road = a_road_whose_task_ended_at_the_very_last()
    road.transport.script(URL, answer(410))
    road.run()
    road.clock.advance(START / 1000 + 8 * 86_400 - 3_600 - road.clock.now() / 1000)  # an hour is left

    assert road.control.resume(road.webhook()).expires_early
    road.transport.script(URL, *[500] * 12)
    while road.webhooks.get(a_ref(), "cfg-1") is not None:
        road.run()
        road.sweep()
        road.clock.advance(60)
    road.run()

    assert len(road.posts()) == 1 + 6  # at 0, 0:05, 0:35, 2:35, 12:35 and 42:35 of that hour
    assert road.doorbells.queue == []
