"""ring_webhooks: stream records in, doorbells out, failures told record by record (cases G15, G16)."""

from __future__ import annotations

from typing import Any

from builders.events import LambdaContext, stream_event, stream_of
from builders.records import a_ref, a_webhook, artifact_entry, message_entry, run_entry, status_entry
from fakes.clock import FakeClock
from fakes.store import FakeWebhooks, World, log_sk
from fakes.world import FakeDoorbells
from herald.delivery.ring import Ringer
from herald.entrypoints.ring_webhooks import handler_for
from herald.ports import Unavailable, UnreadableWebhooks
from herald.records import Entry, TaskRef

OTHER = a_ref("other")


class Here:
    def __init__(self) -> None:
        clock = FakeClock()
        self.world = World(clock)
        self.webhooks = FakeWebhooks(self.world)
        self.doorbells = FakeDoorbells(clock)
        self.handler = handler_for(Ringer(self.webhooks, self.doorbells))
        self.webhooks.put(a_webhook("a", key="a" * 26))
        self.webhooks.put(a_webhook("b", key="b" * 26, ref=OTHER))

    def store(self, *entries: Entry, ref: TaskRef | None = None) -> None:
        for entry in entries:
            self.world.write(ref or a_ref(), log_sk(entry.number), entry, 10**10)

    def event(self) -> dict[str, Any]:
        return stream_of(self.world.changes())

    def call(self, event: dict[str, Any] | None = None) -> list[str]:
        answer = self.handler(event or self.event(), LambdaContext())  # type: ignore[arg-type]
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    @property
    def rung(self) -> list[str]:
        return [ring.dedup for ring in self.doorbells.rings]


def test_status_and_artifact_entries_of_a_task_ring_once_for_the_highest() -> None:
    here = Here()
    here.store(message_entry(0), run_entry(1), status_entry(2), artifact_entry(3))
    here.store(status_entry(1), ref=OTHER)

    assert here.call() == []

    assert here.rung == ["a" * 26 + "-3", "b" * 26 + "-1"]
    assert here.webhooks.calls["list"] == 2
    assert here.doorbells.calls["ring"] == 1


def test_messages_runs_and_removals_ring_nobody() -> None:
    here = Here()
    here.store(message_entry(0), run_entry(1))
    here.webhooks.delete(a_ref(), "a")

    assert here.call() == []
    assert here.rung == []


def test_a_webhook_image_rings_where_its_snapshot_is_due() -> None:
    here = Here()
    here.webhooks.put(a_webhook("c", key="c" * 26, snapshot=4, cursor=4, snapshot_due=True))

    assert here.call() == []

    assert here.rung == ["c" * 26 + "-4"]


def test_a_record_that_cannot_be_read_is_told_and_keeps_no_other_from_being_rung() -> None:
    here = Here()
    here.store(status_entry(1))
    records = here.event()["Records"]
    broken = {**records[-1], "dynamodb": {"SequenceNumber": "7", "NewImage": {"pk": {"S": "x"}, "sk": {"S": "LOG#1"}}}}

    assert here.call(stream_event([broken, *records])) == ["7"]

    assert here.rung == ["a" * 26 + "-1"]


def test_a_task_whose_webhooks_cannot_be_read_is_told_and_the_others_are_rung() -> None:
    here = Here()
    here.store(status_entry(1), status_entry(2))
    here.store(status_entry(1), ref=OTHER)
    here.webhooks.fail_next("list", Unavailable("Query"))

    event = here.event()
    failed = here.call(event)

    numbers = [record["dynamodb"]["SequenceNumber"] for record in event["Records"]]
    assert failed == numbers[2:4]
    assert here.rung == ["b" * 26 + "-1"]


def test_a_webhook_that_cannot_be_read_is_told_and_the_others_of_its_task_are_rung() -> None:
    here = Here()
    here.store(status_entry(1))
    here.store(status_entry(1), ref=OTHER)
    here.webhooks.fail_next("list", UnreadableWebhooks("PUSH#imported", [a_webhook("a", key="a" * 26)]))

    event = here.event()
    failed = here.call(event)

    assert failed == [event["Records"][2]["dynamodb"]["SequenceNumber"]]
    assert here.rung == ["a" * 26 + "-1", "b" * 26 + "-1"]


def test_g15_doorbells_that_cannot_be_rung_fail_every_record_that_needs_one() -> None:
    here = Here()
    here.store(message_entry(0), status_entry(1))
    here.store(status_entry(1), ref=OTHER)
    here.doorbells.fail_next("ring", Unavailable("SendMessageBatch"))

    event = here.event()

    assert here.call(event) == [record["dynamodb"]["SequenceNumber"] for record in event["Records"][3:]]
    assert here.call(event) == []
    assert len(here.rung) == 2


def test_a_batch_that_comes_twice_queues_each_doorbell_once() -> None:
    here = Here()
    here.store(status_entry(1))

    here.call()
    here.call()

    assert len(here.rung) == 2
    assert len(here.doorbells.queue) == 1


def test_an_entry_over_the_remains_of_an_expired_task_rings() -> None:
    """An expired item may lie about for days; what is put over it is a MODIFY to the stream."""
    here = Here()
    here.store(status_entry(1))
    event = here.event()
    for record in event["Records"]:
        record["eventName"] = "MODIFY"

    assert here.call(event) == []

    assert here.rung == ["a" * 26 + "-1"]
