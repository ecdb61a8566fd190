"""What an operator does to a webhook, beside a sender in flight: pause, resume, replay, skip."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from builders.deliveries import URL, Road
from builders.records import DAY, KEY, a_header, a_ref
from fakes.clock import START
from fakes.world import Post, answer
from herald.delivery.control import Gone, Refused
from herald.ports import Answer, Unavailable
from herald.protocol.states import TaskState
from herald.records import Webhook, WebhookState

HOUR = 3_600_000


def road_with(*numbers: int, **webhook: Any) -> Road:
    """A road whose task has status entries with these numbers, and one webhook."""
    road = Road()
    road.register(**webhook)
    for number in numbers:
        road.working(number)
    return road


def meanwhile(act: Callable[[], object], status: int = 200) -> Callable[[Post], Answer]:
    """A receiver during whose answer somebody acts."""

    def reply(_: Post) -> Answer:
        act()
        return answer(status)

    return reply


def ids(road: Road) -> list[str]:
    return [post.headers["webhook-id"].removeprefix(f"msg_{KEY}_") for post in road.posts()]


# --------------------------------------------------------------------------------------------------- pause, resume ----


def test_entries_wait_while_a_webhook_is_paused_and_come_in_order_when_it_is_resumed() -> None:
    road = road_with(1)
    road.run()

    paused = road.control.pause(road.webhook())
    road.working(2)
    road.completed(3)
    road.wait(3_600)

    assert road.numbers() == [1]
    assert (paused.after.state, paused.after.reason) == (WebhookState.PAUSED, "paused by the operator")
    assert (paused.after.due_at, paused.rung) == (None, False)

    resumed = road.control.resume(road.webhook())
    road.run()

    assert road.numbers() == [1, 2, 3]
    assert (resumed.after.state, resumed.rung, resumed.hidden_until) == (WebhookState.ACTIVE, True, 0)
    assert road.webhook().state is WebhookState.ACTIVE
    assert road.announcer.news == []  # the operator knows


def test_a_snapshot_that_waits_is_not_said_to_be_repeated() -> None:
    road = road_with(snapshot_due=True)
    assert not road.control.pause(road.webhook()).repeats_snapshot
    assert not road.control.resume(road.webhook()).repeats_snapshot


def test_pausing_twice_and_resuming_twice_change_nothing_more() -> None:
    road = road_with()
    assert road.control.pause(road.webhook()).before.state is WebhookState.ACTIVE
    again = road.control.pause(road.webhook())
    assert again.before == again.after

    road.control.resume(road.webhook())
    once_more = road.control.resume(road.webhook())
    assert once_more.before == once_more.after
    assert once_more.rung  # a second bell is harmless, and the first may have got lost


def test_pausing_while_an_attempt_is_under_way_lets_that_one_arrive_and_no_other() -> None:
    road = road_with(1, 2)
    road.transport.script(URL, meanwhile(lambda: road.control.pause(road.webhook())))

    road.run()

    assert road.numbers() == [1]
    assert (road.webhook().state, road.webhook().cursor) == (WebhookState.PAUSED, 1)

    road.control.resume(road.webhook())
    road.run()
    assert road.numbers() == [1, 2]


@pytest.mark.parametrize("state", [WebhookState.ACTIVE, WebhookState.FAILING])
def test_the_last_entry_delivered_while_it_is_paused_does_not_come_again(state: WebhookState) -> None:
    road = road_with(state=state)
    road.completed(1)
    road.transport.script(URL, meanwhile(lambda: road.control.pause(road.webhook())))
    road.ring() if state is WebhookState.ACTIVE else road.control.resume(road.webhook())

    road.run()
    assert (road.webhook().state, road.webhook().cursor) == (WebhookState.PAUSED, 1)
    road.control.resume(road.webhook())
    road.run()

    assert road.numbers() == [1]
    assert road.webhook().state is WebhookState.ACTIVE


def test_a_failure_of_an_attempt_under_way_leaves_the_pause_as_it_is() -> None:
    road = road_with(1)
    road.transport.script(URL, meanwhile(lambda: road.control.pause(road.webhook()), 500))

    road.run()
    road.wait(3_600)

    assert (road.webhook().state, road.webhook().failures) == (WebhookState.PAUSED, 0)
    assert road.numbers() == [1]
    assert road.announcer.news == []


def test_the_twelfth_failure_under_way_does_not_disable_what_was_paused_meanwhile() -> None:
    road = road_with(1, state=WebhookState.FAILING, failures=11, attempt=11)
    road.transport.script(URL, meanwhile(lambda: road.control.pause(road.webhook()), 500))

    assert road.delivery.answer(road.webhook().doorbell, lambda: 300) is None

    assert (road.webhook().state, road.announcer.news) == (WebhookState.PAUSED, [])


def test_nor_what_was_paused_and_resumed_meanwhile() -> None:
    road = road_with(1, state=WebhookState.FAILING, failures=11, attempt=11)

    def pause_and_resume() -> None:
        road.control.pause(road.webhook())
        road.control.resume(road.webhook())

    road.transport.script(URL, meanwhile(pause_and_resume, 500))

    assert road.delivery.answer(road.webhook().doorbell, lambda: 300) is None

    assert road.numbers() == [1, 1]  # the whole schedule is ahead, and begins at once
    assert road.webhook().state is WebhookState.ACTIVE


def test_a_pause_while_the_doorbell_hides_and_a_resume_before_it_is_back() -> None:
    road = road_with(1, failures=0)
    road.transport.script(URL, answer(503, retry_after="300"), 500)
    road.run()

    road.control.pause(road.webhook())
    road.clock.advance(60)
    resumed = road.control.resume(road.webhook())
    road.run()

    assert road.numbers() == [1]  # the hidden doorbell holds its group
    assert resumed.hidden_until == START + 300_000  # and the operator is told until when
    assert (resumed.after.state, resumed.after.failures) == (WebhookState.FAILING, 0)
    road.wait(240)
    assert road.numbers() == [1, 1]
    assert road.webhook().failures == 1
    road.wait(5)
    assert road.numbers() == [1, 1, 1]
    assert road.webhook().state is WebhookState.ACTIVE
    assert road.announcer.news == [
        ("webhook.failing", "cfg-1", "http_5xx"),
        ("webhook.recovered", "cfg-1", "delivered"),
    ]


def test_a_pause_outlasts_the_hidden_doorbell() -> None:
    road = road_with(1)
    road.transport.script(URL, 500)
    road.run()
    road.control.pause(road.webhook())

    road.wait(5)

    assert road.numbers() == [1]
    assert road.doorbells.queue == []
    assert road.control.resume(road.webhook()).after.state is WebhookState.FAILING
    road.run()
    assert road.numbers() == [1, 1]


def test_a_paused_webhook_is_not_woken_by_what_is_due() -> None:
    road = road_with(1, due_at=START + HOUR)
    road.control.pause(road.webhook())

    road.settle(5)

    assert road.posts() == []


def test_a_disabled_webhook_is_resumed_with_the_whole_schedule_and_recovers_when_all_is_delivered() -> None:
    road = road_with(1, 2, 3)
    road.transport.script(URL, answer(410), 500, 200, 200)
    road.run()
    assert road.webhook().state is WebhookState.DISABLED
    road.clock.advance(60 * 60)

    resumed = road.control.resume(road.webhook())

    assert (resumed.after.state, resumed.after.reason) == (WebhookState.FAILING, "")
    assert resumed.after.failures == 0
    road.run()
    assert road.webhook().failures == 1
    road.wait(5)
    assert road.numbers() == [1, 1, 1, 2, 3]
    assert road.webhook().state is WebhookState.ACTIVE
    assert road.announcer.news == [
        ("webhook.disabled", "cfg-1", "gone"),
        ("webhook.recovered", "cfg-1", "delivered"),
    ]


def test_resuming_a_failing_webhook_tries_it_now() -> None:
    road = road_with(1)
    road.transport.script(URL, answer(500, retry_after="20000"))
    road.run()
    assert road.webhook().next_attempt_at == START + 20_000_000

    road.control.resume(road.webhook())
    road.run()

    assert road.numbers() == [1, 1]
    assert road.webhook().state is WebhookState.ACTIVE


@pytest.mark.parametrize("state", [WebhookState.PAUSED, WebhookState.DISABLED])
def test_a_lost_doorbell_of_a_resume_is_made_up_for_within_minutes(state: WebhookState) -> None:
    road = road_with(1, state=state)
    road.ring()
    road.doorbells.lose_next()
    road.control.resume(road.webhook())
    road.run()
    assert road.numbers() == []

    road.clock.advance(60)
    road.sweep()
    road.run()

    assert road.numbers() == [1]


def test_a_resume_whose_doorbell_cannot_be_rung_is_stored_and_may_be_repeated() -> None:
    road = road_with(1, state=WebhookState.PAUSED)
    road.doorbells.fail_next("ring", Unavailable("throttled"))

    with pytest.raises(Unavailable):
        road.control.resume(road.webhook())
    assert road.webhook().state is WebhookState.ACTIVE
    assert road.control.resume(road.webhook()).rung
    road.run()
    assert road.numbers() == [1]


# ---------------------------------------------------------------------------------------------------------- replay ----


def test_a_replay_repeats_ids_and_bytes_in_order_and_goes_on() -> None:
    road = road_with(1, 2, 3)
    road.run()
    road.clock.advance(60)

    replayed = road.control.replay(road.webhook(), 2)
    road.working(4)
    road.run()

    assert road.numbers() == [1, 2, 3, 2, 3, 4]
    first, again = road.posts()[1], road.posts()[3]
    assert (first.headers["webhook-id"], first.body) == (again.headers["webhook-id"], again.body)
    assert first.headers["webhook-timestamp"] != again.headers["webhook-timestamp"]
    assert (replayed.repeats, replayed.repeats_snapshot) == (range(2, 4), False)
    assert replayed.passed_over == range(4, 2)  # nothing


def test_a_replay_from_before_its_beginning_begins_with_its_first_notification() -> None:
    road = road_with(1, 2, 3, 4, cursor=2, snapshot=2, snapshot_due=True)
    road.run()
    assert ids(road) == ["000000000002", "000000000003", "000000000004"]

    replayed = road.control.replay(road.webhook(), 0)
    road.run()

    assert ids(road) == ["000000000002", "000000000003", "000000000004"] * 2
    assert road.posts()[0].body == road.posts()[3].body
    assert (replayed.repeats, replayed.repeats_snapshot) == (range(3, 5), True)


def test_a_replay_after_the_task_has_ended_whose_doorbell_gets_lost() -> None:
    road = road_with(1)
    road.completed(2)
    road.run()
    assert road.webhook().due_at is None

    road.doorbells.lose_next()
    road.control.replay(road.webhook(), 1)
    road.run()
    assert road.numbers() == [1, 2]
    road.clock.advance(60)
    road.sweep()
    road.run()

    assert road.numbers() == [1, 2, 1, 2]
    assert road.webhook().due_at is None


@pytest.mark.parametrize("number", [4, 9])
def test_a_replay_passes_over_nothing(number: int) -> None:
    road = road_with(1, 2, 3, cursor=2)

    with pytest.raises(Refused, match=f"number {number} lies ahead: the webhook has dealt with 2"):
        road.control.replay(road.webhook(), number)

    assert road.webhook().cursor == 2


def test_a_replay_from_what_comes_next_only_rings() -> None:
    road = road_with(1, 2, 3, cursor=2)

    change = road.control.replay(road.webhook(), 3)
    road.run()

    assert change.before == change.after
    assert road.numbers() == [3]


def test_a_replay_while_its_sender_is_in_flight() -> None:
    road = road_with(1, 2, 3)
    road.transport.script(URL, 200, 200, meanwhile(lambda: road.control.replay(road.webhook(), 1)))

    road.run()

    assert road.numbers() == [1, 2, 3, 1, 2, 3]
    assert road.webhook().cursor == 3


def test_a_replay_that_a_sender_overtakes_is_made_all_the_same() -> None:
    road = road_with(1)
    road.run()
    road.working(2)
    road.working(3)
    road.ring()
    seen = road.webhook()
    road.webhooks.before_next("update", lambda: road.answer())

    change = road.control.replay(seen, 1)
    road.run()

    assert change.before.cursor == 3  # read again
    assert road.numbers() == [1, 2, 3, 1, 2, 3]


def test_a_replay_leaves_a_pause_and_a_failing_webhooks_schedule_alone() -> None:
    road = road_with(1, 2, 3, cursor=3, state=WebhookState.PAUSED, reason="paused by the operator")
    change = road.control.replay(road.webhook(), 2)
    assert (change.rung, road.webhook().state, road.webhook().cursor) == (False, WebhookState.PAUSED, 1)
    road.wait(60)
    assert road.posts() == []
    road.control.resume(road.webhook())
    road.run()
    assert road.numbers() == [2, 3]

    late = road_with(1, 2, 3, cursor=2)
    late.transport.script(URL, 500)
    late.run()
    late.control.replay(late.webhook(), 1)
    late.run()
    assert late.numbers() == [3]
    late.wait(5)
    assert late.numbers() == [3, 1, 2, 3]


def test_attempts_of_a_replayed_entry_are_counted_anew() -> None:
    road = road_with(1, 2, cursor=1)
    road.transport.script(URL, 500, 500)
    road.run()
    road.wait(5)
    road.control.replay(road.webhook(), 1)
    assert (road.webhook().attempt, road.webhook().failures) == (0, 2)


# ------------------------------------------------------------------------------------------------------------ skip ----


def task_of(post: Post) -> dict[str, Any]:
    task: dict[str, Any] = json.loads(post.body)["task"]
    return task


def test_a_skip_sends_the_task_as_it_is_now_and_what_comes_after() -> None:
    road = road_with(1, 2, 3)
    road.transport.script(URL, answer(410))
    road.run()

    skipped = road.control.skip(road.webhook())
    assert not skipped.rung  # it is disabled still
    road.control.resume(road.webhook())
    road.run()
    road.working(4)
    road.run()

    assert road.numbers() == [1, 3, 4]
    assert task_of(road.posts()[1])["status"]["message"]["parts"] == [{"text": "step 3"}]
    assert (skipped.passed_over, skipped.repeats) == (range(1, 4), range(4, 1))
    assert not skipped.repeats_snapshot


def test_a_skips_snapshot_has_an_id_that_no_receiver_has_seen() -> None:
    road = road_with(1)
    road.run()
    for _ in range(2):
        road.control.skip(road.webhook())
        road.run()

    assert road.numbers() == [1, 1, 1]
    assert len(set(ids(road))) == 3
    assert all(len(post.headers["webhook-id"]) == 4 + 26 + 1 + 8 + 1 + 12 for post in road.posts()[1:])


def test_a_skips_snapshot_keeps_its_id_and_bytes_on_every_attempt() -> None:
    road = road_with(1)
    road.run()
    road.transport.script(URL, 500)
    road.control.skip(road.webhook())
    road.run()
    road.working(2)
    road.wait(5)

    _, first, second, after = road.posts()
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
    assert json.loads(after.body)["statusUpdate"]


def test_what_was_skipped_may_still_be_replayed() -> None:
    road = road_with(1, 2, 3, 4, cursor=1, snapshot=1, snapshot_due=True)
    road.run()
    road.control.replay(road.webhook(), 3)
    road.control.skip(road.webhook())
    road.run()
    assert (road.webhook().beginning, road.webhook().snapshot) == (1, 4)

    road.control.replay(road.webhook(), 2)
    road.run()
    assert road.numbers() == [1, 2, 3, 4, 4, 2, 3, 4]
    road.control.replay(road.webhook(), 1)
    road.run()

    assert road.numbers()[-4:] == [1, 2, 3, 4]
    assert road.posts()[0].headers["webhook-id"] == road.posts()[-4].headers["webhook-id"]
    assert road.posts()[0].body == road.posts()[-4].body


def test_a_skip_may_be_undone_while_its_snapshot_waits() -> None:
    road = road_with(1, 2, 3, state=WebhookState.PAUSED)
    road.control.skip(road.webhook())
    road.control.replay(road.webhook(), 1)
    road.control.resume(road.webhook())
    road.run()

    assert ids(road) == ["000000000001", "000000000002", "000000000003"]


def test_a_skip_while_its_sender_is_in_flight() -> None:
    road = road_with(1, 2, 3)
    road.transport.script(URL, meanwhile(lambda: road.control.skip(road.webhook())))

    road.run()

    assert road.numbers() == [1, 3]
    assert list(road.posts()[1].event) == ["task"]
    assert road.webhook().cursor == 3


def test_a_skip_past_the_end_of_the_task_leaves_nothing_due() -> None:
    road = road_with(1)
    road.completed(2)
    road.world.write(
        a_ref(), "TASK", a_header(state=TaskState.COMPLETED, status_number=2, end=2), START // 1000 + 60 * DAY
    )
    road.control.skip(road.webhook())
    road.run()

    assert road.numbers() == [2]
    assert (road.webhook().due_at, road.webhook().state) == (None, WebhookState.ACTIVE)


# ----------------------------------------------------------------------------------------- each of them, all alike ----

COMMANDS: dict[str, Callable[[Road, Webhook], object]] = {
    "pause": lambda road, seen: road.control.pause(seen),
    "resume": lambda road, seen: road.control.resume(seen),
    "replay": lambda road, seen: road.control.replay(seen, 1),
    "skip": lambda road, seen: road.control.skip(seen),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_webhook_that_was_replaced_or_deleted_is_left_alone(command: Callable[[Road, Webhook], object]) -> None:
    road = road_with(1)
    seen = road.webhook()
    fresh = replace(seen, key="n" * 26)
    road.webhooks.put(fresh)
    with pytest.raises(Gone, match="cfg-1 was deleted or replaced"):
        command(road, seen)
    assert road.webhook() == fresh

    road.webhooks.delete(a_ref(), "cfg-1")
    with pytest.raises(Gone):
        command(road, seen)
    assert road.webhooks.get(a_ref(), "cfg-1") is None
    assert road.doorbells.rings == []


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_webhook_that_is_replaced_at_that_very_moment_is_left_alone(
    command: Callable[[Road, Webhook], object],
) -> None:
    road = road_with(1, 2, cursor=2, state=WebhookState.FAILING)
    fresh = replace(road.webhook(), key="n" * 26)
    road.webhooks.before_next("update", lambda: road.webhooks.put(fresh))

    with pytest.raises(Gone):
        command(road, road.webhook())

    assert road.webhook() == fresh


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_lost_answer_is_told_as_what_it_was(command: Callable[[Road, Webhook], object]) -> None:
    road = road_with(1, 2, cursor=2, state=WebhookState.FAILING)
    seen = road.webhook()
    road.webhooks.lose_answer_next("update")

    change: Any = command(road, seen)

    assert change.before == seen
    assert change.after == road.webhook() != seen
    assert road.webhooks.calls["update"] == 1


def test_a_webhook_that_never_holds_still_is_given_up() -> None:
    road = road_with(1)

    class Refusing:
        def update(self, before: Webhook, after: Webhook) -> bool:
            return False

        def __getattr__(self, name: str) -> object:
            return getattr(road.webhooks, name)

    with pytest.raises(Unavailable, match="being changed too often"):
        replace(road.control, webhooks=Refusing()).pause(road.webhook())  # type: ignore[arg-type]


def test_a_skip_of_a_task_that_has_expired() -> None:
    road = road_with(1)
    seen = road.webhook()
    road.clock.advance(60 * DAY)

    with pytest.raises(Gone, match="the task has expired"):
        road.control.skip(seen)


@pytest.mark.parametrize(("days", "early"), [(57.6, False), (57.7, True)])
def test_a_resume_shortly_before_the_task_expires_says_so(days: float, early: bool) -> None:
    road = road_with(1, state=WebhookState.PAUSED)
    road.clock.advance(days * DAY)

    assert road.control.resume(road.webhook()).expires_early is early
