"""What an operator sees of a deployed stack: one task's lines by its trace, its metrics, its news."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from builders.metrics import read
from e2e.client import Client
from e2e.cloud import Cloud
from e2e.loopback import Receiver
from e2e.waiting import wait_for
from herald.metrics import METRICS

TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE}-b7ad6b7169203331-01"
ROAD = {
    ("ApiLog", "answered"),
    ("StartWorkerLog", "turn started"),
    ("RunAgentLog", "run ended"),
    ("RingWebhooksLog", "rung"),
    ("SendWebhooksLog", "attempt"),
}


def lines(cloud: Cloud) -> list[tuple[str, dict[str, Any]]]:
    """What the functions logged, with the log group of each line."""
    return [
        (group, json.loads(line))
        for group, texts in cloud.log_lines().items()
        for line in texts
        if line.startswith("{") and "_aws" not in line
    ]


def test_a_clients_trace_finds_its_tasks_road_in_every_log_and_reaches_the_receiver(
    client: Client, cloud: Cloud, receiver: Receiver
) -> None:
    client.trace(TRACEPARENT)
    task_id = client.start({"working": "one"}, {"complete": "done"}, webhook=receiver.config)
    arrived = receiver.wait_for_end(task_id)

    def road() -> set[tuple[str, str]]:
        return {(group, line["message"]) for group, line in lines(cloud) if line.get("trace_id") == TRACE}

    assert {each.headers["traceparent"] for each in arrived} == {TRACEPARENT}
    wait_for("the lines of the whole road", lambda: road() >= ROAD)
    about = {line["task_id"] for _, line in lines(cloud) if line.get("trace_id") == TRACE and "task_id" in line}
    assert about == {task_id}


def test_a_webhook_that_is_given_up_is_counted_and_is_news(
    client: Client, cloud: Cloud, new_receiver: Callable[..., Receiver]
) -> None:
    queue = cloud.sqs.create_queue(QueueName="news")["QueueUrl"]
    arn = cloud.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    cloud.events.put_rule(Name="news", EventPattern=json.dumps({"source": ["herald"]}))
    cloud.events.put_targets(Rule="news", Targets=[{"Id": "queue", "Arn": arn}])
    gone = new_receiver()
    gone.answers.append(410)

    task_id = client.start({"complete": "done"}, webhook=gone.config)

    def told() -> list[dict[str, Any]]:
        messages = cloud.sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", [])
        events = [json.loads(message["Body"]) for message in messages]
        return [event for event in events if event["detail"]["taskId"] == task_id]

    [event] = wait_for("the news", told)
    assert (event["source"], event["detail-type"]) == ("herald", "webhook.disabled")
    assert event["detail"]["reason"] == "gone: the receiver answered 410"

    def counted() -> set[str]:
        return {each.name for text in cloud.log_lines()["SendWebhooksLog"] for each in read(text)}

    wait_for("the metrics", lambda: counted() >= {"Attempts", "DeliveryFailed", "UndeliveredAge", "WebhooksDisabled"})
    assert counted() <= {metric.name for metric in METRICS}
