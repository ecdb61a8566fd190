"""What Herald counts and measures: every metric, its unit, and what an operator reads in it.

Each belongs to one stack (dimension ``stack``); one is split by ``outcome``, of which there are as many as
herald.delivery.retry has classes. No tenant, owner, task or webhook is ever a dimension: a dimension's values are
metrics of their own, and each costs. What AWS counts for nothing isn't counted again: requests and their status
(API Gateway), turns and how long they take (Step Functions), errors and throttles (Lambda), doorbells (SQS).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NAMESPACE = "Herald"
STACK = "stack"
OUTCOME = "outcome"

Unit = Literal["Count", "Milliseconds", "Seconds"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One row of the table. ``by_outcome`` is true where it has the dimension ``outcome`` beside ``stack``."""

    name: str
    unit: Unit
    meaning: str
    by_outcome: bool = False

    @property
    def dimensions(self) -> tuple[str, ...]:
        return (STACK, OUTCOME) if self.by_outcome else (STACK,)


ATTEMPTS = Metric(
    "Attempts", "Count", "attempts at a webhook by how they ended: delivered, a failure class, or own_fault", True
)
DELIVERY_FAILED = Metric("DeliveryFailed", "Count", "attempts that failed by the receiver's doing, of all classes")
DELIVERY_LATENCY = Metric("DeliveryLatency", "Milliseconds", "from storing an entry to its receiver's 2xx")
UNDELIVERED_AGE = Metric("UndeliveredAge", "Seconds", "how long ago an entry was stored that has failed once more")
WEBHOOKS_FAILING = Metric("WebhooksFailing", "Count", "webhooks that began to fail")
WEBHOOKS_DISABLED = Metric("WebhooksDisabled", "Count", "webhooks that were given up")
WEBHOOKS_RECOVERED = Metric("WebhooksRecovered", "Count", "webhooks that failed and have had everything since")
OVERDUE = Metric("Overdue", "Seconds", "how long the first of what is due has been due, each minute")
TURNS_FAILED = Metric("TurnsFailed", "Count", "tasks that failed because their agent raised, stopped or took too long")
CARDS_UNSIGNED = Metric("CardsUnsigned", "Count", "Agent Cards that were served without the signature they should have")
TOKENS_REFUSED = Metric("TokensRefused", "Count", "access tokens that weren't taken")

METRICS = (
    ATTEMPTS,
    DELIVERY_FAILED,
    DELIVERY_LATENCY,
    UNDELIVERED_AGE,
    WEBHOOKS_FAILING,
    WEBHOOKS_DISABLED,
    WEBHOOKS_RECOVERED,
    OVERDUE,
    TURNS_FAILED,
    CARDS_UNSIGNED,
    TOKENS_REFUSED,
)
