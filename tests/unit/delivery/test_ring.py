"""Which doorbells are rung."""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders.records import a_ref, a_webhook
from fakes.clock import FakeClock
from fakes.store import FakeWebhooks, World
from fakes.world import FakeDoorbells
from herald.delivery.ring import Ringer
from herald.records import Doorbell, Webhook, WebhookState

A = a_webhook("a", key="a" * 26)
B = a_webhook("b", key="b" * 26)


def rings(changed: int, *webhooks: Webhook) -> list[str]:
    clock = FakeClock()
    store = FakeWebhooks(World(clock))
    for webhook in webhooks:
        store.put(webhook)
    return [ring.dedup for ring in Ringer(store, FakeDoorbells(clock)).rings(a_ref(), changed)]


def test_each_active_webhook_of_the_task_gets_one_doorbell_for_the_highest_number() -> None:
    assert rings(7, A, B) == ["a" * 26 + "-7", "b" * 26 + "-7"]


@pytest.mark.parametrize("state", [WebhookState.FAILING, WebhookState.PAUSED, WebhookState.DISABLED])
def test_a_webhook_that_is_not_active_gets_none(state: WebhookState) -> None:
    assert rings(7, replace(A, state=state), B) == ["b" * 26 + "-7"]


def test_a_webhook_that_has_dealt_with_the_entry_gets_none() -> None:
    assert rings(7, replace(A, cursor=7), replace(B, cursor=6)) == ["b" * 26 + "-7"]


def test_a_webhook_whose_snapshot_is_due_gets_one_that_names_the_snapshot() -> None:
    due = replace(A, snapshot_due=True, snapshot=5, cursor=5)

    assert rings(-1, due, B) == ["a" * 26 + "-5"]
    assert rings(4, due) == ["a" * 26 + "-5"]
    assert rings(6, due) == ["a" * 26 + "-6"]


def test_only_the_webhooks_of_the_task_are_read_and_only_once() -> None:
    clock = FakeClock()
    store = FakeWebhooks(World(clock))
    store.put(A)
    store.put(replace(B, ref=a_ref("other")))

    found = Ringer(store, FakeDoorbells(clock)).rings(a_ref(), 3)

    assert [ring.doorbell for ring in found] == [Doorbell(a_ref(), "a", A.key)]
    assert store.calls["list"] == 1
