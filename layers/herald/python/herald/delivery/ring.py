"""Which doorbells the changes of a task ring: one for each active webhook that is behind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from herald.ports import Doorbells, Ring, Webhooks
from herald.records import TaskRef, Webhook, WebhookState


@dataclass(frozen=True, slots=True)
class Ringer:
    """Looks at the webhooks of a task that has changed, strongly consistently."""

    webhooks: Webhooks
    doorbells: Doorbells

    def rings(self, ref: TaskRef, number: int) -> list[Ring]:
        """The doorbells to be rung for one task.

        One that is rung for the highest number makes its sender deliver all that lie before it. A failing webhook gets
        none: its sender reads the log again before it calls the webhook active.

        Args:
            number: of the last status or artifact entry that was stored; -1 where only a webhook's snapshot has become
                due.

        Raises:
            Unavailable: the table doesn't answer.
            UnreadableWebhooks: one of them can't be read; ``behind`` tells which of the others are to be rung for.
        """
        return self.behind(self.webhooks.list(ref), number)

    @staticmethod
    def behind(webhooks: Iterable[Webhook], number: int) -> list[Ring]:
        """A doorbell for each of these that is active and hasn't delivered this entry, or its snapshot."""
        return [
            Ring(webhook.doorbell, f"{webhook.key}-{max(number, webhook.snapshot)}")
            for webhook in webhooks
            if webhook.state is WebhookState.ACTIVE and (webhook.snapshot_due or webhook.cursor < number)
        ]
