"""What the DynamoDB adapter does that its port doesn't show: items, requests, refusals; on moto, faults injected."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError
from botocore.response import StreamingBody
from botocore.session import Session
from moto.core.models import botocore_stubber

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
from builders.stores import BUCKET, TABLE, Store
from fakes.clock import START, FakeClock
from herald.adapters.aws import AwsClients
from herald.adapters.dynamodb import items, keys
from herald.adapters.dynamodb.items import ItemTooLarge
from herald.adapters.dynamodb.log import DynamoTaskLog
from herald.adapters.s3 import S3Bodies
from herald.ports import Unavailable, UnreadableWebhooks
from herald.protocol.states import TaskState
from herald.records import WebhookState

REF = a_ref()
PK = "TASK#acme#alice#mfrggzdfmztwq2lknnwg23tpoa"


def stored(aws: AwsClients) -> dict[str, dict[str, Any]]:
    """The table's items by sort key."""
    return {item["sk"]["S"]: dict(item) for item in aws.dynamodb.scan(TableName=TABLE)["Items"]}


class Wire:
    """Watches a client's requests, and answers some of them in the service's place."""

    def __init__(self, client: Any) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._planned: dict[str, list[Callable[[Any], AWSResponse | None]]] = {}
        client.meta.events.register_first("before-send.*.*", self._send)

    def _send(self, request: Any, event_name: str, **_: Any) -> AWSResponse | None:
        operation = event_name.rpartition(".")[2]
        self.requests.append((operation, json.loads(request.body) if request.body else {}))
        planned = self._planned.get(operation)
        botocore_stubber.enabled = not planned  # moto would carry out what is answered here
        return planned.pop(0)(request) if planned else None

    def of(self, operation: str) -> list[dict[str, Any]]:
        return [body for name, body in self.requests if name == operation]

    def answer(self, operation: str, status: int, body: dict[str, Any], times: int = 1) -> None:
        self._planned.setdefault(operation, []).extend([lambda request: _response(request, status, body)] * times)

    def fail(self, operation: str, error: Exception, times: int = 1) -> None:
        def raise_it(_: Any) -> AWSResponse:
            raise error

        self._planned.setdefault(operation, []).extend([raise_it] * times)

    def refuse(self, operation: str, code: str, message: str = "", times: int = 1, *reasons: str) -> None:
        """Answer with an error; ``reasons`` are the codes of a transaction's items."""
        body: dict[str, Any] = {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": message}
        if reasons:
            body["CancellationReasons"] = [{"Code": reason} for reason in reasons]
        self.answer(operation, 400, body, times)


def _response(request: Any, status: int, body: dict[str, Any]) -> AWSResponse:
    return _answer(request, status, json.dumps(body).encode())


def _answer(request: Any, status: int, raw: bytes) -> AWSResponse:
    class Raw:
        def stream(self, **_: Any) -> Any:
            yield raw

    headers: Any = {"content-type": "application/x-amz-json-1.0"}
    return AWSResponse(request.url, status, headers, Raw())


@pytest.fixture
def wire(dynamo: Store, aws: AwsClients) -> Wire:
    return Wire(aws.dynamodb)


def test_a_created_task_lies_in_the_table_as_written_down(dynamo: Store, aws: AwsClients) -> None:
    assert dynamo.log.create(
        a_header(context_id="c 1", ref=REF), message_entry(), a_webhook("a/b", snapshot_due=True, due_at=START)
    )
    found = stored(aws)
    assert found["TASK"] == {
        "pk": {"S": PK},
        "sk": {"S": "TASK"},
        "v": {"N": "1"},
        "expiresAt": {"N": "1772409600"},
        "taskId": {"S": "mfrggzdfmztwq2lknnwg23tpoa"},
        "state": {"S": "TASK_STATE_SUBMITTED"},
        "contextId": {"S": "c 1"},
        "statusAt": {"N": "1767225600000"},
        "statusNumber": {"N": "-1"},
        "turn": {"N": "0"},
        "openedAt": {"N": "1767225600000"},
        "run": {"N": "-1"},
        "end": {"N": "0"},
        "createdAt": {"N": "1767225600000"},
        "endBy": {"N": "1769817600000"},
        "ownerKey": {"S": "acme#alice#0"},
        "contextKey": {"S": "acme#alice#c%201"},
        "listKey": {"S": "2026-01-01T00:00:00.000Z#mfrggzdfmztwq2lknnwg23tpoa"},
        "openKey": {"S": "75h4gusulvl3fhhnkckskjyln4"},
        "sendHash": {"S": "5e" * 32},
        "dueShard": {"S": "03"},
        "dueAt": {"N": "1767225660000"},
    }
    assert found["LOG#000000000000"] == {
        "pk": {"S": PK},
        "sk": {"S": "LOG#000000000000"},
        "v": {"N": "1"},
        "expiresAt": {"N": "1772409600"},
        "kind": {"S": "message"},
        "body": {"S": '{"message":{"contextId":"ctx-1","messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}'},
        "at": {"N": "1767225600000"},
        "writer": {"S": "w0"},
        "turn": {"N": "0"},
        "opens": {"S": "turn"},
    }
    assert found["PUSH#a%2Fb"] == {
        "pk": {"S": PK},
        "sk": {"S": "PUSH#a%2Fb"},
        "v": {"N": "1"},
        "expiresAt": {"N": "1772409600"},
        "key": {"S": "kaaaaaaaaaaaaaaaaaaaaaaaaa"},
        "createdAt": {"N": "1767225600000"},
        "url": {"S": "https://client.example/hook"},
        "cursor": {"N": "0"},
        "state": {"S": "active"},
        "snapshotNumber": {"N": "0"},
        "snapshot": {"S": "due"},
        "wire": {"S": "1.0"},
        "dueAt": {"N": "1767225600000"},
        "dueShard": {"S": "03"},
    }
    assert len(found) == 3


@pytest.mark.parametrize("lacks", ["expiresAt", "state", "cursor"])
def test_a_webhook_that_cannot_be_read_hides_no_other(dynamo: Store, aws: AwsClients, lacks: str) -> None:
    one, other = a_webhook("a"), a_webhook("c")
    dynamo.webhooks.put(one)
    dynamo.webhooks.put(other)
    foreign = {**items.webhook_item(a_webhook("b"))}
    del foreign[lacks]
    aws.dynamodb.put_item(TableName=TABLE, Item=foreign)

    with pytest.raises(UnreadableWebhooks, match=f"PUSH#b: .*{lacks}") as told:
        dynamo.webhooks.list(REF)
    assert told.value.readable == [one, other]


def test_what_is_no_longer_due_leaves_the_due_index(dynamo: Store, aws: AwsClients) -> None:
    header, webhook = a_header(due_at=START), a_webhook(snapshot_due=True, due_at=START)
    dynamo.log.create(header, message_entry(), webhook)
    done = status_entry(1, TaskState.COMPLETED)

    assert dynamo.log.commit(header, header.with_status(done, due_at=None), [done])
    assert dynamo.webhooks.update(webhook, replace(webhook, due_at=None, snapshot_due=False))

    for sk in ("TASK", "PUSH#cfg-1"):
        assert not stored(aws)[sk].keys() & {"dueAt", "dueShard", "snapshot"}


def test_a_status_moves_the_task_in_its_listings_and_leaves_its_shard(dynamo: Store, aws: AwsClients) -> None:
    clock = FakeClock()
    sharded = DynamoTaskLog(lambda: aws.dynamodb, TABLE, S3Bodies(lambda: aws.s3, BUCKET), clock, owner_shards=64)
    header = a_header()
    assert sharded.create(header, message_entry(), None)
    before = stored(aws)["TASK"]["ownerKey"]
    assert before != {"S": "acme#alice#0"}
    working = status_entry(1, at=START + 1_002)

    assert dynamo.log.commit(header, header.with_status(working, due_at=None), [working])  # knows of one shard only

    assert stored(aws)["TASK"]["ownerKey"] == before
    assert stored(aws)["TASK"]["listKey"] == {"S": "2026-01-01T00:00:01.002Z#mfrggzdfmztwq2lknnwg23tpoa"}


def test_a_large_body_is_in_the_bucket_before_its_item_is_written(dynamo: Store, aws: AwsClients, wire: Wire) -> None:
    text = "x" * 301_000
    dynamo.log.create(a_header(), message_entry(), None)
    there: list[str] = []
    aws.dynamodb.meta.events.register_first(
        "before-send.dynamodb.PutItem",
        lambda **_: there.extend(o["Key"] for o in aws.s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])),
    )

    chunk = artifact_entry(1, text, writer="wx")
    assert dynamo.log.put(REF, chunk, a_header().expires_second)

    assert there == [f"bodies/{PK}/1-wx"]
    item = stored(aws)["LOG#000000000001"]
    assert item["bodyKey"] == {"S": there[0]}
    assert "body" not in item
    kept = aws.s3.get_object(Bucket=BUCKET, Key=there[0])
    assert kept["Body"].read().decode() == chunk.body
    assert kept["ResponseMetadata"]["HTTPHeaders"]["expires"] == "Mon, 02 Mar 2026 00:00:00 GMT"


