"""The faults that the fakes can be told to have: a fault that doesn't happen would make a test pass for nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders.events import queue_event, stream_of
from builders.records import a_header, a_ref, a_webhook, artifact_entry, message_entry
from fakes.clock import START, FakeClock, SequentialIds
from fakes.store import FakeTaskLog, FakeWebhooks, World
from fakes.world import FakeDoorbells, FakeTransport, answer
from herald.adapters.dynamodb.items import entry_from_image, webhook_from_image
from herald.adapters.dynamodb.keys import ref_from_pk
from herald.adapters.sqs import doorbell_from_body
from herald.ports import Ring, TransportFailure, Unavailable
from herald.records import Doorbell

REF = a_ref()
HEADER = a_header()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def log(world: World) -> FakeTaskLog:
    found = FakeTaskLog(world)
    assert found.create(HEADER, message_entry(), a_webhook())
    return found


def test_a_call_fails_before_or_after_its_effect_and_only_once(log: FakeTaskLog) -> None:
    log.fail_next("put", Unavailable("x"))
    with pytest.raises(Unavailable):
        log.put(REF, artifact_entry(1), HEADER.expires_second)
    assert log.read(REF, after=0) == []
    log.fail_next("put", Unavailable("x"), after_effect=True)
    with pytest.raises(Unavailable):
        log.put(REF, artifact_entry(1), HEADER.expires_second)
    assert log.read(REF, after=0) == [artifact_entry(1)]
    assert log.put(REF, artifact_entry(2), HEADER.expires_second)
    assert log.calls["put"] == 3


def test_a_lost_answer_says_no_although_it_is_written(log: FakeTaskLog) -> None:
    log.lose_answer_next("put")
    assert not log.put(REF, artifact_entry(1), HEADER.expires_second)
    assert log.read(REF, after=0) == [artifact_entry(1)]


def test_somebody_else_slips_in_before_a_call(log: FakeTaskLog) -> None:
    log.before_next("put", lambda: log.put(REF, artifact_entry(1, writer="other"), HEADER.expires_second))
    assert not log.put(REF, artifact_entry(1), HEADER.expires_second)
    assert [entry.writer for entry in log.read(REF, after=0)] == ["other"]


def test_a_fault_of_a_method_that_is_not_there_is_a_mistake(log: FakeTaskLog) -> None:
    with pytest.raises(TypeError, match="has no method 'append'"):
        log.fail_next("append", Unavailable("x"))


def test_a_hidden_entry_is_a_gap_that_a_second_page_closes_or_not(log: FakeTaskLog) -> None:
    for number in (1, 2, 3):
        log.put(REF, artifact_entry(number), HEADER.expires_second)
    log.hide_next(REF, 2)
    assert [entry.number for entry in log.read(REF)] == [0, 1, 2, 3]
    log.hide_next(REF, 2, pages=2)
    assert [entry.number for entry in log.read(REF)] == [0, 1]
    assert [entry.number for entry in log.read(REF)] == [0, 1, 2, 3]


def test_a_stale_read_shows_what_was_there_before(world: World, log: FakeTaskLog) -> None:
    webhooks = FakeWebhooks(world)
    webhooks.update(a_webhook(), a_webhook(cursor=1))
    webhooks.stale_next("get")
    assert webhooks.get(REF, "cfg-1") == a_webhook()
    assert webhooks.get(REF, "cfg-1") == a_webhook(cursor=1)
    webhooks.delete(REF, "cfg-1")
    webhooks.stale_next("get")
    assert webhooks.get(REF, "cfg-1") == a_webhook(cursor=1)


def test_the_stream_shows_each_change_as_dynamodb_would(world: World, log: FakeTaskLog) -> None:
    webhooks = FakeWebhooks(world)
    since = len(world.stream)
    log.put(REF, artifact_entry(1), HEADER.expires_second)
    webhooks.update(a_webhook(), a_webhook(cursor=1))
    webhooks.update(a_webhook(cursor=1), a_webhook(cursor=1))  # changes nothing, streams nothing
    webhooks.delete(REF, "cfg-1")

    put, update, delete = stream_of(world.changes(since))["Records"]

    assert [r["eventName"] for r in (put, update, delete)] == ["INSERT", "MODIFY", "REMOVE"]
    assert entry_from_image(put["dynamodb"]["NewImage"]) == artifact_entry(1)
    assert ref_from_pk(put["dynamodb"]["Keys"]["pk"]["S"]) == REF
    assert webhook_from_image(update["dynamodb"]["NewImage"]) == a_webhook(cursor=1)
    assert "NewImage" not in delete["dynamodb"]


def test_a_doorbell_gets_lost_or_arrives_twice() -> None:
    doorbells = FakeDoorbells(FakeClock())
    bell = Doorbell(REF, "c", "k")
    doorbells.lose_next()
    doorbells.ring([Ring(bell, "1")])
    assert doorbells.receive() is None
    doorbells.double_next()
    doorbells.ring([Ring(bell, "2")])
    assert len(doorbells.queue) == 2
    assert len(doorbells.rings) == 2


def test_a_hidden_doorbell_comes_back_when_its_time_has_come() -> None:
    clock = FakeClock()
    doorbells = FakeDoorbells(clock)
    doorbells.ring([Ring(Doorbell(REF, "c", "k"), "1")])
    received = doorbells.receive()
    assert received is not None
    doorbells.hide(received.receipt, 30)
    clock.advance(29.9)
    assert doorbells.receive() is None
    clock.advance(0.1)
    again = doorbells.receive()
    assert again is not None
    assert again.receives == 2


def test_receivers_reply_as_scripted_and_then_with_200() -> None:
    transport = FakeTransport()
    url = "https://a.example/"
    transport.script(url, 500, answer(429, retry_after="7"), TransportFailure("read_timeout"))
    statuses = [transport.post(url, "192.0.2.1", {}, b"{}", 15).status for _ in range(2)]
    with pytest.raises(TransportFailure):
        transport.post(url, "192.0.2.1", {}, b"{}", 15)
    assert [*statuses, transport.post(url, "192.0.2.1", {}, b"{}", 15).status] == [500, 429, 200]
    assert len(transport.to(url)) == 4


def test_time_moves_when_somebody_sleeps_and_names_follow_each_other() -> None:
    clock, ids = FakeClock(), SequentialIds()
    clock.sleep(1.5)
    assert clock.now() == START + 1_500
    names = [ids.token() for _ in range(3)]
    assert len(set(names)) == 3
    assert {len(name) for name in names} == {26}


def test_a_queue_event_carries_doorbells() -> None:
    bell = Doorbell(REF, "c", "k")
    event = queue_event(bell, "rubbish")
    assert doorbell_from_body(event["Records"][0]["body"]) == bell
    assert event["Records"][1]["body"] == "rubbish"
    assert replace(bell, key="z") != bell
