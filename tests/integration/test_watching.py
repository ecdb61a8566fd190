"""What an operator sees of a stack: the log lines of one task's road, and the metrics of a bad day.

Everything goes through the functions' own handlers on moto; what they write is read as CloudWatch would read it.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import boto3
import pytest
from moto import mock_aws

from builders.events import LambdaContext, queue_event, rest_event
from builders.issuer import Gate
from builders.metrics import Counted, read
from builders.receivers import receiver
from builders.stack import template
from builders.watching import STACK, of_alarm, of_widget, widgets
from herald import bootstrap
from herald.entrypoints import authorize
from herald.metrics import METRICS
from herald.records import WebhookState
from integration.delivery_scene import Scene, statuses
from integration.pump import MOTO, deployed, load

FUNCTIONS = ("api", "publish_keys", "start_worker", "run_agent", "ring_webhooks", "send_webhooks", "sweep")
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.fixture
def scene() -> Iterator[Scene]:
    environ = {
        "HERALD_WEBHOOK_ALLOW": "127.0.0.1:*",
        "HERALD_AGENT": "builders.agents:Obedient",
        "HERALD_STACK": STACK,
        "HERALD_CARD_KEY": "arn:aws:kms:eu-central-1:123456789012:key/gone",
    }
    with mock_aws(config=MOTO), deployed(environ) as stack:
        for function in FUNCTIONS:
            stack.functions[function] = load(function)
        yield Scene(stack)


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the functions' logger writes."""
    stream = io.StringIO()
    for handler in logging.getLogger("herald").handlers:
        monkeypatch.setattr(handler, "stream", stream)
    return stream


def send(scene: Scene, words: str, url: str, **headers: str) -> str:
    """SendMessage over HTTP+JSON with an inline webhook; the task's id."""
    body = {
        "message": {"messageId": f"m-{words}", "role": "ROLE_USER", "parts": [{"text": words}]},
        "configuration": {"returnImmediately": True, "taskPushNotificationConfig": {"id": "cfg", "url": url}},
    }
    answer = scene.stack.invoke("api", rest_event("POST", "/message:send", body, headers=headers))
    assert answer["statusCode"] == 200, answer
    return str(json.loads(answer["body"])["task"]["id"])