def test_the_loser_of_a_number_does_not_overwrite_the_winners_large_body(dynamo: Store) -> None:
    dynamo.log.create(a_header(), message_entry(), None)
    first, second = (artifact_entry(1, letter * 301_000, writer=letter) for letter in "ab")
    assert dynamo.log.put(REF, first, a_header().expires_second)
    assert not dynamo.log.put(REF, second, a_header().expires_second)
    assert dynamo.log.read(REF, after=0) == [first]


def test_a_body_that_is_lost_is_not_taken_for_an_empty_one(dynamo: Store, aws: AwsClients) -> None:
    dynamo.log.create(a_header(), message_entry(message=a_message("x" * 301_000)), None)
    aws.s3.delete_object(Bucket=BUCKET, Key=f"bodies/{PK}/0-w0")
    with pytest.raises(Unavailable, match="isn't in the bucket"):
        dynamo.log.read(REF)


def test_an_artifact_in_the_bucket_is_not_fetched_where_nobody_wants_it(dynamo: Store, aws: AwsClients) -> None:
    dynamo.log.create(a_header(), message_entry(), None)
    chunk = artifact_entry(1, "x" * 301_000, writer="wx")
    assert dynamo.log.put(REF, chunk, a_header().expires_second)
    aws.s3.delete_object(Bucket=BUCKET, Key=f"bodies/{PK}/1-wx")

    assert dynamo.log.read(REF, after=0, artifacts=False) == [replace(chunk, body="")]


