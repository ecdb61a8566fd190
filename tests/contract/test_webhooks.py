"""Webhooks: what every implementation must do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from builders.records import KEY, a_header, a_ref, a_webhook, message_entry
from builders.stores import Store
from fakes.clock import START, FakeClock
from herald.records import Attempt, WebhookState

REF = a_ref()
FULL = a_webhook(
    url="https://client.example/hook?a=1",
    sealed="v1.version.text",
    cursor=7,
    snapshot=3,
    snapshot_due=True,
    state=WebhookState.FAILING,
    reason="why",
    failures=2,
    attempt=4,
    next_attempt_at=START + 1,
    due_at=START + 2,
    delivered=9,
    first_success_at=START + 3,
    last_success_at=START + 4,
    mark="kaaaaaaa",
    began=2,
)


@pytest.mark.parametrize("webhook", [a_webhook(), FULL], ids=["least", "full"])
def test_a_webhook_comes_back_as_it_was_put(store: Store, webhook: Any) -> None:
    store.webhooks.put(webhook)
    assert store.webhooks.get(REF, "cfg-1") == webhook


def test_putting_replaces_what_has_the_config_id(store: Store) -> None:
    store.webhooks.put(FULL)
    other = a_webhook(key="other", url="https://b.example/")
    store.webhooks.put(other)
    assert store.webhooks.list(REF) == [other]


@pytest.mark.parametrize("config_id", ["a#b", "PUSH#x", "ä/%", "x" * 300, " "])
def test_any_config_id_is_kept_as_it_is(store: Store, config_id: str) -> None:
    webhook = a_webhook(config_id)
    store.webhooks.put(webhook)
    assert store.webhooks.get(REF, config_id) == webhook
    assert store.webhooks.list(REF) == [webhook]


def test_webhooks_are_listed_by_config_id_and_by_task(store: Store) -> None:
    other = a_webhook("c", ref=a_ref(owner="bob"))
    for webhook in (a_webhook("b"), a_webhook("a#"), a_webhook("a"), other):
        store.webhooks.put(webhook)
    assert [webhook.config_id for webhook in store.webhooks.list(REF)] == ["a", "a#", "b"]
    assert store.webhooks.list(other.ref) == [other]


def test_an_expired_webhook_is_not_listed(store: Store, clock: FakeClock) -> None:
    expiring, lasting = a_webhook("a", expires_second=START // 1000 + 1), a_webhook("b")
    store.webhooks.put(expiring)
    store.webhooks.put(lasting)
    assert store.webhooks.list(REF) == [expiring, lasting]
    clock.advance(1)
    assert store.webhooks.list(REF) == [lasting]


def test_deleting_is_idempotent(store: Store) -> None:
    store.webhooks.put(FULL)
    store.webhooks.delete(REF, "cfg-1")
    store.webhooks.delete(REF, "cfg-1")
    assert store.webhooks.get(REF, "cfg-1") is None
    assert store.webhooks.list(REF) == []


@pytest.mark.parametrize(
    "change",
    [
        {"cursor": 8, "delivered": 10, "last_success_at": START + 50},
        {"snapshot_due": False, "cursor": 3},
        {"state": WebhookState.ACTIVE, "failures": 0, "attempt": 0, "next_attempt_at": 0, "reason": ""},
        {"state": WebhookState.DISABLED, "reason": "gone", "due_at": None},
        {"due_at": START + 77},
        {"first_success_at": 0},
        {"cursor": 5, "snapshot": 5, "snapshot_due": True, "mark": "", "began": -1},
        {},
    ],
    ids=lambda change: ",".join(change) or "nothing",
)
def test_an_update_writes_what_differs(store: Store, change: dict[str, Any]) -> None:
    store.webhooks.put(FULL)
    assert store.webhooks.update(FULL, replace(FULL, **change))
    assert store.webhooks.get(REF, "cfg-1") == replace(FULL, **change)


def test_a_snapshot_becomes_due_again(store: Store) -> None:
    done = a_webhook()
    store.webhooks.put(done)
    again = replace(done, snapshot_due=True, snapshot=5, cursor=5)
    assert store.webhooks.update(done, again)
    assert store.webhooks.get(REF, "cfg-1") == again


def test_an_update_leaves_alone_what_somebody_else_changed_meanwhile(store: Store) -> None:
    seen = a_webhook()
    store.webhooks.put(seen)
    paused = replace(seen, state=WebhookState.PAUSED, reason="by hand", due_at=None)
    assert store.webhooks.update(seen, paused)

    assert store.webhooks.update(seen, replace(seen, cursor=1, delivered=1))

    assert store.webhooks.get(REF, "cfg-1") == replace(paused, cursor=1, delivered=1)


@pytest.mark.parametrize(
    "moved",
    [{"cursor": 8}, {"key": "another"}, {"snapshot_due": False}],
    ids=lambda moved: next(iter(moved)),
)
def test_an_update_is_refused_where_the_webhook_has_moved_on(store: Store, moved: dict[str, Any]) -> None:
    stored = replace(FULL, **moved)
    store.webhooks.put(stored)
    assert not store.webhooks.update(FULL, replace(FULL, failures=3))
    assert store.webhooks.get(REF, "cfg-1") == stored


def test_an_update_is_refused_where_a_snapshot_has_become_due(store: Store) -> None:
    stored = a_webhook(snapshot_due=True)
    store.webhooks.put(stored)
    assert not store.webhooks.update(a_webhook(), a_webhook(cursor=1))
    assert store.webhooks.get(REF, "cfg-1") == stored


def test_a_state_is_not_changed_over_a_pause(store: Store) -> None:
    seen = a_webhook()
    paused = replace(seen, state=WebhookState.PAUSED)
    store.webhooks.put(paused)
    assert not store.webhooks.update(seen, replace(seen, state=WebhookState.FAILING, failures=1))
    assert store.webhooks.get(REF, "cfg-1") == paused


def test_a_state_is_not_changed_over_a_resume(store: Store) -> None:
    seen = a_webhook(state=WebhookState.FAILING, failures=11)
    resumed = replace(seen, failures=0)
    store.webhooks.put(resumed)
    assert not store.webhooks.update(seen, replace(seen, state=WebhookState.DISABLED, failures=12))
    assert store.webhooks.get(REF, "cfg-1") == resumed


def test_a_deleted_webhook_is_never_made_again_by_an_update(store: Store) -> None:
    store.webhooks.put(FULL)
    store.webhooks.delete(REF, "cfg-1")
    assert not store.webhooks.update(FULL, replace(FULL, cursor=8))
    assert not store.webhooks.update(FULL, FULL)
    assert store.webhooks.get(REF, "cfg-1") is None


@pytest.mark.parametrize("fixed", [{"key": "k"}, {"config_id": "c"}, {"created_at": 1}, {"expires_second": 1}])
def test_what_is_fixed_cannot_be_updated(store: Store, fixed: dict[str, Any]) -> None:
    store.webhooks.put(FULL)
    with pytest.raises(ValueError, match=next(iter(fixed))):
        store.webhooks.update(FULL, replace(FULL, **fixed))
    assert store.webhooks.get(REF, "cfg-1") == FULL


def test_an_expired_webhook_is_not_updated(store: Store, clock: FakeClock) -> None:
    webhook = a_webhook(expires_second=START // 1000 + 1)
    store.webhooks.put(webhook)
    clock.advance(1)
    assert not store.webhooks.update(webhook, replace(webhook, cursor=1))


def an_attempt(number: int, attempt: int) -> Attempt:
    return Attempt(number, attempt, "http_5xx", 503, 812, "busy é\x00", START)


def test_failed_attempts_are_kept_in_order_for_their_key_and_30_days(store: Store, clock: FakeClock) -> None:
    webhook = a_webhook()
    other = a_webhook(key=KEY[:-1] + "b")
    for attempt in (an_attempt(10, 2), an_attempt(10, 1), an_attempt(9, 1), an_attempt(10, 11)):
        store.webhooks.record(webhook, attempt)
    store.webhooks.record(other, an_attempt(1, 1))

    found = store.webhooks.attempts(webhook)
    assert found == [an_attempt(9, 1), an_attempt(10, 1), an_attempt(10, 2), an_attempt(10, 11)]

    clock.advance(30 * 86_400 - 1)
    assert len(store.webhooks.attempts(webhook)) == 4
    clock.advance(1)
    assert store.webhooks.attempts(webhook) == []


def test_a_webhook_lies_beside_its_task(store: Store) -> None:
    header = a_header()
    assert store.log.create(header, message_entry(), a_webhook())
    store.webhooks.record(a_webhook(), an_attempt(1, 1))
    assert store.log.read(REF) == [message_entry()]
    assert store.log.header(REF) == header
