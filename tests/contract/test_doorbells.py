"""Doorbells: what every implementation must do, and how SQS is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from builders.records import a_ref
from fakes.clock import FakeClock, token
from fakes.world import FakeDoorbells
from herald.adapters.aws import AwsClients
from herald.adapters.sqs import SqsDoorbells, body_of, doorbell_from_body
from herald.ports import Doorbells, Ring, Unavailable
from herald.records import Doorbell

REF = a_ref()


def ring(webhook: int, number: int) -> Ring:
    key = token(webhook)
    return Ring(Doorbell(REF, f"cfg-{webhook}", key), f"{key}-{number}")


class Queue(Protocol):
    """The receiving end."""

    def receive(self) -> tuple[Doorbell, str] | None: ...

    def acknowledge(self, receipt: str) -> None: ...


@dataclass
class Fixture:
    doorbells: Doorbells
    queue: Queue

    def drain(self) -> list[Doorbell]:
        found = []
        while (received := self.queue.receive()) is not None:
            found.append(received[0])
            self.queue.acknowledge(received[1])
        return found


class _FakeQueue:
    def __init__(self, doorbells: FakeDoorbells) -> None:
        self._doorbells = doorbells

    def receive(self) -> tuple[Doorbell, str] | None:
        queued = self._doorbells.receive()
        return None if queued is None else (queued.doorbell, queued.receipt)

    def acknowledge(self, receipt: str) -> None:
        self._doorbells.acknowledge(receipt)


class _SqsQueue:
    def __init__(self, client: Any, url: str) -> None:
        self._client = client
        self._url = url

    def receive(self) -> tuple[Doorbell, str] | None:
        found = self._client.receive_message(QueueUrl=self._url, MaxNumberOfMessages=1).get("Messages", [])
        return (doorbell_from_body(found[0]["Body"]), found[0]["ReceiptHandle"]) if found else None

    def acknowledge(self, receipt: str) -> None:
        self._client.delete_message(QueueUrl=self._url, ReceiptHandle=receipt)


@pytest.fixture
def queue_url(aws: AwsClients) -> str:
    made = aws.sqs.create_queue(
        QueueName="doorbells.fifo",
        Attributes={
            "FifoQueue": "true",
            "VisibilityTimeout": "180",
            "DeduplicationScope": "messageGroup",
            "FifoThroughputLimit": "perMessageGroupId",
        },
    )
    return made["QueueUrl"]


@pytest.fixture(params=["fake", "sqs"])
def bells(request: pytest.FixtureRequest, clock: FakeClock) -> Iterator[Fixture]:
    if request.param == "fake":
        fake = FakeDoorbells(clock)
        yield Fixture(fake, _FakeQueue(fake))
        return
    aws: AwsClients = request.getfixturevalue("aws")
    url: str = request.getfixturevalue("queue_url")
    yield Fixture(SqsDoorbells(lambda: aws.sqs, url, clock), _SqsQueue(aws.sqs, url))


def test_any_number_of_doorbells_arrives(bells: Fixture) -> None:
    rings = [ring(number, 1) for number in range(1, 26)]
    bells.doorbells.ring(rings)
    assert {bell.key for bell in bells.drain()} == {token(number) for number in range(1, 26)}


def test_no_doorbells_is_fine(bells: Fixture) -> None:
    bells.doorbells.ring([])
    assert bells.drain() == []


def test_a_doorbell_says_which_webhook_to_look_at(bells: Fixture) -> None:
    bell = Doorbell(a_ref(tenant="a#b", owner="ö/%"), 'cfg "1"', token(7))
    bells.doorbells.ring([Ring(bell, "d")])
    assert bells.drain() == [bell]


def test_g18_the_same_dedup_rings_once_and_another_one_again(bells: Fixture) -> None:
    bells.doorbells.ring([ring(1, 7)])
    bells.doorbells.ring([ring(1, 7), ring(1, 8)])
    assert len(bells.drain()) == 2


def test_while_one_of_a_group_is_in_flight_others_of_it_wait_and_other_groups_go_on(bells: Fixture) -> None:
    bells.doorbells.ring([ring(1, 1), ring(1, 2), ring(2, 1)])
    first = bells.queue.receive()
    second = bells.queue.receive()
    assert first is not None
    assert second is not None
    assert {first[0].key, second[0].key} == {token(1), token(2)}
    assert bells.queue.receive() is None
    for _, receipt in (first, second):
        bells.queue.acknowledge(receipt)
    third = bells.queue.receive()
    assert third is not None
    assert third[0].key == token(1)


def test_a_hidden_doorbell_keeps_its_group_waiting(bells: Fixture) -> None:
    bells.doorbells.ring([ring(1, 1), ring(1, 2)])
    received = bells.queue.receive()
    assert received is not None
    bells.doorbells.hide(received[1], 600)
    assert bells.queue.receive() is None


def test_a_doorbell_hidden_for_no_time_comes_back(bells: Fixture) -> None:
    bells.doorbells.ring([ring(1, 1)])
    received = bells.queue.receive()
    assert received is not None
    bells.doorbells.hide(received[1], 0)
    again = bells.queue.receive()
    assert again is not None
    assert again[0] == received[0]


class ScriptedSqs:
    """A client whose batches fail as told: for each call, the codes of failures by entry number."""

    def __init__(self, *failures: dict[int, str]) -> None:
        self._failures = list(failures)
        self.batches: list[list[dict[str, Any]]] = []

    def send_message_batch(self, QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.batches.append(Entries)
        failing = self._failures.pop(0) if self._failures else {}
        failed = [
            {"Id": entry["Id"], "Code": failing[int(entry["Id"])], "SenderFault": False}
            for entry in Entries
            if int(entry["Id"]) in failing
        ]
        return {"Successful": [], "Failed": failed}


def scripted(clock: FakeClock, *failures: dict[int, str]) -> tuple[SqsDoorbells, ScriptedSqs]:
    client = ScriptedSqs(*failures)
    return SqsDoorbells(lambda: client, "https://sqs/q.fifo", clock), client  # type: ignore[arg-type, return-value]


def test_doorbells_go_in_tens_grouped_by_key(clock: FakeClock) -> None:
    doorbells, client = scripted(clock)
    doorbells.ring([ring(number, 3) for number in range(1, 24)])
    assert [len(batch) for batch in client.batches] == [10, 10, 3]
    assert client.batches[0][1] == {
        "Id": "1",
        "MessageBody": '{"v":1,"tenant":"acme","owner":"alice","taskId":"mfrggzdfmztwq2lknnwg23tpoa",'
        '"configId":"cfg-2","key":"aaaaaaacaaaaaaaaaaaaaaaaaa"}',
        "MessageGroupId": "aaaaaaacaaaaaaaaaaaaaaaaaa",
        "MessageDeduplicationId": "aaaaaaacaaaaaaaaaaaaaaaaaa-3",
    }


def test_what_a_batch_refuses_is_sent_again_alone(clock: FakeClock) -> None:
    doorbells, client = scripted(clock, {0: "InternalError", 2: "ThrottlingException"}, {2: "InternalError"})
    doorbells.ring([ring(number, 1) for number in range(1, 5)])
    assert [[entry["Id"] for entry in batch] for batch in client.batches] == [["0", "1", "2", "3"], ["0", "2"], ["2"]]
    assert len(clock.slept) == 2


def test_a_doorbell_that_cannot_be_queued_is_unavailable(clock: FakeClock) -> None:
    doorbells, client = scripted(clock, *[{1: "InternalError"}] * 9)
    with pytest.raises(Unavailable, match=r"1 of 2 doorbells weren't queued \(InternalError\)"):
        doorbells.ring([ring(1, 1), ring(2, 1)])
    assert len(client.batches) == 3


def test_hiding_with_a_receipt_that_is_no_longer_good_is_nothing(aws: AwsClients, queue_url: str) -> None:
    doorbells = SqsDoorbells(lambda: aws.sqs, queue_url, FakeClock())
    doorbells.hide("no-such-receipt", 10)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        "{}",
        "not json",
        json.dumps({"tenant": "a", "owner": "b", "taskId": 1, "configId": "c", "key": "k"}),
    ],
)
def test_what_is_no_doorbell_is_refused(body: str) -> None:
    with pytest.raises(ValueError, match="isn't a doorbell"):
        doorbell_from_body(body)


def test_unknown_members_of_a_doorbell_are_ignored() -> None:
    bell = Doorbell(REF, "c", "k")
    assert doorbell_from_body(json.dumps({**json.loads(body_of(bell)), "nonce": "x"})) == bell