def test_a_body_that_a_role_without_the_right_to_list_cannot_find_is_unavailable(
    dynamo: Store, aws: AwsClients
) -> None:
    """S3 tells nobody who may not list a bucket that a key isn't there: it denies access."""
    dynamo.log.create(a_header(), message_entry(message=a_message("x" * 301_000)), None)
    denied = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
    events: Any = aws.s3.meta.events
    events.register_first("before-send.s3.GetObject", lambda request, **_: _answer(request, 403, denied))
    with pytest.raises(Unavailable, match="isn't in the bucket"):
        dynamo.log.read(REF)


def test_a_body_that_is_cut_off_on_its_way_is_unavailable(dynamo: Store, aws: AwsClients) -> None:
    dynamo.log.create(a_header(), message_entry(message=a_message("x" * 301_000)), None)

    def cut_off(parsed: dict[str, Any], **_: Any) -> None:
        parsed["Body"] = StreamingBody(io.BytesIO(b"{"), 301_000)

    aws.s3.meta.events.register("after-call.s3.GetObject", cut_off)
    with pytest.raises(Unavailable, match="IncompleteReadError"):
        dynamo.log.read(REF)


def test_g5_an_item_above_400_kb_is_refused_by_us(dynamo: Store, wire: Wire) -> None:
    with pytest.raises(ItemTooLarge, match=r"PUSH#cfg-1 has 4\d{5} bytes; DynamoDB takes 409600 at most"):
        dynamo.webhooks.put(a_webhook(url="https://x.example/" + "é" * 204_800))
    assert wire.requests == []
    dynamo.webhooks.put(a_webhook(url="https://x.example/" + "y" * 400_000))


def test_g6_no_key_is_empty_or_too_long(dynamo: Store, aws: AwsClients) -> None:
    nobody = a_header(ref=replace(REF, tenant="", owner=""), context_id="")
    assert dynamo.log.create(nobody, message_entry(), None)
    assert dynamo.log.header(nobody.ref) == nobody
    with pytest.raises(ItemTooLarge, match=r"contextKey has 20\d\d bytes of UTF-8; a key takes 2048 at most"):
        dynamo.log.create(a_header(context_id="c" * 2040), message_entry(), None)
    with pytest.raises(ItemTooLarge, match=r"sk has 10\d\d bytes of UTF-8; a key takes 1024 at most"):
        dynamo.webhooks.put(a_webhook("c" * 1020))


