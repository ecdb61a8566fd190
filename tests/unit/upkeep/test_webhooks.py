"""Which webhooks sweep rings for, and when they are due again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from builders.turns import Bench
from fakes.clock import START
from fakes.store import FakeWebhooks
from fakes.world import FakeDoorbells
from herald.agent import Agent, TaskContext
from herald.ports import Unavailable
from herald.records import Doorbell, Webhook, WebhookState
from herald.upkeep.webhooks import DueWebhooks

MINUTE = 60_000
HOUR = 3_600_000
KEY = "k" * 26


class Idle(Agent):
    def run(self, task: TaskContext) -> None:
        task.complete()


class Scene:
    def __init__(self, **webhook: Any) -> None:
        self.bench = Bench(Idle())
        self.bench.send()
        self.webhooks = FakeWebhooks(self.bench.world)
        self.doorbells = FakeDoorbells(self.bench.clock)
        given: dict[str, Any] = {"state": WebhookState.ACTIVE, "due_at": START} | webhook
        expires = self.bench.header.expires_second
        hook = Webhook(self.bench.ref, "hook", KEY, "https://example.com", "", 0, 0, False, START, expires)
        self.webhooks.put(replace(hook, **given))
        self.due = DueWebhooks(self.bench.log, self.webhooks, self.doorbells, self.bench.clock, self.bench.ids)

    def look_after(self) -> str:
        return self.due.look_after(self.bench.ref, "hook")

    @property
    def webhook(self) -> Webhook:
        webhook = self.webhooks.get(self.bench.ref, "hook")
        assert webhook is not None
        return webhook


def test_an_active_webhook_that_is_due_is_rung_and_due_again_within_the_hour() -> None:
    scene = Scene()
    scene.bench.clock.advance(60)

    assert scene.look_after() == "rung"

    assert [ring.doorbell for ring in scene.doorbells.rings] == [Doorbell(scene.bench.ref, "hook", KEY)]
    assert scene.webhook.due_at == START + 2_135_226  # this key's own time within the hour


def test_a_failing_webhook_whose_attempt_has_come_is_rung_and_due_again_in_ten_minutes() -> None:
    scene = Scene(state=WebhookState.FAILING, next_attempt_at=START)

    assert scene.look_after() == "rung"
    assert scene.webhook.due_at == START + 10 * MINUTE
    assert scene.webhook.state is WebhookState.FAILING


def test_a_failing_webhook_whose_attempt_is_to_come_is_put_off_to_it() -> None:
    scene = Scene(state=WebhookState.FAILING, next_attempt_at=START + 5 * HOUR)

    assert scene.look_after() == "deferred"
    assert scene.doorbells.rings == []
    assert scene.webhook.due_at == START + 5 * HOUR


def test_two_rings_within_the_queues_memory_are_both_heard() -> None:
    scene = Scene(state=WebhookState.FAILING, next_attempt_at=START)
    scene.look_after()
    scene.webhooks.update(scene.webhook, replace(scene.webhook, due_at=START))

    assert scene.look_after() == "rung"
    assert len(scene.doorbells.queue) == 2


@pytest.mark.parametrize("state", [WebhookState.PAUSED, WebhookState.DISABLED])
def test_a_webhook_that_rests_is_not_rung_and_not_due_again(state: WebhookState) -> None:
    scene = Scene(state=state)

    assert scene.look_after() == "put to rest"
    assert scene.doorbells.rings == []
    assert scene.webhook.due_at is None


@pytest.mark.parametrize("due_at", [None, START + 1])
def test_a_webhook_that_is_not_due_is_left_alone(due_at: int | None) -> None:
    scene = Scene(due_at=due_at)

    assert scene.look_after() == ""
    assert scene.doorbells.rings == []


def test_a_webhook_that_is_gone_is_skipped() -> None:
    scene = Scene()
    scene.webhooks.delete(scene.bench.ref, "hook")

    assert scene.look_after() == ""


def test_a_webhook_whose_task_is_gone_is_put_to_rest() -> None:
    scene = Scene()
    scene.bench.world.remove(scene.bench.ref, "TASK")

    assert scene.look_after() == "put to rest"
    assert scene.doorbells.rings == []
    assert scene.webhook.due_at is None


def test_what_a_sender_has_just_dealt_with_is_not_rung() -> None:
    scene = Scene()

    def deliver() -> None:
        scene.webhooks.update(scene.webhook, replace(scene.webhook, cursor=3, due_at=None))

    scene.webhooks.before_next("update", deliver)

    assert scene.look_after() == ""
    assert scene.doorbells.rings == []
    assert scene.webhook.due_at is None


def test_a_ring_that_is_lost_is_made_up_for_later() -> None:
    scene = Scene(state=WebhookState.FAILING, next_attempt_at=START)
    scene.doorbells.fail_next("ring", Unavailable("throttled"))

    with pytest.raises(Unavailable):
        scene.look_after()
    assert scene.webhook.due_at == START + 10 * MINUTE
    scene.bench.clock.advance(600)
    assert scene.look_after() == "rung"
