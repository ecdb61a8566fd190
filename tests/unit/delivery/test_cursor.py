"""The delivery loop: order, failures, recovery (cases C1, C3, G18)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from builders.deliveries import URL, Road
from builders.records import KEY, a_header, a_ref, message_entry, run_entry, status_entry
from fakes.clock import START
from fakes.world import Post, answer
from herald.delivery import retry
from herald.ports import Answer, TransportFailure, Unavailable
from herald.protocol.states import TaskState
from herald.records import Doorbell, Webhook, WebhookState

BELL = Doorbell(a_ref(), "cfg-1", KEY)


def after(*acts: Callable[[], object]) -> Callable[[Post], Answer]:
    """A receiver that answers 200 after others have acted."""

    def reply(_: Post) -> Answer:
        for act in acts:
            act()
        return answer(200)

    return reply


def road_with(*entries: int, **fields: Any) -> Road:
    """A road whose task has status entries with these numbers, and one webhook."""
    road = Road()
    road.register(**fields)
    for number in entries:
        road.working(number)
    return road


def test_c1_entries_arrive_in_the_order_of_the_log() -> None:
    road = road_with(1, 2, 3)
    road.completed(4)

    road.run()

    assert road.numbers() == [1, 2, 3, 4]


def test_c1_what_is_stored_while_the_first_post_is_slow_comes_after_it() -> None:
    road = road_with(1)
    road.transport.script(URL, after(lambda: road.working(2), lambda: road.completed(3)))

    road.run()

    assert road.numbers() == [1, 2, 3]


def test_a_new_webhook_gets_the_snapshot_first_and_then_what_came_after_it() -> None:
    road = road_with(1, 2, 3, cursor=2, snapshot=2, snapshot_due=True)

    road.run()

    assert road.numbers() == [2, 3]
    assert list(road.posts()[0].event) == ["task"]
    assert road.posts()[0].event["task"]["status"]["message"]["parts"] == [{"text": "step 2"}]  # type: ignore[index]
    assert list(road.posts()[1].event) == ["statusUpdate"]
    assert not road.webhook().snapshot_due


def test_the_snapshot_is_equal_on_every_attempt_although_the_task_goes_on() -> None:
    road = road_with(1, snapshot_due=True)
    road.transport.script(URL, 500)
    road.run()
    road.working(2)
    road.wait(5)

    first, second = road.posts()[:2]
    assert first.body == second.body
    assert road.numbers() == [0, 0, 1, 2]


def test_a_snapshot_whose_entries_cannot_be_seen_is_our_own_fault() -> None:
    road = road_with(1, cursor=3, snapshot=3, snapshot_due=True)

    with pytest.raises(Unavailable):
        road.delivery.answer(BELL, lambda: 300)

    assert road.posts() == []


def test_messages_and_runs_are_stepped_over() -> None:
    road = Road()
    road.register()
    for entry in (run_entry(1), status_entry(2), message_entry(3), run_entry(4), status_entry(5), run_entry(6)):
        road.store(entry)

    road.run()

    assert road.numbers() == [2, 5]
    assert road.webhook().cursor == 5


def test_a_log_of_many_pages_is_delivered_whole() -> None:
    road = Road()
    road.register()
    for number in range(1, 121):
        road.store(run_entry(number)) if number % 3 else road.working(number)

    road.run()

    assert road.numbers() == list(range(3, 121, 3))


def test_the_cursor_and_the_counters_move_with_each_success() -> None:
    road = road_with(1, 2)
    road.transport.script(URL, after(lambda: road.clock.advance(2)))

    road.run()

    webhook = road.webhook()
    assert (webhook.cursor, webhook.delivered) == (2, 2)
    assert (webhook.first_success_at, webhook.last_success_at) == (START + 2_000, START + 2_000)
    assert webhook.state is WebhookState.ACTIVE
    assert webhook.due_at == START + 3_020_651  # this key's own time within the hour


def test_after_the_terminal_entry_nothing_is_due() -> None:
    road = road_with(1)
    road.completed(2)

    road.run()

    assert road.webhook().due_at is None


def test_a_failure_is_recorded_and_hides_the_doorbell() -> None:
    road = road_with(1)
    road.transport.script(URL, answer(500, b"oops"))

    road.run()

    webhook = road.webhook()
    assert (webhook.state, webhook.failures, webhook.attempt) == (WebhookState.FAILING, 1, 1)
    assert webhook.cursor == 0
    assert webhook.next_attempt_at == START + 5_000
    assert webhook.due_at == START + 65_000  # the net, should the hidden doorbell get lost
    assert road.doorbells.hidden == [("receipt-1", 5)]
    [attempt] = road.webhooks.attempts(webhook)
    assert (attempt.number, attempt.attempt, attempt.outcome, attempt.status, attempt.head) == (
        1,
        1,
        "http_5xx",
        500,
        "oops",
    )


def test_c3_a_receiver_that_fails_once_gets_everything_five_seconds_later() -> None:
    road = road_with(1)
    road.completed(2)
    road.transport.script(URL, 500)

    road.run()
    road.wait(4)
    assert road.numbers() == [1]
    road.wait(1)

    assert road.numbers() == [1, 1, 2]
    assert road.webhook().state is WebhookState.ACTIVE
    assert road.webhook().failures == 0


def test_every_attempt_at_an_entry_has_its_own_timestamp_and_the_same_id_and_body() -> None:
    road = road_with(1)
    road.transport.script(URL, 500, 500)

    road.run()
    road.wait(5)
    road.wait(30)

    posts = road.posts()
    assert [post.headers["webhook-timestamp"] for post in posts] == [str(START // 1000 + s) for s in (0, 5, 35)]
    assert {post.headers["webhook-id"] for post in posts} == {f"msg_{KEY}_000000000001"}
    assert len({post.body for post in posts}) == 1


def test_a_long_wait_is_left_to_the_due_index() -> None:
    road = road_with(1, state=WebhookState.FAILING, failures=4, attempt=4)
    road.transport.script(URL, 500)

    assert road.delivery.answer(BELL, lambda: 300) is None  # acknowledged

    assert road.webhook().next_attempt_at == START + 1_800_000
    assert road.webhook().due_at == START + 1_800_000


def test_a_wait_of_ten_minutes_still_hides_and_one_second_more_does_not() -> None:
    for asked, expected in (("600", 600), ("601", None)):
        road = road_with(1)
        road.transport.script(URL, answer(503, retry_after=asked))
        assert road.delivery.answer(BELL, lambda: 300) == expected


@pytest.mark.parametrize(("age", "hidden", "due_at"), [(1_195, 5, START + 65_000), (1_196, None, START + 5_000)])
def test_a_doorbell_is_never_hidden_beyond_twenty_minutes(age: int, hidden: int | None, due_at: int) -> None:
    road = road_with(1)
    road.transport.script(URL, 500)

    assert road.delivery.answer(BELL, lambda: 300, age=age) == hidden

    assert road.webhook().next_attempt_at == START + 5_000
    assert road.webhook().due_at == due_at  # without a hidden doorbell, sweep rings at once


def test_a_receiver_that_always_asks_for_ten_minutes_never_makes_the_queue_look_jammed() -> None:
    road = road_with(1)
    road.transport.script(URL, *[answer(503, retry_after="600")] * 12)
    oldest, attempts = 0, []
    while road.webhook().state is not WebhookState.DISABLED:
        before = len(road.posts())
        road.run()
        road.sweep()
        road.run()
        attempts += [road.clock.now() - START] * (len(road.posts()) - before)
        oldest = max([oldest, *(road.clock.now() - queued.rung_at for queued in road.doorbells.queue)])
        road.clock.advance(60)

    assert oldest <= 20 * 60_000  # the alarm looks at half an hour
    assert [at // 60_000 for at in attempts[:6]] == [0, 10, 20, 30, 40, 70]  # then the schedule's own half hour
    assert len(attempts) == 12


def test_c3_the_twelfth_failure_disables_with_its_reason_and_the_cursor_stands() -> None:
    road = road_with(1, state=WebhookState.FAILING, failures=11, attempt=11)
    road.transport.script(URL, 503)

    assert road.delivery.answer(BELL, lambda: 300) is None

    webhook = road.webhook()
    assert webhook.state is WebhookState.DISABLED
    assert webhook.reason == "exhausted: 12 attempts in a row failed, the last one with http_5xx"
    assert (webhook.cursor, webhook.due_at) == (0, None)
    assert road.watch.given_up == [("cfg-1", webhook.reason)]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (answer(410), "gone: the receiver answered 410"),
        (answer(503, webhook_delivery="disable"), "disabled by the receiver: it answered webhook-delivery: disable"),
    ],
)
def test_a_receiver_that_says_stop_is_not_called_again(reply: object, reason: str) -> None:
    road = road_with(1, 2)
    road.transport.script(URL, reply)  # type: ignore[arg-type]

    road.run()
    road.wait(3_600)

    assert road.numbers() == [1]
    assert (road.webhook().state, road.webhook().reason) == (WebhookState.DISABLED, reason)


def test_a_success_that_says_stop_counts_and_stops() -> None:
    road = road_with(1, 2)
    road.transport.script(URL, answer(200, webhook_delivery="disable"))

    road.run()

    assert road.numbers() == [1]
    assert (road.webhook().state, road.webhook().cursor) == (WebhookState.DISABLED, 1)
    assert road.watch.given_up


def test_a_blocked_url_is_given_up_after_three_attempts_within_ten_minutes() -> None:
    road = road_with(1)
    road.resolver.set("client.example", ["10.0.0.1"])

    road.run()
    road.wait(60)
    road.wait(300)

    assert road.watch.outcomes == [retry.SSRF_BLOCKED] * 3
    assert road.webhook().reason == "ssrf_blocked: its URL was refused 3 times"
    assert road.posts() == []


def test_other_failures_between_do_not_count_as_blocked() -> None:
    road = road_with(1)
    bad, good = ["10.0.0.1"], ["93.184.216.34"]
    road.resolver.set("client.example", bad, bad, good, bad)
    road.transport.script(URL, 500)

    road.run()
    for _ in range(3):
        road.wait(600)
        road.sweep()
        road.run()

    assert road.watch.outcomes == ["ssrf_blocked", "ssrf_blocked", "http_5xx", "ssrf_blocked"]
    assert road.webhook().state is WebhookState.FAILING


@pytest.mark.parametrize("state", [WebhookState.PAUSED, WebhookState.DISABLED])
def test_a_webhook_that_rests_is_not_called(state: WebhookState) -> None:
    road = road_with(1, state=state)

    assert road.delivery.answer(BELL, lambda: 300) is None
    assert road.posts() == []


def test_a_failing_webhook_is_not_called_before_its_time() -> None:
    road = road_with(1, state=WebhookState.FAILING, failures=1, next_attempt_at=START + 60_000)

    assert road.delivery.answer(BELL, lambda: 300) is None
    assert road.posts() == []


def test_a_doorbell_of_another_key_or_of_nobody_is_acknowledged() -> None:
    road = road_with(1)

    assert road.delivery.answer(replace(BELL, key="k" * 26), lambda: 300) is None
    assert road.delivery.answer(replace(BELL, config_id="cfg-9"), lambda: 300) is None
    assert road.posts() == []


def test_while_a_webhook_fails_no_doorbell_is_rung_and_its_recovery_sends_everything() -> None:
    road = road_with(1)
    road.transport.script(URL, 500)
    road.run()
    for number in (2, 3):
        road.working(number)
        road.run()
    assert len(road.doorbells.rings) == 1

    road.wait(5)

    assert road.numbers() == [1, 1, 2, 3]
    assert road.webhook().state is WebhookState.ACTIVE
    assert len(road.doorbells.rings) == 1


def test_an_entry_stored_right_before_a_failing_webhook_becomes_active_is_sent() -> None:
    road = road_with(1)
    road.transport.script(URL, 500)
    road.run()
    road.clock.advance(5)

    def store_and_ring() -> None:
        road.working(2)
        road.ring()  # finds the webhook still failing, so nobody but the sender itself can notice the entry

    road.webhooks.before_next("update", lambda: None)  # of entry 1
    road.webhooks.before_next("update", store_and_ring)  # of "active"

    road.answer()

    assert road.numbers() == [1, 1, 2]
    assert road.webhook().state is WebhookState.ACTIVE


def test_a_failing_webhook_that_ends_the_task_becomes_active_at_once() -> None:
    road = road_with(1)
    road.completed(2)
    road.transport.script(URL, 500)
    road.run()

    road.wait(5)

    assert (road.webhook().state, road.webhook().due_at) == (WebhookState.ACTIVE, None)


def test_a_receiver_that_fails_again_amid_its_recovery_waits_from_the_start_of_the_schedule() -> None:
    road = road_with(1, 2)
    road.transport.script(URL, 500, 500, 200, 500)
    road.run()
    road.wait(5)
    road.wait(30)

    webhook = road.webhook()
    assert road.numbers() == [1, 1, 1, 2]
    assert (webhook.cursor, webhook.failures, webhook.attempt) == (1, 1, 1)
    assert webhook.next_attempt_at == road.clock.now() + 5_000


def test_with_too_little_time_left_a_fresh_doorbell_takes_over() -> None:
    road = road_with(1, 2)
    left = iter([300.0, 29.0])

    assert road.delivery.answer(BELL, lambda: next(left)) is None

    assert road.numbers() == [1]
    [ring] = road.doorbells.rings
    assert ring.doorbell == BELL
    assert ring.dedup not in {f"{KEY}-1", f"{KEY}-2"}
    road.run()
    assert road.numbers() == [1, 2]


def test_g18_a_doubled_doorbell_sends_nothing_twice() -> None:
    road = road_with(1, 2)
    road.doorbells.double_next()

    road.run()

    assert road.numbers() == [1, 2]


def test_g18_a_doorbell_names_key_and_number_so_that_two_events_never_share_one() -> None:
    road = road_with(1)
    road.run()
    road.working(2)
    road.run()

    assert [ring.dedup for ring in road.doorbells.rings] == [f"{KEY}-1", f"{KEY}-2"]
    assert road.numbers() == [1, 2]


def test_g18_a_doorbell_redriven_after_six_minutes_sends_nothing_twice() -> None:
    road = road_with(1)
    road.run()
    road.clock.advance(360)
    road.doorbells.ring([road.doorbells.rings[0]])

    road.run()

    assert road.numbers() == [1]


def test_a_deleted_webhook_is_not_made_again_by_a_sender() -> None:
    road = road_with(1, 2)
    road.transport.script(URL, after(lambda: road.webhooks.delete(a_ref(), "cfg-1")))

    road.run()

    assert road.numbers() == [1]
    assert road.webhooks.get(a_ref(), "cfg-1") is None


def test_a_replaced_webhook_is_not_moved_by_the_sender_of_the_old_one() -> None:
    road = road_with(1)
    fresh = replace(road.webhook(), key="n" * 26, snapshot_due=True, cursor=1, snapshot=1)
    road.transport.script(URL, after(lambda: road.webhooks.put(fresh)))

    assert road.delivery.answer(BELL, lambda: 300) is None

    assert road.webhook() == fresh


def test_a_webhook_paused_under_way_keeps_its_cursor_or_moves_it_but_is_not_called_again() -> None:
    road = road_with(1, 2)

    def pause() -> None:
        road.webhooks.update(road.webhook(), replace(road.webhook(), state=WebhookState.PAUSED))

    road.transport.script(URL, after(pause))

    road.run()

    assert road.numbers() == [1]
    assert (road.webhook().state, road.webhook().cursor) == (WebhookState.PAUSED, 1)


def test_a_lost_answer_to_the_cursors_move_repeats_nothing() -> None:
    road = road_with(1, 2)
    road.webhooks.lose_answer_next("update")

    road.run()

    assert road.numbers() == [1, 2]


def test_a_webhook_that_can_never_be_updated_is_not_hammered() -> None:
    road = road_with(1)

    class Refusing:
        def update(self, before: Webhook, after: Webhook) -> bool:
            return False

        def __getattr__(self, name: str) -> object:
            return getattr(road.webhooks, name)

    with pytest.raises(Unavailable):
        replace(road.delivery, webhooks=Refusing()).answer(BELL, lambda: 300)  # type: ignore[arg-type]

    assert road.numbers() == [1]


def test_a_cursor_that_was_set_back_is_followed() -> None:
    road = road_with(1, 2, 3)

    def set_back() -> None:
        road.webhooks.put(replace(road.webhook(), cursor=0))

    road.webhooks.after_next("update", lambda: None)
    road.webhooks.after_next("update", set_back)

    road.run()

    assert road.numbers() == [1, 2, 1, 2, 3]


def test_an_hourly_look_at_an_idle_webhook_moves_it_to_the_next_one() -> None:
    road = road_with(cursor=0, due_at=START)
    road.store(message_entry(0), header=a_header())

    assert road.delivery.answer(BELL, lambda: 300) is None

    assert road.webhook().due_at == START + 3_020_651


def test_a_late_look_at_a_webhook_whose_task_has_ended_puts_it_to_rest() -> None:
    road = road_with(cursor=1, due_at=START)
    ended = a_header(state=TaskState.COMPLETED, status_number=1)
    road.store(status_entry(1, TaskState.COMPLETED), header=ended)

    assert road.delivery.answer(BELL, lambda: 300) is None

    assert road.webhook().due_at is None


def test_our_own_fault_counts_against_nobody() -> None:
    road = road_with(1)
    road.signer.fail_next("sign", Unavailable("GetSecretValue"))

    with pytest.raises(Unavailable):
        road.delivery.answer(BELL, lambda: 300)

    assert road.webhook() == replace(road.webhook(), failures=0, attempt=0, state=WebhookState.ACTIVE)
    assert road.webhooks.attempts(road.webhook()) == []


def test_one_delivery_of_one_entry_costs_one_read_of_the_log_one_get_and_one_update() -> None:
    road = road_with(1)

    road.run()

    assert dict(road.webhooks.calls) == {"put": 1, "list": 1, "get": 1, "update": 1}
    assert dict(road.log.calls) == {"read": 1}


def test_the_watch_hears_of_each_attempt() -> None:
    road = road_with(1)
    road.transport.script(URL, TransportFailure("read_timeout", 15_000))

    road.run()
    road.wait(60)

    assert [(number, outcome.name) for _, number, outcome in road.watch.attempts] == [
        (1, "read_timeout"),
        (1, "delivered"),
    ]


def test_bodies_are_the_stored_texts() -> None:
    road = road_with(1)
    road.artifact(2)

    road.run()

    assert [post.body.decode() for post in road.posts()] == [entry.body for entry in road.world.entries(a_ref())[1:]]
    assert json.loads(road.posts()[1].body)["artifactUpdate"]["append"] is True
