"""The road of a notification through the functions' own handlers: table, stream and queue of moto, a receiver on
loopback that is called over a real socket.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from botocore.session import Session
from moto import mock_aws
from standardwebhooks import Webhook as StandardWebhook

from builders.events import LambdaContext, rest_event, rpc_event, stream_event
from builders.receivers import Receiver, receiver
from builders.stack import create_tasks_table
from builders.stores import AWS_ENVIRONMENT, BUCKET, REGION, TABLE
from herald import bootstrap
from herald.adapters.aws import AwsClients
from herald.entrypoints import api, publish_keys, ring_webhooks, send_webhooks
from herald.log import Appender, status_entry
from herald.protocol.states import TaskState
from herald.records import Entry, Header, TaskRef, Webhook, WebhookState
from herald.webhooks import Notification, verify

CARD = Path(__file__).parents[2] / "layers/agent/python/agent/card.yaml"
SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
OWNER = "AIDAALICE"


@dataclass
class Stack:
    """The functions over moto, and what Lambda does between them."""

    aws: AwsClients
    queue_url: str
    platform: bootstrap.Platform
    streams: Any
    position: str = field(default="")

    def __post_init__(self) -> None:
        self.watch = send_webhooks.DeliveryWatch()
        self.api = api.handler_for(self.platform, CARD)
        self.publish = publish_keys.handler_for(bootstrap.publish_keys(self.platform))
        self.ring = ring_webhooks.handler_for(bootstrap.ring_webhooks(self.platform))
        self.send = send_webhooks.handler_for(bootstrap.send_webhooks(self.platform, self.watch), self.watch)
        arn = self.aws.dynamodb.describe_table(TableName=TABLE)["Table"]["LatestStreamArn"]
        shard = self.streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        start = self.streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
        self.position = start["ShardIterator"]

    def call(self, method: str, params: object) -> Any:
        """The result of a JSON-RPC call."""
        event = rpc_event(method, params, user=f"{OWNER}:session")
        answer = self.api(event, LambdaContext())  # type: ignore[arg-type]
        found = json.loads(answer["body"])
        assert "error" not in found, found
        return found["result"]

    def new_task(self, url: str, **config: Any) -> TaskRef:
        """SendMessage with an inline webhook."""
        message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
        inline = {"id": "cfg", "url": url, **config}
        params = {
            "message": message,
            "configuration": {"returnImmediately": True, "taskPushNotificationConfig": inline},
        }
        return TaskRef("", OWNER, self.call("SendMessage", params)["task"]["id"])

    def append(self, ref: TaskRef, state: TaskState) -> Entry:
        log = self.platform.task_log(TABLE, BUCKET)
        header = log.header(ref)
        assert header is not None
        appender = Appender(log, self.platform.clock, self.platform.ids, header, header.end, lambda _: None)
        now = self.platform.clock.now()

        def after(before: Header, entry: Entry) -> Header:
            return before.with_status(entry, due_at=None)

        return appender.commit(lambda number, writer: status_entry(appender.header, number, writer, state, now), after)

    def webhook(self, ref: TaskRef) -> Webhook:
        found = self.platform.webhooks(TABLE).get(ref, "cfg")
        assert found is not None
        return found

    def pump_stream(self) -> dict[str, Any]:
        """What the stream holds since the last time, to ring_webhooks; its answer."""
        page = self.streams.get_records(ShardIterator=self.position)
        self.position = page["NextShardIterator"]
        answer: dict[str, Any] = self.ring(stream_event(page["Records"]), LambdaContext())  # type: ignore[arg-type]
        return answer

    def queued(self) -> dict[str, Any] | None:
        """The next doorbell as Lambda hands it over."""
        found = self.aws.sqs.receive_message(QueueUrl=self.queue_url, AttributeNames=["All"]).get("Messages", [])
        if not found:
            return None
        message = found[0]
        record = {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": message["Attributes"],
            "eventSource": "aws:sqs",
        }
        return {"Records": [record]}

    def pump_queue(self) -> list[dict[str, Any]]:
        """Answer every doorbell that can be seen; what send_webhooks said to each."""
        answers: list[dict[str, Any]] = []
        while (event := self.queued()) is not None:
            answer: dict[str, Any] = self.send(event, LambdaContext(90))  # type: ignore[arg-type]
            if not answer["batchItemFailures"]:
                record = event["Records"][0]
                self.aws.sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=record["receiptHandle"])
            answers.append(answer)
        return answers

    def pump(self) -> list[dict[str, Any]]:
        assert self.pump_stream() == {"batchItemFailures": []}
        return self.pump_queue()

    def jwks(self) -> dict[str, Any]:
        answer = self.publish(rest_event("GET", "/.well-known/jwks.json"), LambdaContext())  # type: ignore[arg-type]
        found: dict[str, Any] = json.loads(answer["body"])
        return found


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    for name, value in AWS_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with mock_aws():
        yield deployed()


def deployed() -> Stack:
    aws = AwsClients()
    create_tasks_table(aws.dynamodb, TABLE)
    aws.s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    queue_url = aws.sqs.create_queue(
        QueueName="doorbells.fifo", Attributes={"FifoQueue": "true", "VisibilityTimeout": "540"}
    )["QueueUrl"]
    secrets = {
        name: aws.secretsmanager.create_secret(Name=name, SecretString=f"{name} secret")["ARN"]
        for name in ("sealing", "signing")
    }
    environment = {
        "AWS_REGION": REGION,
        "HERALD_TABLE": TABLE,
        "HERALD_BUCKET": BUCKET,
        "HERALD_QUEUE_URL": queue_url,
        "HERALD_STATE_MACHINE_ARN": f"arn:aws:states:{REGION}:123456789012:stateMachine:worker",
        "HERALD_SEALING_SECRET": secrets["sealing"],
        "HERALD_SIGNING_SECRET": secrets["signing"],
        "HERALD_WEBHOOK_ALLOW": "127.0.0.1:*",
    }
    streams = Session().create_client("dynamodbstreams")
    return Stack(aws, queue_url, bootstrap.Platform(environment, aws), streams)


def statuses(*codes: int) -> Callable[[Receiver, socket.socket], None]:
    """Answer these one after the other, then 204."""
    left = list(codes)

    def manners(_: Receiver, connection: socket.socket) -> None:
        code = left.pop(0) if left else 204
        connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % code)

    return manners


def got(here: Receiver, jwks: dict[str, Any]) -> list[Notification]:
    """What a receiver got, each verified against the published keys."""
    found = []
    for request in here.requests:
        head, _, body = request.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
        found.append(verify(body, headers, jwks=jwks))
    return found


def headers_of(request: bytes) -> dict[str, str]:
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}


def test_c13_a_tasks_life_reaches_its_owners_webhook_signed_and_in_order(stack: Stack) -> None:
    with receiver(statuses()) as here:
        authentication = {"scheme": "Bearer", "credentials": "sek"}
        url = f"http://127.0.0.1:{here.port}/hook?x=1"
        ref = stack.new_task(url, token=SECRET, authentication=authentication)
        stack.pump()
        stored = [stack.append(ref, state) for state in (TaskState.WORKING, TaskState.COMPLETED)]
        assert stack.pump() == [{"batchItemFailures": []}]

    notifications = got(here, stack.jwks())
    assert [(one.number, one.kind, one.task_id) for one in notifications] == [
        (0, "task", ref.task_id),
        (1, "statusUpdate", ref.task_id),
        (2, "statusUpdate", ref.task_id),
    ]
    bodies = [request.partition(b"\r\n\r\n")[2] for request in here.requests]
    assert bodies[1:] == [entry.body.encode() for entry in stored]
    for request, body in zip(here.requests, bodies, strict=True):
        headers = headers_of(request)
        StandardWebhook(SECRET).verify(body, headers)
        assert headers["authorization"] == "Bearer sek"
        assert headers["content-type"] == "application/a2a+json"
        assert headers["host"] == f"127.0.0.1:{here.port}"
        assert SECRET not in request.decode()
    webhook = stack.webhook(ref)
    assert (webhook.cursor, webhook.delivered, webhook.state) == (2, 3, WebhookState.ACTIVE)
    assert webhook.due_at is None


def test_c3_a_failure_hides_the_doorbell_and_the_next_attempt_delivers(stack: Stack) -> None:
    with receiver(statuses(500)) as here:
        ref = stack.new_task(f"http://127.0.0.1:{here.port}/")
        assert stack.pump_stream() == {"batchItemFailures": []}
        event = stack.queued()
        assert event is not None
        failed = stack.send(event, LambdaContext(90))  # type: ignore[arg-type]
        assert failed == {"batchItemFailures": [{"itemIdentifier": event["Records"][0]["messageId"]}]}
        assert stack.queued() is None
        webhook = stack.webhook(ref)
        assert (webhook.state, webhook.failures) == (WebhookState.FAILING, 1)
        [attempt] = stack.platform.webhooks(TABLE).attempts(webhook)
        assert (attempt.outcome, attempt.status) == ("http_5xx", 500)

        stack.append(ref, TaskState.WORKING)
        stack.pump()
        assert len(here.requests) == 1  # nobody rings for a failing webhook

        due = replace(webhook, next_attempt_at=0)
        assert stack.platform.webhooks(TABLE).update(webhook, due)  # its time has come
        assert stack.send(event, LambdaContext(90)) == {"batchItemFailures": []}  # type: ignore[arg-type]

    assert [one.number for one in got(here, stack.jwks())] == [0, 0, 1]
    assert stack.webhook(ref).state is WebhookState.ACTIVE


def test_deletion_stops_the_sends(stack: Stack) -> None:
    with receiver(statuses()) as here:
        ref = stack.new_task(f"http://127.0.0.1:{here.port}/")
        stack.pump_stream()
        stack.call("DeleteTaskPushNotificationConfig", {"taskId": ref.task_id, "id": "cfg"})
        stack.append(ref, TaskState.WORKING)
        stack.pump()

    assert here.requests == []


def test_two_webhooks_of_which_one_is_dead_the_other_gets_everything(stack: Stack) -> None:
    with receiver(statuses()) as here:
        ref = stack.new_task("http://127.0.0.1:9/dead")
        config = {"taskId": ref.task_id, "id": "alive", "url": f"http://127.0.0.1:{here.port}/"}
        stack.call("CreateTaskPushNotificationConfig", config)
        stack.pump()
        stack.append(ref, TaskState.WORKING)
        stack.append(ref, TaskState.COMPLETED)
        stack.pump()

    assert [one.number for one in got(here, stack.jwks())] == [0, 1, 2]
    assert stack.webhook(ref).state is WebhookState.FAILING


def test_c6_an_address_that_is_no_longer_allowed_is_blocked_when_it_is_sent_to(stack: Stack) -> None:
    with receiver(statuses()) as here:
        ref = stack.new_task(f"http://127.0.0.1:{here.port}/")
        guarded = bootstrap.Platform({**stack.platform.environ, "HERALD_WEBHOOK_ALLOW": ""}, stack.aws)
        stack.send = send_webhooks.handler_for(bootstrap.send_webhooks(guarded, stack.watch), stack.watch)
        stack.pump()

    assert here.connections == 0
    [attempt] = stack.platform.webhooks(TABLE).attempts(stack.webhook(ref))
    assert (attempt.outcome, attempt.head) == ("ssrf_blocked", "")


def test_c7_a_redirecting_receiver_has_failed(stack: Stack) -> None:
    def redirect(_: Receiver, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 307 X\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n")

    with receiver(redirect) as here:
        ref = stack.new_task(f"http://127.0.0.1:{here.port}/")
        stack.pump()

    [attempt] = stack.platform.webhooks(TABLE).attempts(stack.webhook(ref))
    assert (attempt.outcome, attempt.status) == ("http_3xx", 307)


def test_the_keys_of_a_tenant_are_its_own(stack: Stack) -> None:
    event = rest_event("GET", "/acme/.well-known/jwks.json")
    event["pathParameters"] = {"tenant": "acme"}

    [theirs] = json.loads(stack.publish(event, LambdaContext())["body"])["keys"]  # type: ignore[arg-type]

    assert theirs["x"] != stack.jwks()["keys"][0]["x"]
