"""TaskLog: what every implementation must do."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from builders.records import (
    a_header,
    a_message,
    a_ref,
    a_webhook,
    artifact_entry,
    message_entry,
    run_entry,
    status_entry,
)
from builders.stores import Store
from fakes.clock import START, FakeClock
from herald.protocol.states import TaskState
from herald.records import Header, TakenSend

REF = a_ref()


def created(store: Store, **fields: object) -> Header:
    header = a_header(**fields)
    assert store.log.create(header, message_entry(), None)
    return header


def test_a_created_task_is_there_whole(store: Store) -> None:
    webhook = a_webhook(snapshot_due=True, sealed="v1.x.y")
    header, message = a_header(), message_entry(traceparent="00-ab-cd-01")

    assert store.log.create(header, message, webhook)

    assert store.log.header(REF) == header
    assert store.log.read(REF) == [message]
    assert store.webhooks.list(REF) == [webhook]


def test_g7_creating_a_task_that_exists_writes_nothing(store: Store) -> None:
    header = created(store)

    other = replace(header, context_id="ctx-2")
    assert not store.log.create(other, message_entry(message=a_message("other")), a_webhook())

    assert store.log.header(REF) == header
    assert store.log.read(REF) == [message_entry()]
    assert store.webhooks.list(REF) == []


def test_a_creation_that_is_sent_again_after_a_lost_answer_changes_nothing(store: Store) -> None:
    header = created(store)
    assert not store.log.create(header, message_entry(), None)
    assert store.log.read(REF) == [message_entry()]


def test_g12_the_same_task_id_of_another_owner_is_another_task(store: Store) -> None:
    mine = created(store)
    bobs = a_ref(owner="bob")
    assert store.log.header(bobs) is None
    assert store.log.read(bobs) == []
    theirs = a_header(ref=bobs, context_id="ctx-bob")
    assert store.log.create(theirs, message_entry(), None)
    assert store.log.header(REF) == mine
    assert store.log.header(bobs) == theirs


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a#b", "c"), ("a", "b#c")),
        (("a%23b", "c"), ("a#b", "c")),
        (("", "a"), ("a", "")),
        (("TASK", "x/y"), ("TASK", "x%2Fy")),
    ],
)
def test_names_that_look_alike_never_reach_each_other(
    store: Store, one: tuple[str, str], other: tuple[str, str]
) -> None:
    ref = a_ref(tenant=one[0], owner=one[1])
    created(store, ref=ref)
    found = store.log.header(ref)
    assert found is not None
    assert found.ref == ref
    assert store.log.header(a_ref(tenant=other[0], owner=other[1])) is None


def test_of_two_puts_of_one_number_exactly_one_wins(store: Store) -> None:
    header = created(store)
    first, second = artifact_entry(1, "first", writer="wa"), artifact_entry(1, "second", writer="wb")

    assert store.log.put(REF, first, header.expires_second)
    assert not store.log.put(REF, second, header.expires_second)

    assert store.log.read(REF, after=0) == [first]


def test_a_put_that_is_sent_again_after_a_lost_answer_is_refused_and_found_by_its_writer(store: Store) -> None:
    header = created(store)
    chunk = artifact_entry(1, writer="mine")
    store.log.put(REF, chunk, header.expires_second)
    assert not store.log.put(REF, chunk, header.expires_second)
    assert [entry.writer for entry in store.log.read(REF, after=0)] == ["mine"]


def test_reading_goes_on_after_a_number_and_stops_at_a_limit(store: Store) -> None:
    header = created(store)
    for number in range(1, 6):
        assert store.log.put(REF, artifact_entry(number), header.expires_second)
    assert [e.number for e in store.log.read(REF)] == [0, 1, 2, 3, 4, 5]
    assert [e.number for e in store.log.read(REF, after=2)] == [3, 4, 5]
    assert [e.number for e in store.log.read(REF, after=1, limit=2)] == [2, 3]
    assert store.log.read(REF, after=5) == []


def test_a_gap_is_never_returned(store: Store) -> None:
    header = created(store)
    for number in (1, 2, 4, 5):
        assert store.log.put(REF, artifact_entry(number), header.expires_second)
    assert [e.number for e in store.log.read(REF)] == [0, 1, 2]
    assert store.log.read(REF, after=2) == []
    assert [e.number for e in store.log.read(REF, after=3)] == [4, 5]


def committed(store: Store, before: Header, number: int, state: TaskState = TaskState.WORKING) -> bool:
    entry = status_entry(number, state, at=START + 5)
    return store.log.commit(before, before.with_status(entry, due_at=START + 99), [entry])


def test_a_commit_writes_entries_and_header_at_once(store: Store) -> None:
    before = created(store)
    run, working = run_entry(1), status_entry(2, at=START + 5, run=1)
    after = replace(before.with_status(working, due_at=START + 7_000), run=1)

    assert store.log.commit(before, after, [run, working])

    assert store.log.header(REF) == after
    assert store.log.read(REF, after=0) == [run, working]


@pytest.mark.parametrize(
    "moved",
    [{"state": TaskState.WORKING}, {"turn": 3}, {"run": 5}, {"status_number": 7}],
    ids=lambda moved: next(iter(moved)),
)
def test_a_commit_is_refused_where_the_header_has_moved(store: Store, moved: dict[str, object]) -> None:
    stored = created(store)
    seen = replace(stored, **moved)  # type: ignore[arg-type]

    assert not committed(store, seen, 1)

    assert store.log.header(REF) == stored
    assert store.log.read(REF, after=0) == []


def test_a_commit_is_refused_where_a_number_is_taken(store: Store) -> None:
    before = created(store)
    taken = artifact_entry(2)
    assert store.log.put(REF, artifact_entry(1), before.expires_second)
    assert store.log.put(REF, taken, before.expires_second)

    status = status_entry(3)
    assert not store.log.commit(before, before.with_status(status, due_at=None), [replace(run_entry(2)), status])

    assert store.log.header(REF) == before
    assert store.log.read(REF, after=1) == [taken]


def test_a_commit_to_a_task_that_is_not_there_is_refused(store: Store) -> None:
    assert not committed(store, a_header(), 1)
    assert store.log.header(REF) is None
    assert store.log.read(REF) == []


def test_of_two_terminal_commits_from_one_header_exactly_one_wins(store: Store) -> None:
    before = created(store)
    assert committed(store, before, 1, TaskState.COMPLETED)
    assert not committed(store, before, 1, TaskState.CANCELED)
    assert not committed(store, before, 2, TaskState.CANCELED)
    assert [entry.state for entry in store.log.read(REF, after=0)] == [TaskState.COMPLETED]


def test_g11_a_late_write_of_an_older_run_is_refused(store: Store) -> None:
    first = created(store)
    run = run_entry(1)
    older = replace(first, run=1, end=1)
    assert store.log.commit(first, older, [run])
    assert store.log.commit(older, replace(older, run=2, end=2), [run_entry(2)])

    assert not committed(store, older, 3)

    assert [entry.kind for entry in store.log.read(REF, after=0)] == ["run", "run"]


def test_a_follow_up_is_taken_once(store: Store) -> None:
    before = created(store)
    waiting = status_entry(1, TaskState.INPUT_REQUIRED)
    asked = before.with_status(waiting, due_at=before.end_by)
    assert store.log.commit(before, asked, [waiting])
    assert store.log.taken(REF, "h1") is None

    message, working = message_entry(2), status_entry(3, turn=2)
    going_on = replace(asked.with_status(working, due_at=None), turn=2)
    assert store.log.commit(asked, going_on, [message, working], once=("h1", "c1"))
    assert store.log.taken(REF, "h1") == TakenSend(2, "c1")

    again = [message_entry(4), status_entry(5, turn=4)]
    assert not store.log.commit(going_on, replace(going_on, turn=4), again, once=("h1", "c1"))
    assert store.log.header(REF) == going_on
    assert [entry.number for entry in store.log.read(REF)] == [0, 1, 2, 3]


def test_deferring_moves_only_the_due_time(store: Store) -> None:
    header = created(store)
    assert store.log.defer(header, START + 5_000_000)
    assert store.log.header(REF) == replace(header, due_at=START + 5_000_000)
    assert store.log.defer(header, None)
    assert store.log.header(REF) == replace(header, due_at=None)


@pytest.mark.parametrize("moved", [{"state": TaskState.WORKING}, {"turn": 3}, {"run": 5}], ids=lambda m: next(iter(m)))
def test_deferring_is_refused_where_the_header_has_moved(store: Store, moved: dict[str, object]) -> None:
    header = created(store)
    assert not store.log.defer(replace(header, **moved), None)  # type: ignore[arg-type]
    assert store.log.header(REF) == header


def test_a_task_past_its_time_does_not_exist(store: Store, clock: FakeClock) -> None:
    header = created(store, expires_second=START // 1000 + 10)
    waiting = status_entry(1, TaskState.INPUT_REQUIRED)
    asked = header.with_status(waiting, due_at=None)
    assert store.log.commit(header, asked, [waiting])
    message = message_entry(2)
    going_on = replace(asked, turn=2)
    assert store.log.commit(asked, going_on, [message], once=("h1", "c1"))
    store.webhooks.put(a_webhook(expires_second=header.expires_second))

    clock.advance(10)

    assert store.log.header(REF) is None
    assert store.log.read(REF) == []
    assert store.log.taken(REF, "h1") is None
    assert store.webhooks.get(REF, "cfg-1") is None
    assert store.webhooks.list(REF) == []
    assert not committed(store, going_on, 3)
    assert not store.log.defer(going_on, None)


def test_a_task_past_its_time_may_be_made_anew(store: Store, clock: FakeClock) -> None:
    old = created(store, expires_second=START // 1000 + 10)
    assert store.log.put(REF, artifact_entry(1), old.expires_second)
    clock.advance(10)

    fresh = created(store, created_at=clock.now(), expires_second=START // 1000 + 100)

    assert store.log.header(REF) == fresh
    assert store.log.read(REF) == [message_entry()]
    assert store.log.put(REF, artifact_entry(1, "new"), fresh.expires_second)
    assert store.log.read(REF, after=0) == [artifact_entry(1, "new")]


@pytest.mark.parametrize("size", [299_000, 301_000, 1_000_000])
@pytest.mark.parametrize("letter", ["x", "é"])
def test_bodies_of_any_size_come_back_as_they_were(store: Store, size: int, letter: str) -> None:
    header = a_header()
    message = message_entry(message=a_message(letter * (size // len(letter.encode()))))
    chunk = artifact_entry(1, letter * (size // len(letter.encode())))
    end = status_entry(2, TaskState.COMPLETED, letter * (size // len(letter.encode())))

    assert store.log.create(header, message, None)
    assert store.log.put(REF, chunk, header.expires_second)
    assert store.log.commit(header, header.with_status(end, due_at=None), [end])

    assert store.log.read(REF) == [message, chunk, end]


def test_g2_g3_numbers_come_back_digit_for_digit(store: Store) -> None:
    header = created(store)
    body = '{"artifactUpdate":{"data":[5,5.0,1e400,12345678901234567890123456789012345678901234567890,0.1,null,""]}}'
    entry = replace(artifact_entry(1), body=body)
    assert store.log.put(REF, entry, header.expires_second)
    [found] = store.log.read(REF, after=0)
    assert found.body == body
    for record in (found, store.log.header(REF)):
        assert record is not None
        assert not any(isinstance(getattr(record, name), Decimal) for name in record.__slots__)


def test_a_log_of_more_than_a_page_is_read_whole(store: Store) -> None:
    header = created(store)
    texts = [f"{number}:" + "x" * 250_000 for number in range(1, 13)]  # 3 MB, DynamoDB's pages hold 1 MB
    for number, text in enumerate(texts, 1):
        assert store.log.put(REF, artifact_entry(number, text), header.expires_second)
    assert [entry.number for entry in store.log.read(REF)] == list(range(13))
    assert [entry.number for entry in store.log.read(REF, after=2, limit=9)] == list(range(3, 12))


def test_a_log_may_be_read_without_its_large_artifacts(store: Store) -> None:
    header = created(store)
    large, small = artifact_entry(1, "x" * 400_000), artifact_entry(2, "y")
    assert store.log.put(REF, large, header.expires_second)
    assert store.log.put(REF, small, header.expires_second)
    done = status_entry(3, TaskState.COMPLETED, "z" * 400_000)
    assert store.log.commit(header, header.with_status(done, due_at=None), [done])

    assert store.log.read(REF, artifacts=False) == [message_entry(), replace(large, body=""), small, done]
