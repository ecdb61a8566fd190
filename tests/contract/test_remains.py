"""Remains: what every implementation must find and delete."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from builders.records import a_header, a_ref, a_webhook, artifact_entry, message_entry, run_entry, status_entry
from builders.stores import BUCKET, TABLE, Store, dynamo_store, fake_store
from fakes.clock import START, FakeClock
from fakes.remains import FakeRemains
from fakes.store import World
from herald.adapters.aws import AwsClients
from herald.adapters.dynamodb.remains import DynamoRemains
from herald.adapters.s3 import S3Bodies
from herald.ports import Remains, Remnant
from herald.protocol.states import TaskState
from herald.records import Attempt, Caller, OriginsInUse, TaskRef

Pair = tuple[Store, Remains]
REF = a_ref()


@pytest.fixture(params=["fake", "dynamodb"])
def pair(request: pytest.FixtureRequest, clock: FakeClock) -> Iterator[Pair]:
    if request.param == "fake":
        world = World(clock)
        yield fake_store(world), FakeRemains(world)
        return
    aws: AwsClients = request.getfixturevalue("aws")
    yield dynamo_store(aws, clock), on_aws(aws, clock)


def on_aws(aws: AwsClients, clock: FakeClock) -> DynamoRemains:
    return DynamoRemains(lambda: aws.dynamodb, TABLE, S3Bodies(lambda: aws.s3, BUCKET), clock)


def make(store: Store, ref: TaskRef = REF) -> None:
    """A task with one item of each kind."""
    header = a_header(ref=ref)
    assert store.log.create(header, message_entry(), a_webhook(ref=ref))
    assert store.log.put(ref, run_entry(1), header.expires_second)
    assert store.log.put(ref, artifact_entry(2, run=1), header.expires_second)
    assert store.log.commit(header, header, [message_entry(3)], ("5e" * 32, "6f" * 32))
    store.webhooks.record(a_webhook(ref=ref), Attempt(2, 1, "http_5xx", 500, 3, "", START))


def facts(found: list[Remnant]) -> list[tuple[str, int, int]]:
    return sorted((each.kind, each.number, each.run) for each in found)


def test_everything_in_a_tasks_partition_is_found_with_what_it_is(pair: Pair) -> None:
    store, remains = pair
    make(store)
    make(store, a_ref("b" * 26))
    assert facts(remains.items(REF)) == [
        ("artifact", 2, 1),
        ("attempt", -1, -1),
        ("follow-up", -1, -1),
        ("header", -1, -1),
        ("message", 0, -1),
        ("message", 3, -1),
        ("run", 1, 1),
        ("webhook", -1, -1),
    ]
    assert {each.at for each in remains.items(REF) if each.number >= 0} == {START}


def test_the_state_of_a_status_entry_is_told(pair: Pair) -> None:
    store, remains = pair
    header = a_header()
    done = status_entry(1, TaskState.COMPLETED)
    assert store.log.create(header, message_entry(), None)
    assert store.log.commit(header, header.with_status(done, due_at=None), [done])
    assert [each.state for each in remains.items(REF) if each.number == 1] == [TaskState.COMPLETED]
    assert {each.state for each in remains.items(REF) if each.number != 1} == {None}  # the header's isn't an entry's


def test_what_has_expired_is_found_as_well(pair: Pair, clock: FakeClock) -> None:
    store, remains = pair
    make(store)
    clock.advance(100 * 86_400)
    assert store.log.header(REF) is None
    assert len(remains.items(REF)) == 8


def test_what_is_named_is_deleted_and_nothing_else(pair: Pair) -> None:
    store, remains = pair
    make(store)
    make(store, a_ref("b" * 26))
    keys = [each.sort_key for each in remains.items(REF) if each.kind != "header"]
    remains.delete(REF, keys)
    remains.delete(REF, keys)  # again is the same
    assert facts(remains.items(REF)) == [("header", -1, -1)]
    assert len(remains.items(a_ref("b" * 26))) == 8


def test_any_number_is_deleted(pair: Pair) -> None:
    store, remains = pair
    header = a_header()
    assert store.log.create(header, message_entry(), None)
    for number in range(1, 60):
        assert store.log.put(REF, artifact_entry(number), header.expires_second)
    remains.delete(REF, [each.sort_key for each in remains.items(REF)])
    assert remains.items(REF) == []


def test_an_owners_tasks_are_those_of_the_tenant(pair: Pair) -> None:
    store, remains = pair
    for ref in (REF, a_ref("b" * 26), a_ref("c" * 26, owner="bob"), a_ref("d" * 26, tenant="")):
        assert store.log.create(a_header(ref=ref), message_entry(), None)
    assert set(remains.tasks_of(Caller("acme", "alice"))) == {REF, a_ref("b" * 26)}
    assert list(remains.tasks_of(Caller("", "alice"))) == [a_ref("d" * 26, tenant="")]
    assert list(remains.tasks_of(Caller("", "nobody"))) == []


def test_a_task_is_found_by_its_name_whoevers_it_is(pair: Pair) -> None:
    store, remains = pair
    for ref in (REF, a_ref("c" * 26, owner="bob")):
        assert store.log.create(a_header(ref=ref), message_entry(), None)
    assert list(remains.find("c" * 26)) == [a_ref("c" * 26, owner="bob")]
    assert list(remains.find("z" * 26)) == []


# ---- on AWS only ----


def test_bodies_are_found_by_their_tasks_place_those_that_no_entry_points_to_included(
    aws: AwsClients, clock: FakeClock
) -> None:
    store, remains = dynamo_store(aws, clock), on_aws(aws, clock)
    longer = a_ref(REF.task_id + "x")
    for ref in (REF, longer):
        assert store.log.create(a_header(ref=ref), message_entry(), None)
        assert store.log.put(ref, artifact_entry(1, "x" * 300_001), a_header().expires_second)
    assert not store.log.put(REF, artifact_entry(1, "y" * 300_001, writer="loser"), a_header().expires_second)
    assert [key.rpartition("/")[2] for key in remains.bodies(REF)] == ["1-loser", "1-w1"]

    remains.delete_bodies(remains.bodies(REF))
    remains.delete_bodies([])
    assert remains.bodies(REF) == []
    assert len(remains.bodies(longer)) == 1


def test_an_owners_tasks_are_found_in_any_number_of_shards(aws: AwsClients, clock: FakeClock) -> None:
    store, remains = dynamo_store(aws, clock, owner_shards=7), on_aws(aws, clock)
    refs = {a_ref(f"task{number:022d}") for number in range(20)}
    for ref in refs:
        assert store.log.create(a_header(ref=ref), message_entry(), None)
    assert set(remains.tasks_of(Caller("acme", "alice"))) == refs


def test_an_owners_origins_lie_in_a_place_of_their_own(aws: AwsClients, clock: FakeClock) -> None:
    store, remains = dynamo_store(aws, clock), on_aws(aws, clock)
    alice = Caller("acme", "alice")
    origins = OriginsInUse(alice, {"https://a.example": START // 1000 + 60}, 1)
    assert store.usage.replace_origins(OriginsInUse(alice), origins)
    (found,) = remains.items(alice)
    assert found.kind == "origins"
    remains.delete(alice, [found.sort_key])
    assert store.usage.origins(alice).revision == 0