def lines(log: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_one_search_finds_all_that_was_logged_on_a_tasks_road(scene: Scene, log: io.StringIO) -> None:
    with receiver(statuses(503)) as here:
        task_id = send(scene, "work work complete", f"http://127.0.0.1:{here.port}/hook", traceparent=TRACEPARENT)
        scene.stack.pump()

    found = lines(log)
    assert {line["message"] for line in found} == {
        "answered", "turn started", "run ended", "rung", "attempt", "webhook failing",
    }  # fmt: skip
    assert {line["task_id"] for line in found} == {task_id}
    untraced = [line for line in found if "trace_id" not in line]
    assert {line["trace_id"] for line in found if line not in untraced} == {TRACE}
    # A webhook's own image names no trace; what is sent for it does.
    assert [(line["message"], line["number"]) for line in untraced] == [("rung", -1)]


def test_a_clients_trace_reaches_its_receiver_with_every_notification(scene: Scene) -> None:
    with receiver(statuses()) as here:
        send(scene, "work complete", f"http://127.0.0.1:{here.port}/hook", traceparent=TRACEPARENT)
        scene.stack.pump()

    sent = [request.partition(b"\r\n\r\n")[0].decode().lower() for request in here.requests]
    assert len(sent) == 3  # the snapshot, WORKING, COMPLETED
    assert all(f"traceparent: {TRACEPARENT}" in head for head in sent)


def test_a_follow_up_is_another_trace_of_the_same_task(scene: Scene, log: io.StringIO) -> None:
    other = f"00-{'5' * 32}-{'b' * 16}-00"
    with receiver(statuses()) as here:
        task_id = send(scene, "ask", f"http://127.0.0.1:{here.port}/hook", traceparent=TRACEPARENT)
        scene.stack.pump()
        log.truncate(0)
        message = {"messageId": "m2", "taskId": task_id, "role": "ROLE_USER", "parts": [{"text": "complete"}]}
        body = {"message": message, "configuration": {"returnImmediately": True}}
        scene.stack.invoke("api", rest_event("POST", "/message:send", body, headers={"traceparent": other}))
        scene.stack.pump()

    text = log.getvalue().lstrip("\0")
    told = [json.loads(line) for line in text.splitlines()]
    assert {(line["task_id"], line["trace_id"]) for line in told} == {(task_id, "5" * 32)}
    assert [head for head in here.requests[-2:] if f"traceparent: {other}".encode() in head] == here.requests[-2:]


def test_what_sweep_ends_belongs_to_the_clients_trace_too(scene: Scene, log: io.StringIO) -> None:
    with receiver(statuses()) as here:
        task_id = send(scene, "crash", f"http://127.0.0.1:{here.port}/hook", traceparent=TRACEPARENT)
        scene.stack.pump()

    failed = here.requests[-1]
    assert b'"TASK_STATE_FAILED"' in failed
    assert f"traceparent: {TRACEPARENT}".encode() in failed
    (line,) = [line for line in lines(log) if line["message"].startswith("an execution stopped without")]
    assert (line["task_id"], line["trace_id"]) == (task_id, TRACE)


def test_what_a_client_calls_a_task_is_not_logged_unless_it_looks_like_ours(scene: Scene, log: io.StringIO) -> None:
    scene.stack.invoke("api", rest_event("GET", "/tasks/whatever-a-client-likes"))
    scene.stack.invoke("api", rest_event("GET", f"/tasks/{'a' * 26}"))

    assert [line.get("task_id") for line in lines(log)] == [None, "a" * 26]
    assert "whatever" not in log.getvalue()


def a_bad_day(scene: Scene) -> None:
    """Everything happens that is counted."""
    stack = scene.stack

    def again() -> None:
        before = scene.webhook(ref)
        assert scene.webhooks.update(before, replace(before, next_attempt_at=1))
        stack.invoke("send_webhooks", queue_event(before.doorbell))

    with receiver(statuses(503, 204, 204, 410)) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/hook")
        bell = scene.webhook(ref).doorbell
        stack.invoke("send_webhooks", queue_event(bell))  # fails
        again()  # recovers
        stack.invoke("sweep", {"failedTurn": {"tenant": "", "owner": ref.owner, "taskId": ref.task_id, "turn": 0}})
        stack.invoke("send_webhooks", queue_event(bell))  # delivers
    inside = replace(scene.webhook(ref), config_id="inside", url="http://10.0.0.1/", state=WebhookState.ACTIVE)
    scene.webhooks.put(replace(inside, key="k" * 26, cursor=0, due_at=1))
    stack.invoke("send_webhooks", queue_event(replace(bell, config_id="inside", key="k" * 26)))  # blocked
    with receiver(statuses(410)) as here:
        other = replace(inside, config_id="other", key="o" * 26, cursor=0, url=f"http://127.0.0.1:{here.port}/hook")
        scene.webhooks.put(other)
        stack.invoke("send_webhooks", queue_event(other.doorbell))  # disabled
    stack.invoke("send_webhooks", queue_event("rubbish"))  # our own fault
    stack.invoke("sweep", {"source": "aws.events"})
    stack.invoke("api", rest_event("GET", "/.well-known/agent-card.json"))  # with a key that KMS doesn't know
    meter = bootstrap.meter({"HERALD_STACK": STACK})
    refuse = authorize.handler_for(Gate().verifier, meter)
    event = {"type": "TOKEN", "methodArn": "arn:aws:execute-api:eu-central-1:123456789012:a1/prod/GET/"}
    refuse({**event, "authorizationToken": "Bearer a.b.c"}, LambdaContext())  # type: ignore[arg-type]


@pytest.fixture
def emitted(scene: Scene, log: io.StringIO, capsys: pytest.CaptureFixture[str]) -> list[Counted]:
    capsys.readouterr()
    a_bad_day(scene)
    return list(read(capsys.readouterr().out))


def test_a_bad_day_counts_every_metric_of_the_table_and_no_other(emitted: list[Counted]) -> None:
    table = {(metric.name, metric.unit, metric.dimensions) for metric in METRICS}
    assert {(each.name, each.unit, tuple(each.dimensions)) for each in emitted} == table
    assert {each.namespace for each in emitted} == {"Herald"}
    assert {each.dimensions["stack"] for each in emitted} == {STACK}
    assert {each.dimensions["outcome"] for each in emitted if "outcome" in each.dimensions} == {
        "delivered", "http_5xx", "ssrf_blocked", "gone", "own_fault",
    }  # fmt: skip


def test_the_dashboard_shows_what_was_counted_and_alarms_look_at_nothing_else(emitted: list[Counted]) -> None:
    resources = template()["Resources"]
    page = widgets(resources["Dashboard"]["Properties"]["DashboardBody"])
    shown = {seen for widget in page for seen in of_widget(widget) if seen.namespace == "Herald"}
    alarms = [row["Properties"] for row in resources.values() if row["Type"] == "AWS::CloudWatch::Alarm"]
    alarmed = {seen for alarm in alarms for seen in of_alarm(alarm) if seen.namespace == "Herald"}
    counted = {(each.name, frozenset(each.dimensions.items())) for each in emitted}

    def anything(pairs: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        return frozenset((name, "*" if name == "outcome" else value) for name, value in pairs)

    by_name = {(name, anything(pairs)) for name, pairs in counted}
    assert {(seen.name, anything(seen.dimensions)) for seen in shown} == by_name
    assert {(seen.name, seen.dimensions) for seen in alarmed} <= counted


def test_news_reaches_a_rule_of_the_operators(scene: Scene) -> None:
    events, queues = boto3.client("events"), boto3.client("sqs")
    url = queues.create_queue(QueueName="news")["QueueUrl"]
    arn = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.put_rule(Name="news", EventPattern=json.dumps({"source": ["herald"], "detail": {"stack": [STACK]}}))
    events.put_targets(Rule="news", Targets=[{"Id": "queue", "Arn": arn}])

    with receiver(statuses(410)) as here:
        ref = scene.new_task(f"http://127.0.0.1:{here.port}/hook?token=secret")
        scene.stack.invoke("send_webhooks", queue_event(scene.webhook(ref).doorbell))

    [message] = queues.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    event = json.loads(message["Body"])
    assert (event["source"], event["detail-type"]) == ("herald", "webhook.disabled")
    assert (event["detail"]["taskId"], event["detail"]["host"]) == (ref.task_id, "127.0.0.1")
    assert "secret" not in message["Body"]
