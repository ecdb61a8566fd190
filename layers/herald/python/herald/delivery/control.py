"""What an operator does to a webhook: pause it, resume it, replay from a number, skip to now.

Each is one update, conditional on the webhook's key, cursor and state, of the webhook as it is read right before; where
a sender moved it meanwhile, it is read again. So a command takes hold beside a sender in flight, whose own update then
fails, and of which at most the attempt under way arrives. A webhook that was replaced is another one and is left alone.

Only pause and resume touch the state: a webhook that rests stays at rest while its cursor is moved. What is to be sent
is rung for with a nonce, and due a minute later, should that doorbell be lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from herald.delivery.retry import DELAYS, LONGEST_HIDE
from herald.ports import Clock, Doorbells, Ids, Ring, TaskLog, Unavailable, Webhooks
from herald.records import Webhook, WebhookState

PAUSED = "paused by the operator"
PAUSED_WHILE_FAILING = "paused by the operator while it was failing"

TRIES = 10  # against a sender that moves the cursor
NET_MS = 60_000  # after which the due index rings, should our doorbell be lost
MARK = 8  # characters

_WORKING = frozenset({WebhookState.ACTIVE, WebhookState.FAILING})


class Gone(LookupError):
    """The webhook that a command was given for isn't there any more; another may have taken its id."""


class Refused(ValueError):
    """A command that would do something else than its name says; the text tells the way out."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a command did.

    Attributes:
        before: the webhook as it stood.
        after: the webhook as it stands; equal to ``before`` where there was nothing to do.
        rung: whether a sender has been rung for, so that delivery goes on by itself.
        at: when, ms since 1970.
    """

    before: Webhook
    after: Webhook
    rung: bool
    at: int

    @property
    def hidden_until(self) -> int:
        """Until when (ms) a hidden doorbell of an earlier failure may hold ours back; 0 when there is none."""
        until = self.before.next_attempt_at
        return until if self.rung and self.at < until <= self.at + LONGEST_HIDE * 1000 else 0

    @property
    def repeats(self) -> range:
        """The log numbers that are gone through again; their status and artifact entries keep their webhook-ids."""
        return range(self.after.cursor + 1, self.before.cursor + 1)

    @property
    def repeats_snapshot(self) -> bool:
        """Whether the snapshot that the webhook began with is sent again, under its webhook-id."""
        waited = self.before.snapshot_due and not self.before.mark
        return self.after.snapshot_due and not self.after.mark and not waited

    @property
    def passed_over(self) -> range:
        """The log numbers that a skip's snapshot stands for."""
        return range(self.before.cursor + 1, self.after.cursor + 1)

    @property
    def expires_early(self) -> bool:
        """Whether the task may expire before the schedule of what is sent now would end."""
        return self.after.expires_second < self.at // 1000 + round(1.2 * sum(DELAYS))


