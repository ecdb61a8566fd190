"""One round over everything that is due."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from herald import metrics
from herald.correlation import road
from herald.ports import Clock, DueIndex, Meter, Unmetered
from herald.records import Due
from herald.upkeep.turns import Turns
from herald.upkeep.webhooks import DueWebhooks

logger = logging.getLogger(__name__)

FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Sweep:
    """Looks after due tasks and webhooks."""

    index: DueIndex
    turns: Turns
    webhooks: DueWebhooks
    clock: Clock
    meter: Meter = field(default_factory=Unmetered)

    def run(self, has_time: Callable[[], bool]) -> Counter[str]:
        """Deal with what is due while there is time; how often each thing was done, failures among them.

        An item that fails keeps no other from being dealt with; it stays due and comes again with the next round.

        Raises:
            Unavailable: the index itself didn't answer.
        """
        done: Counter[str] = Counter()
        now, overdue = self.clock.now(), 0
        for due in self.index.due(now):
            overdue = max(overdue, now - due.due_at)
            if not has_time():
                done["left for the next round"] += 1
                break
            if outcome := self._look_after(due):
                done[outcome] += 1
        self.meter.add(metrics.OVERDUE, overdue / 1000)
        return done

    def _look_after(self, due: Due) -> str:
        with road(due.ref.task_id):
            return self._done_for(due)

    def _done_for(self, due: Due) -> str:
        try:
            if due.config_id is None:
                return self.turns.look_after(due.ref)
            return self.webhooks.look_after(due.ref, due.config_id)
        except Exception:
            logger.exception("task %s, webhook %s: not looked after", due.ref.task_id, due.config_id)
            return FAILED
