"""Ringing for webhooks whose doorbell was lost, or whose next attempt has come."""

from __future__ import annotations

from dataclasses import dataclass, replace

from herald.ports import Clock, Doorbells, Ids, Ring, TaskLog, Webhooks
from herald.records import TaskRef, Webhook, WebhookState, next_look

AGAIN_MS = 600_000  # a failing webhook is rung again after this long, should this doorbell be lost too

RUNG_STATES = frozenset({WebhookState.ACTIVE, WebhookState.FAILING})


@dataclass(frozen=True, slots=True)
class DueWebhooks:
    """Rings for webhooks that are due."""

    log: TaskLog
    webhooks: Webhooks
    doorbells: Doorbells
    clock: Clock
    ids: Ids

    def look_after(self, ref: TaskRef, config_id: str) -> str:
        """Do what is due for one webhook; what was done, for the log: "" when nothing was.

        Raises:
            Unavailable: the table or the queue didn't answer.
        """
        webhook = self.webhooks.get(ref, config_id)
        now = self.clock.now()
        if webhook is None or webhook.due_at is None or webhook.due_at > now:
            return ""  # the index was behind, or the webhook is gone
        rung = webhook.state in RUNG_STATES and self.log.header(ref) is not None
        later = _due_later(webhook, now) if rung else None
        # Putting it off first keeps sweep from ringing every minute while the queue is long, and the condition of the
        # update keeps it from ringing for what a sender has just dealt with.
        if not self.webhooks.update(webhook, replace(webhook, due_at=later)):
            return ""
        if not rung:
            return "put to rest"
        if webhook.state is WebhookState.FAILING and webhook.next_attempt_at > now:
            return "deferred"
        self.doorbells.ring([Ring(webhook.doorbell, f"{webhook.key}-{self.ids.token()}")])
        return "rung"


def _due_later(webhook: Webhook, now: int) -> int:
    if webhook.state is WebhookState.FAILING:
        return webhook.next_attempt_at if webhook.next_attempt_at > now else now + AGAIN_MS
    return next_look(now, webhook.key)