@dataclass(frozen=True, slots=True)
class Control:
    """An operator's commands. Each takes a webhook as the operator saw it; only its key has to be right still.

    Each raises ``Gone`` for a webhook that was deleted or replaced, and ``Unavailable`` when the table or the queue
    doesn't answer: the command may be given again.
    """

    log: TaskLog
    webhooks: Webhooks
    doorbells: Doorbells
    clock: Clock
    ids: Ids

    def pause(self, webhook: Webhook) -> Change:
        """Send nothing until it is resumed: entries wait in the log, and the cursor stands."""

        def paused(seen: Webhook) -> Webhook:
            if seen.state not in _WORKING:
                return seen
            reason = PAUSED_WHILE_FAILING if seen.state is WebhookState.FAILING else PAUSED
            # The time of the next attempt stays: it tells for how long a doorbell may still hide.
            return replace(seen, state=WebhookState.PAUSED, reason=reason, due_at=None)

        return self._change(webhook, paused)

    def resume(self, webhook: Webhook) -> Change:
        """Deliver from the cursor on, in order, with the whole schedule ahead: one that is paused, disabled or failing.

        One that failed before is called active again only when everything has been delivered.
        """

        def resumed(seen: Webhook) -> Webhook:
            if seen.state is WebhookState.ACTIVE:
                return seen
            now = self.clock.now()
            anew = replace(seen, reason="", failures=0, next_attempt_at=0, due_at=self._net(seen, now))
            if seen.state is WebhookState.PAUSED and seen.reason != PAUSED_WHILE_FAILING:
                return replace(anew, state=WebhookState.ACTIVE)
            return replace(anew, state=WebhookState.FAILING, next_attempt_at=now)

        return self._change(webhook, resumed)

    def replay(self, webhook: Webhook, number: int) -> Change:
        """Deliver again from the entry of this number on. A number up to its beginning: from its first notification on.

        Raises:
            Refused: entries would be passed over.
        """

        def replayed(seen: Webhook) -> Webhook:
            if number > seen.cursor + 1:
                raise Refused(
                    f"number {number} lies ahead: the webhook has dealt with {seen.cursor}, and a replay passes over"
                    " nothing. Use skip to pass over what waits"
                )
            if number == seen.cursor + 1:
                return seen  # that is what comes next anyway
            if number > seen.beginning:
                return self._moved(replace(seen, cursor=number - 1, snapshot_due=False))
            first = seen.beginning
            moved = replace(seen, cursor=first, snapshot=first, snapshot_due=True, mark="", began=-1)
            return seen if moved == seen else self._moved(moved)

        return self._change(webhook, replayed)

    def skip(self, webhook: Webhook) -> Change:
        """Pass over everything that waits: a snapshot of the Task as it is now comes next, then what follows it.

        The snapshot has a webhook-id of its own, so that no receiver takes it for one that it has seen. What is passed
        over may still be replayed.
        """
        header = self.log.header(webhook.ref)
        if header is None:
            raise Gone("the task has expired")
        beyond = self.log.read(webhook.ref, after=header.end)
        end = beyond[-1].number if beyond else header.end
        mark = self.ids.token()[:MARK]

        def skipped(seen: Webhook) -> Webhook:
            last = max(end, seen.cursor)
            return self._moved(
                replace(seen, cursor=last, snapshot=last, snapshot_due=True, mark=mark, began=seen.beginning)
            )

        return self._change(webhook, skipped)

    def _change(self, webhook: Webhook, make: Callable[[Webhook], Webhook]) -> Change:
        tried: tuple[Webhook, Webhook] | None = None
        for _ in range(TRIES):
            before = self.webhooks.get(webhook.ref, webhook.config_id)
            if before is None or before.key != webhook.key:
                raise Gone(f"webhook {webhook.config_id} was deleted or replaced")
            if tried is not None and before == tried[1]:  # the answer to our update was lost
                return self._done(*tried)
            after = make(before)
            if after == before or self.webhooks.update(before, after):
                return self._done(before, after)
            tried = before, after
        raise Unavailable(f"webhook {webhook.config_id} is being changed too often")

    def _done(self, before: Webhook, after: Webhook) -> Change:
        now = self.clock.now()
        rung = after.state in _WORKING
        if rung:
            self.doorbells.ring([Ring(after.doorbell, f"{after.key}-{self.ids.token()}")])
        return Change(before, after, rung, now)

    def _moved(self, webhook: Webhook) -> Webhook:
        """A webhook whose cursor was moved: another notification is in flight, and one that works is due soon."""
        due_at = self._net(webhook, self.clock.now()) if webhook.state is WebhookState.ACTIVE else webhook.due_at
        return replace(webhook, attempt=0, due_at=due_at)

    def _net(self, webhook: Webhook, now: int) -> int:
        hidden = min(webhook.next_attempt_at, now + LONGEST_HIDE * 1000)
        return max(now, hidden) + NET_MS
