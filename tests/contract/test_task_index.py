"""TaskIndex: what every implementation must do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from builders.records import CONTEXT_ID, DAY, a_header, a_ref, message_entry, status_entry
from builders.stores import Store, dynamo_store, fake_store
from fakes.clock import START, FakeClock
from fakes.store import World
from herald.adapters.aws import AwsClients
from herald.ports import Listing
from herald.protocol.states import TaskState
from herald.records import Caller, Header, Listed, Position

ALICE = Caller("acme", "alice")
ALL = Listing(ALICE)
EXPIRES = START // 1000 + 60 * DAY
PLENTY = 1_000

Shards = Callable[[int], Store]


@pytest.fixture(params=["fake", "dynamodb, 1 shard", "dynamodb, 3 shards"])
def store(request: pytest.FixtureRequest, clock: FakeClock) -> Store:
    if request.param == "fake":
        return fake_store(World(clock))
    aws: AwsClients = request.getfixturevalue("aws")
    return dynamo_store(aws, clock, 3 if "3" in request.param else 1)


def made(store: Store, name: str, seconds: int = 0, **fields: object) -> Header:
    """A task named by one letter, with a status so many seconds after START."""
    header = a_header(**{"ref": a_ref(name * 26), "status_at": START + seconds * 1000, **fields})
    assert store.log.create(header, message_entry(), None)
    return header


def names(store: Store, listing: Listing = ALL, after: Position | None = None, limit: int = PLENTY) -> str:
    return "".join(entry.ref.task_id[0] for entry in store.tasks.page(listing, after, limit).entries)


def walked(store: Store, listing: Listing, limit: int) -> str:
    """All pages, one after the other."""
    found, after = "", None
    for _ in range(100):
        page = store.tasks.page(listing, after, limit)
        found += "".join(entry.ref.task_id[0] for entry in page.entries)
        if page.beyond is None:
            return found
        assert after is None or page.beyond < after
        after = page.beyond
    raise AssertionError("this walk doesn't end")


def test_the_newest_status_comes_first_and_ties_go_by_id(store: Store) -> None:
    for name, seconds in (("a", 1), ("b", 3), ("c", 2), ("e", 2), ("d", 2)):
        made(store, name, seconds)
    assert names(store) == "bedca"


def test_an_entry_tells_what_there_is_to_know_without_the_log(store: Store) -> None:
    made(store, "a", 7)
    page = store.tasks.page(ALL, None, PLENTY)
    assert page.entries == [
        Listed(a_ref("a" * 26), Position(START + 7000, "a" * 26), TaskState.SUBMITTED, EXPIRES),
    ]
    assert page.beyond is None


def test_nothing_is_listed_of_who_has_nothing(store: Store) -> None:
    page = store.tasks.page(ALL, None, PLENTY)
    assert (list(page.entries), page.beyond, store.tasks.count(ALL, None, PLENTY)) == ([], None, 0)


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 7, 100])
def test_pages_of_any_size_lead_through_everything_once(store: Store, limit: int) -> None:
    for number, name in enumerate("abcdefghij"):
        made(store, name, number * 7 % 10)
    assert walked(store, ALL, limit) == "hebifcjgda"


def test_a_page_starts_strictly_after_a_position_that_need_not_be_a_tasks(store: Store) -> None:
    for number, name in enumerate("abcd"):
        made(store, name, number)
    assert names(store, after=Position(START + 2000, "c" * 26)) == "ba"
    assert names(store, after=Position(START + 2000, "b" * 26)) == "ba"
    assert names(store, after=Position(START + 2000, "d" * 26)) == "cba"
    assert names(store, after=Position(START + 2001, "a" * 26)) == "cba"
    assert names(store, after=Position(START + 2001, "")) == "cba"
    assert names(store, after=Position(START, "a" * 26)) == ""


def test_a_lower_bound_takes_in_its_own_millisecond(store: Store) -> None:
    for number, name in enumerate("abcd"):
        made(store, name, number)
    assert names(store, Listing(ALICE, since=START + 2000)) == "dc"
    assert names(store, Listing(ALICE, since=START + 2001)) == "d"
    assert names(store, Listing(ALICE, since=START + 1000), after=Position(START + 2000, "c" * 26)) == "b"
    assert store.tasks.count(Listing(ALICE, since=START + 1000), Position(START + 3000, "d" * 26), PLENTY) == 2


@pytest.mark.parametrize("since", [-62_135_596_800_000, -1, 0])
def test_a_bound_before_all_tasks_bounds_nothing(store: Store, since: int) -> None:
    made(store, "a")
    assert names(store, Listing(ALICE, since=since)) == "a"


@pytest.mark.parametrize("since", [253_402_300_799_999, 253_402_300_800_000])
def test_a_bound_at_the_end_of_time_leaves_nothing(store: Store, since: int) -> None:
    made(store, "a")
    assert names(store, Listing(ALICE, since=since)) == ""


def test_a_bound_above_the_position_leaves_nothing(store: Store) -> None:
    made(store, "a")
    listing, after = Listing(ALICE, since=START), Position(START - 1, "z" * 26)
    assert names(store, listing, after) == ""
    assert store.tasks.count(listing, after, PLENTY) == 0


def test_a_context_lists_its_own_tasks_only(store: Store) -> None:
    made(store, "a", 1)
    made(store, "b", 2, context_id="another #/ü")
    made(store, "c", 3)
    assert names(store, Listing(ALICE, CONTEXT_ID)) == "ca"
    assert names(store, Listing(ALICE, "another #/ü")) == "b"
    assert names(store, Listing(ALICE, "unknown")) == ""
    assert store.tasks.count(Listing(ALICE, CONTEXT_ID), None, PLENTY) == 2


@pytest.mark.parametrize(
    "other", [Caller("acme", "bob"), Caller("", "alice"), Caller("other", "alice"), Caller("acme#alice", "")]
)
@pytest.mark.parametrize("context_id", ["", CONTEXT_ID])
def test_invariant_6_nobody_else_sees_a_task(store: Store, other: Caller, context_id: str) -> None:
    made(store, "a")
    listing = Listing(other, context_id)
    assert names(store, listing) == ""
    assert store.tasks.count(listing, None, PLENTY) == 0


def test_a_change_of_state_moves_a_task_up(store: Store) -> None:
    first = made(store, "a", 1)
    made(store, "b", 2)
    done = status_entry(1, TaskState.COMPLETED, at=START + 3000)
    assert store.log.commit(first, first.with_status(done, due_at=None), [done])

    page = store.tasks.page(ALL, None, PLENTY)

    assert [(entry.ref.task_id[0], entry.state) for entry in page.entries] == [
        ("a", TaskState.COMPLETED),
        ("b", TaskState.SUBMITTED),
    ]
    assert page.entries[0].position == Position(START + 3000, "a" * 26)


def test_states_are_looked_for_among_the_entries_that_are_read(store: Store) -> None:
    for number, name in enumerate("abcdef"):
        made(store, name, number, state=TaskState.WORKING if name in "be" else TaskState.COMPLETED)
    working = Listing(ALICE, states=frozenset({TaskState.WORKING}))
    either = Listing(ALICE, states=frozenset({TaskState.WORKING, TaskState.COMPLETED}))

    assert names(store, working) == "eb"
    assert names(store, either) == "fedcba"
    assert walked(store, working, 3) == "eb"
    assert store.tasks.count(working, None, PLENTY) == 2
    assert store.tasks.count(working, Position(START + 4000, "e" * 26), PLENTY) == 1


def test_a_page_without_a_match_says_where_to_go_on(store: Store) -> None:
    for number in range(9):
        made(store, "abcdefghi"[number], number, state=TaskState.WORKING if number == 0 else TaskState.COMPLETED)
    page = store.tasks.page(Listing(ALICE, states=frozenset({TaskState.WORKING})), None, 6)
    assert list(page.entries) == []
    assert page.beyond is not None


def test_a_task_past_its_time_is_not_listed(store: Store, clock: FakeClock) -> None:
    made(store, "a", 1, expires_second=START // 1000 + 10)
    made(store, "b", 2)
    assert (names(store), store.tasks.count(ALL, None, PLENTY)) == ("ba", 2)
    clock.advance(10)
    assert (names(store), store.tasks.count(ALL, None, PLENTY)) == ("b", 1)


def test_a_count_stops_at_its_limit(store: Store) -> None:
    for number, name in enumerate("abcdefg"):
        made(store, name, number)
    assert [store.tasks.count(ALL, None, limit) for limit in (3, 7, 8)] == [3, 7, 7]
    assert store.tasks.count(ALL, Position(START + 3000, "d" * 26), PLENTY) == 3
    assert store.tasks.count(ALL, None, 0) == 0


def test_putting_a_task_off_leaves_it_where_it_is(store: Store) -> None:
    header = made(store, "a", 1)
    made(store, "b", 2)
    assert store.log.defer(header, START + 90_000)
    assert names(store) == "ba"
    assert store.tasks.page(ALL, None, PLENTY).entries[1].position == Position(header.status_at, "a" * 26)


def test_a_header_that_only_takes_a_run_leaves_the_task_where_it_is(store: Store) -> None:
    header = made(store, "a", 1)
    made(store, "b", 2)
    run = replace(status_entry(1), kind="run", state=None, body="{}")
    assert store.log.commit(header, replace(header, run=1, end=1), [run])
    assert names(store) == "ba"