def test_g7_a_refused_transaction_streams_nothing(dynamo: Store, aws: AwsClients) -> None:
    header = a_header()
    assert dynamo.log.create(header, message_entry(), None)
    assert not dynamo.log.create(header, message_entry(), a_webhook())
    assert not dynamo.log.commit(header, replace(header, turn=1), [run_entry(1), message_entry(0)])

    streams: Any = Session().create_client("dynamodbstreams")
    arn = aws.dynamodb.describe_table(TableName=TABLE)["Table"]["LatestStreamArn"]
    shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    start = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    records = streams.get_records(ShardIterator=start["ShardIterator"])["Records"]
    assert [(r["eventName"], r["dynamodb"]["NewImage"]["sk"]["S"]) for r in records] == [
        ("INSERT", "TASK"),
        ("INSERT", "LOG#000000000000"),
    ]


COMMIT_REFUSED = [("ConditionalCheckFailed", "None"), ("None", "TransactionConflict")]


@pytest.mark.parametrize("reasons", COMMIT_REFUSED, ids=["condition", "conflict"])
def test_g9_a_canceled_commit_says_no(dynamo: Store, wire: Wire, reasons: tuple[str, str]) -> None:
    wire.refuse("TransactWriteItems", "TransactionCanceledException", "canceled", 1, *reasons)
    header, entry = a_header(), status_entry(1)
    assert not dynamo.log.commit(header, header.with_status(entry, due_at=None), [entry])
    assert len(wire.of("TransactWriteItems")) == 1


@pytest.mark.parametrize("reason", ["ThrottlingError", "ProvisionedThroughputExceeded", "TransactionConflict"])
def test_g9_a_creation_that_was_canceled_for_no_condition_is_tried_again(
    dynamo: Store, wire: Wire, clock: FakeClock, reason: str
) -> None:
    wire.refuse("TransactWriteItems", "TransactionCanceledException", "canceled", 2, "None", reason)
    assert dynamo.log.create(a_header(), message_entry(), None)
    tries = wire.of("TransactWriteItems")
    assert len(tries) == 3
    assert len({each["ClientRequestToken"] for each in tries}) == 1
    assert len(clock.slept) == 2
    assert sum(clock.slept) < 0.5


def test_g9_throttling_that_stays_is_unavailable(dynamo: Store, wire: Wire) -> None:
    wire.refuse("TransactWriteItems", "TransactionCanceledException", "canceled", 9, "ThrottlingError")
    header, entry = a_header(), status_entry(1)
    with pytest.raises(Unavailable, match="ThrottlingError"):
        dynamo.log.commit(header, header.with_status(entry, due_at=None), [entry])
    assert len(wire.of("TransactWriteItems")) == 4


def test_g9_a_condition_counts_before_a_conflict(dynamo: Store, wire: Wire) -> None:
    wire.refuse(
        "TransactWriteItems", "TransactionCanceledException", "", 1, "TransactionConflict", "ConditionalCheckFailed"
    )
    assert not dynamo.log.create(a_header(), message_entry(), None)


@pytest.mark.parametrize(
    ("code", "reasons"), [("ValidationException", ()), ("TransactionCanceledException", ("ValidationError",))]
)
def test_g9_what_dynamodb_finds_invalid_is_raised_as_that(
    dynamo: Store, wire: Wire, code: str, reasons: tuple[str, ...]
) -> None:
    wire.refuse("TransactWriteItems", code, "One or more parameter values were invalid", 1, *reasons)
    with pytest.raises(ValueError, match="TransactWriteItems: One or more parameter values were invalid"):
        dynamo.log.create(a_header(), message_entry(), None)


def test_a_size_that_dynamodb_refuses_is_raised_as_that(dynamo: Store, wire: Wire) -> None:
    wire.refuse("PutItem", "ValidationException", "Item size has exceeded the maximum allowed size")
    with pytest.raises(ItemTooLarge, match="Item size has exceeded"):
        dynamo.log.put(REF, artifact_entry(1), a_header().expires_second)


def test_a_put_in_conflict_with_a_transaction_is_refused(dynamo: Store, wire: Wire) -> None:
    wire.refuse("PutItem", "TransactionConflictException")
    assert not dynamo.log.put(REF, artifact_entry(1), a_header().expires_second)


def test_a_missing_permission_is_neither_no_nor_unavailable(dynamo: Store, wire: Wire) -> None:
    wire.refuse("PutItem", "AccessDeniedException")
    with pytest.raises(ClientError, match="AccessDenied"):
        dynamo.log.put(REF, artifact_entry(1), a_header().expires_second)


