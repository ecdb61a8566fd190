"""Which doorbells the changes of tasks ring: one for each active webhook that is behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from herald.ports import Doorbells, Ring, Webhooks
from herald.records import TaskRef, WebhookState


@dataclass(frozen=True, slots=True)
class Ringer:
    """Looks at the webhooks of changed tasks, strongly consistently: once per task, whatever has changed in it."""

    webhooks: Webhooks
    doorbells: Doorbells

    def rings(self, changed: Mapping[TaskRef, int]) -> list[Ring]:
        """The doorbells to be rung.

        One that is rung for the highest number makes its sender deliver all that lie before it. A failing webhook gets
        none: its sender reads the log again before it calls the webhook active.

        Args:
            changed: the highest number of a status or artifact entry that was stored, for each task; -1 where only a
                webhook's snapshot has become due.

        Raises:
            Unavailable: the table doesn't answer.
        """
        return [
            Ring(webhook.doorbell, f"{webhook.key}-{max(number, webhook.snapshot)}")
            for ref, number in changed.items()
            for webhook in self.webhooks.list(ref)
            if webhook.state is WebhookState.ACTIVE and (webhook.snapshot_due or webhook.cursor < number)
        ]
