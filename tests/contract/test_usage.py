"""Usage: what every implementation must do."""

from __future__ import annotations

from dataclasses import replace

from builders.records import a_header, a_ref, message_entry, run_entry, status_entry
from builders.stores import Store, dynamo_store
from fakes.clock import START, FakeClock
from herald.adapters.aws import AwsClients
from herald.protocol.states import TaskState
from herald.records import Caller, Header, OriginsInUse

ALICE = Caller("acme", "alice")
SECOND = START // 1000


def open_task(store: Store, name: str, **owner: str) -> Header:
    header = a_header(ref=a_ref(name, **owner))
    assert store.log.create(header, message_entry(), None)
    return header


def test_a_task_is_open_from_its_making_to_its_end(store: Store) -> None:
    header = open_task(store, "a" * 26)
    assert store.usage.open_tasks(ALICE, 10) == 1

    asked = status_entry(1, TaskState.INPUT_REQUIRED)
    waiting = header.with_status(asked, due_at=header.end_by)
    assert store.log.commit(header, waiting, [asked])
    assert store.usage.open_tasks(ALICE, 10) == 1

    done = status_entry(2, TaskState.COMPLETED)
    assert store.log.commit(waiting, waiting.with_status(done, due_at=None), [done])
    assert store.usage.open_tasks(ALICE, 10) == 0


def test_a_run_and_a_deferral_leave_a_task_open(store: Store) -> None:
    header = open_task(store, "a" * 26)
    run = run_entry(1)
    running = replace(header, run=1, end=1)
    assert store.log.commit(header, running, [run])
    assert store.log.defer(running, None)
    assert store.usage.open_tasks(ALICE, 10) == 1


def test_the_tasks_of_one_owner_in_one_tenant_are_counted(store: Store) -> None:
    open_task(store, "a" * 26)
    open_task(store, "b" * 26)
    open_task(store, "c" * 26, owner="bob")
    open_task(store, "d" * 26, tenant="umbrella")
    assert store.usage.open_tasks(ALICE, 10) == 2
    assert store.usage.open_tasks(Caller("acme", "bob"), 10) == 1
    assert store.usage.open_tasks(Caller("", "alice"), 10) == 0


def test_no_more_is_counted_than_is_asked_for(store: Store) -> None:
    for number in range(5):
        open_task(store, f"task{number:022d}")
    assert store.usage.open_tasks(ALICE, 3) == 3


def test_an_owners_shards_are_counted_together(aws: AwsClients, clock: FakeClock) -> None:
    store = dynamo_store(aws, clock, owner_shards=4)
    for number in range(9):
        open_task(store, f"task{number:022d}")
    assert store.usage.open_tasks(ALICE, 100) == 9
    assert store.usage.open_tasks(ALICE, 7) == 7


def test_an_owner_has_no_origins_at_first(store: Store) -> None:
    assert store.usage.origins(ALICE) == OriginsInUse(ALICE, {}, 0)


def test_origins_are_kept_for_their_owner(store: Store) -> None:
    kept = OriginsInUse(ALICE, {"https://a.example": SECOND + 60}, 1)
    assert store.usage.replace_origins(OriginsInUse(ALICE), kept)
    assert store.usage.origins(ALICE) == kept
    assert store.usage.origins(Caller("", "alice")) == OriginsInUse(Caller("", "alice"))


def test_of_two_changes_at_once_one_is_refused(store: Store) -> None:
    none = OriginsInUse(ALICE)
    first = OriginsInUse(ALICE, {"https://a.example": SECOND + 60}, 1)
    other = OriginsInUse(ALICE, {"https://b.example": SECOND + 60}, 1)
    assert store.usage.replace_origins(none, first)
    assert not store.usage.replace_origins(none, other)

    second = OriginsInUse(ALICE, {**first.until, "https://b.example": SECOND + 60}, 2)
    assert store.usage.replace_origins(first, second)
    assert not store.usage.replace_origins(first, OriginsInUse(ALICE, other.until, 2))
    assert store.usage.origins(ALICE) == second


def test_origins_past_their_time_are_gone_deleted_yet_or_not(store: Store, clock: FakeClock) -> None:
    none = OriginsInUse(ALICE)
    assert store.usage.replace_origins(none, OriginsInUse(ALICE, {"https://a.example": SECOND + 60}, 1))
    clock.advance(60)
    assert store.usage.origins(ALICE) == none
    assert store.usage.replace_origins(none, OriginsInUse(ALICE, {"https://b.example": SECOND + 120}, 1))
    assert store.usage.origins(ALICE).until == {"https://b.example": SECOND + 120}