FAILURES: list[Exception] = [
    ReadTimeoutError(endpoint_url="https://dynamodb"),
    ConnectTimeoutError(endpoint_url="https://dynamodb"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_a_table_that_does_not_answer_is_unavailable_after_three_attempts(
    dynamo: Store, wire: Wire, failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    wire.fail("GetItem", failure, times=9)
    with pytest.raises(Unavailable, match=type(failure).__name__):
        dynamo.log.header(REF)
    assert len(wire.of("GetItem")) == 3


def test_a_throttled_table_is_unavailable_after_three_attempts(
    dynamo: Store, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    wire.refuse("Query", "ThrottlingException", times=9)
    with pytest.raises(Unavailable, match="Query: ThrottlingException"):
        dynamo.log.read(REF)
    assert len(wire.of("Query")) == 3


def page(*numbers: int) -> dict[str, Any]:
    written = [items.entry_item(PK, artifact_entry(number), a_header().expires_second) for number in numbers]
    return {"Items": written, "Count": len(written), "ScannedCount": len(written)}


def test_invariant_4_a_page_with_a_gap_is_read_again_from_the_gap(dynamo: Store, wire: Wire) -> None:
    wire.answer("Query", 200, page(6, 8))
    wire.answer("Query", 200, page(7, 8))
    assert [entry.number for entry in dynamo.log.read(REF, after=5)] == [6, 7, 8]
    first, second = wire.of("Query")
    assert first["ExpressionAttributeValues"][":from"] == {"S": "LOG#000000000006"}
    assert second["ExpressionAttributeValues"][":from"] == {"S": "LOG#000000000007"}
    assert first["ConsistentRead"] is second["ConsistentRead"] is True


def test_invariant_4_what_lies_beyond_a_gap_that_stays_is_left_out(dynamo: Store, wire: Wire) -> None:
    wire.answer("Query", 200, page(6, 8, 9))
    wire.answer("Query", 200, page(8, 9))
    assert [entry.number for entry in dynamo.log.read(REF, after=5)] == [6]


def test_an_update_sends_what_differs_and_nothing_else(dynamo: Store, wire: Wire) -> None:
    webhook = a_webhook(reason="why", failures=2, state=WebhookState.FAILING)
    dynamo.webhooks.put(webhook)
    assert dynamo.webhooks.update(webhook, replace(webhook, cursor=1, reason="", delivered=1))
    [sent] = wire.of("UpdateItem")
    assert sent["UpdateExpression"] == "SET #cursor = :new_cursor, #delivered = :new_delivered REMOVE #reason"
    assert sent["ConditionExpression"] == (
        "#key = :key AND #cursor = :cursor AND expiresAt > :now AND attribute_not_exists(#snapshot)"
    )


def units(item: dict[str, Any]) -> int:
    """The write units of an item: one for each 1 KB begun."""
    size = sum(len(name) + len(next(iter(value.values())).encode()) for name, value in item.items())
    return -(-size // 1024)


def test_invariant_10_the_1000th_chunk_costs_what_the_10th_costs(dynamo: Store, wire: Wire) -> None:
    header = a_header()
    assert dynamo.log.create(header, message_entry(), None)
    cost: dict[int, tuple[int, int]] = {}
    for number in range(1, 1001):
        wire.requests.clear()
        chunk = artifact_entry(number, "x" * 700, append=True, at=START + number)
        assert dynamo.log.put(REF, chunk, header.expires_second)
        cost[number] = len(wire.requests), sum(units(sent["Item"]) for sent in wire.of("PutItem"))
    assert cost[10] == cost[1000] == (1, 1)


def test_an_entry_from_a_stream_image_comes_without_a_body_that_lies_in_the_bucket() -> None:
    whole, pointed = artifact_entry(4, at=START, traceparent="00-a-b-01"), status_entry(5, TaskState.FAILED, run=3)
    assert items.entry_from_image(items.entry_item(PK, whole, 99)) == whole
    assert items.entry_from_image(items.entry_item(PK, pointed, 99, "bodies/x")) == replace(pointed, body="")


@pytest.mark.parametrize("key", ["", "TASK#a#b", "TASK#a#b#c#d", "LOG#a#b#c"])
def test_a_foreign_partition_key_names_no_task(key: str) -> None:
    with pytest.raises(ValueError, match="not a task's partition key"):
        keys.ref_from_pk(key)
