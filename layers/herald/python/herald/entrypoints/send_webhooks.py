"""send_webhooks: a doorbell is taken from the queue, and its webhook is sent what it is owed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

from aws_lambda_powertools.utilities.typing import LambdaContext

from herald import metrics
from herald.adapters.sqs import doorbell_from_body
from herald.correlation import note, road
from herald.delivery.cursor import Delivery
from herald.delivery.message import Notification
from herald.delivery.retry import OWN_FAULT, Outcome
from herald.entrypoints.batches import BatchResponse, failures
from herald.entrypoints.logs import json_logger
from herald.ports import Meter, News, Unmetered
from herald.records import Webhook

logger = json_logger()

# Until a doorbell comes back that met a fault of our own; doubled each time it is received again.
OWN_FAULT_SECONDS = 30
LONGEST_OWN_FAULT = 480

CHANGES = {
    News.FAILING: metrics.WEBHOOKS_FAILING,
    News.DISABLED: metrics.WEBHOOKS_DISABLED,
    News.RECOVERED: metrics.WEBHOOKS_RECOVERED,
}


class DeliveryWatch:
    """Logs and counts attempts. Ids, numbers and outcomes only: no URL, no header, no body."""

    def __init__(self, meter: Meter | None = None) -> None:
        self._meter = meter or Unmetered()

    def attempted(self, webhook: Webhook, notification: Notification, outcome: Outcome, now: int) -> None:
        """One attempt has ended. The latency is that from storing the entry (or making the webhook) to the 2xx."""
        latency = now - max(notification.at, webhook.created_at)
        logger.info(
            "attempt",
            config_id=webhook.config_id,
            task_id=webhook.ref.task_id,
            number=notification.number,
            attempt=webhook.attempt + 1,
            outcome=outcome.name,
            status=outcome.status,
            milliseconds=outcome.milliseconds,
            latency=latency,
        )
        self._meter.add(metrics.ATTEMPTS, outcome=outcome.name)
        if outcome.delivered:
            self._meter.add(metrics.DELIVERY_LATENCY, latency)
        else:
            self._meter.add(metrics.DELIVERY_FAILED)
            self._meter.add(metrics.UNDELIVERED_AGE, latency / 1000)

    def changed(self, webhook: Webhook, news: News) -> None:
        """A webhook's state has changed by what its receiver did."""
        metric = CHANGES[news]
        tell = logger.warning if news is News.DISABLED else logger.info
        tell(
            news.value.replace(".", " "),  # "webhook disabled" for webhook.disabled
            extra={
                "config_id": webhook.config_id,
                "task_id": webhook.ref.task_id,
                "cursor": webhook.cursor,
                "failures": webhook.failures,
                **({"reason": webhook.reason} if webhook.reason else {}),
            },
        )
        self._meter.add(metric)

    def own_fault(self) -> None:
        """A doorbell met a fault of our own; it counts against no receiver."""
        self._meter.add(metrics.ATTEMPTS, outcome=OWN_FAULT)

    def flush(self) -> None:
        self._meter.flush()


def handler_for(delivery: Delivery, watch: DeliveryWatch) -> Callable[[dict[str, Any], LambdaContext], BatchResponse]:
    """The function's handler. The mapping's batch size is 1; more would be delivered one after the other."""

    @logger.inject_lambda_context(log_event=False, clear_state=True)
    def handler(event: dict[str, Any], context: LambdaContext) -> BatchResponse:
        def remaining() -> float:
            return context.get_remaining_time_in_millis() / 1000

        try:
            done = {}
            for record in event["Records"]:
                with road():
                    done[record["messageId"]] = _answer(delivery, watch, record, remaining)
        finally:
            watch.flush()
        return failures(message_id for message_id, ok in done.items() if not ok)

    return handler


def _answer(
    delivery: Delivery, watch: DeliveryWatch, record: Mapping[str, Any], remaining: Callable[[], float]
) -> bool:
    """Answer one doorbell; True when it may be acknowledged. Reported as failed, it comes back when it is due."""
    seconds: int | None
    try:
        doorbell = doorbell_from_body(record["body"])
        note(task_id=doorbell.ref.task_id)
        age = delivery.clock.now() / 1000 - int(record["attributes"]["SentTimestamp"]) / 1000
        seconds = delivery.answer(doorbell, remaining, max(0, age))
    except Exception:
        logger.exception("doorbell can't be answered", outcome=OWN_FAULT, message_id=record["messageId"])
        watch.own_fault()
        seconds = _own_fault_seconds(record)
    if seconds is None:
        return True
    try:
        delivery.doorbells.hide(record["receiptHandle"], seconds)
    except Exception:
        logger.exception("doorbell can't be hidden; the queue shows it again by itself", message_id=record["messageId"])
    return False


def _own_fault_seconds(record: Mapping[str, Any]) -> int:
    """For how long a doorbell is hidden that met a fault of our own: what is down heals sooner when it isn't hammered.

    Each doorbell has a time of its own between the half and the whole, so that they don't all come back at once.
    """
    before = int(record["attributes"]["ApproximateReceiveCount"]) - 1
    longest = min(LONGEST_OWN_FAULT, OWN_FAULT_SECONDS << min(before, 10))
    return longest - crc32(record["messageId"].encode()) % (longest // 2 + 1)
