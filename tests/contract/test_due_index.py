"""DueIndex: what every implementation must do."""

from __future__ import annotations

from dataclasses import replace

from builders.records import a_header, a_ref, a_webhook, message_entry, status_entry
from builders.stores import Store
from fakes.clock import START
from herald.protocol.states import TaskState
from herald.records import Due, WebhookState


def test_tasks_and_webhooks_are_due_from_their_time_on(store: Store) -> None:
    task, webhook_only = a_ref(), a_ref("b" * 26)
    assert store.log.create(a_header(due_at=START + 60_000), message_entry(), a_webhook("c#1", due_at=START + 70_000))
    assert store.log.create(a_header(ref=webhook_only, due_at=None), message_entry(), None)
    store.webhooks.put(a_webhook(ref=webhook_only))

    assert list(store.index.due(START + 59_999)) == []
    assert list(store.index.due(START + 60_000)) == [Due(task, None, START + 60_000)]
    both = {Due(task, None, START + 60_000), Due(task, "c#1", START + 70_000)}
    assert set(store.index.due(START + 70_000)) == both


def test_all_shards_are_looked_at(store: Store) -> None:
    refs = {a_ref(f"task{number:022d}") for number in range(60)}
    for ref in refs:
        assert store.log.create(a_header(ref=ref, due_at=START), message_entry(), None)
    assert {due.ref for due in store.index.due(START)} == refs


def test_nothing_is_due_any_more_once_its_time_is_taken_away(store: Store) -> None:
    header, webhook = a_header(due_at=START), a_webhook(due_at=START)
    assert store.log.create(header, message_entry(), webhook)

    assert store.webhooks.update(webhook, replace(webhook, due_at=None))
    assert [due.config_id for due in store.index.due(START)] == [None]

    done = status_entry(1, TaskState.COMPLETED)
    assert store.log.commit(header, header.with_status(done, due_at=START), [done])
    assert list(store.index.due(START)) == []


def test_a_later_time_replaces_the_earlier_one(store: Store) -> None:
    header, webhook = a_header(due_at=START), a_webhook(due_at=START)
    assert store.log.create(header, message_entry(), webhook)
    assert store.log.defer(header, START + 10)
    assert store.webhooks.update(webhook, replace(webhook, due_at=START + 20))
    assert list(store.index.due(START + 9)) == []
    assert [due.due_at for due in store.index.due(START + 10)] == [START + 10]
    assert sorted(due.due_at for due in store.index.due(START + 20)) == [START + 10, START + 20]


def test_a_deleted_webhook_is_not_due(store: Store) -> None:
    webhook = a_webhook(due_at=START)
    store.webhooks.put(webhook)
    store.webhooks.delete(webhook.ref, webhook.config_id)
    assert list(store.index.due(START)) == []


def test_the_longest_due_comes_first_over_all_shards(store: Store) -> None:
    for number in range(40):
        ref = a_ref(f"task{number:022d}")
        assert store.log.create(a_header(ref=ref, due_at=START + (number * 7) % 40), message_entry(), None)

    assert [due.due_at - START for due in store.index.due(START + 40)] == list(range(40))


def test_webhooks_at_rest_are_found_and_never_due(store: Store) -> None:
    paused, disabled = a_webhook("p#1", created_at=START + 5), a_webhook("d", due_at=START, created_at=START + 2)
    working = a_webhook("w", due_at=START)
    for webhook in (paused, disabled, working):
        store.webhooks.put(webhook)
    assert list(store.index.resting()) == []

    # One that had nothing due, whose task is drained, is found as well as one that had.
    resting = replace(paused, state=WebhookState.PAUSED)
    assert store.webhooks.update(paused, resting)
    assert store.webhooks.update(disabled, replace(disabled, state=WebhookState.DISABLED, due_at=None))
    assert list(store.index.resting()) == [Due(a_ref(), "d", START + 2), Due(a_ref(), "p#1", START + 5)]
    assert [due.config_id for due in store.index.due(START + 10)] == ["w"]
    assert store.webhooks.get(a_ref(), "p#1") == resting

    # Moving the cursor of one at rest leaves it there; resumed, it is due and rests no more.
    moved = replace(resting, cursor=7)
    assert store.webhooks.update(resting, moved)
    assert [due.config_id for due in store.index.resting()] == ["d", "p#1"]
    again = replace(moved, state=WebhookState.ACTIVE, due_at=START + 9)
    assert store.webhooks.update(moved, again)
    assert [due.config_id for due in store.index.resting()] == ["d"]
    assert store.webhooks.get(a_ref(), "p#1") == again
    assert {due.config_id for due in store.index.due(START + 10)} == {"w", "p#1"}

    # And one that is resumed with nothing left to do stands nowhere.
    drained = replace(again, due_at=None)
    assert store.webhooks.update(again, drained)
    assert store.webhooks.get(a_ref(), "p#1") == drained
    assert {due.config_id for due in store.index.due(START + 10)} == {"w"}
