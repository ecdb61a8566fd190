"""The delivery of one webhook: read its cursor, post what comes after it, move it on, until the log is drained.

A doorbell only says which webhook to look at. Everything that decides is read from the table, right before each
connection, so that a doorbell may come twice, late or never, and a sender may die at any line: what is sent twice is at
most the notification in flight.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from herald import correlation
from herald.delivery import retry
from herald.delivery.ahead import Ahead
from herald.delivery.attempt import Sender
from herald.delivery.large import Shortening
from herald.delivery.message import Notification
from herald.delivery.retry import LONGEST_HIDE, GiveUp, Outcome
from herald.ports import Announcer, Clock, Doorbells, Ids, News, Ring, TaskLog, Unavailable, Unopenable, Webhooks
from herald.records import Attempt, Doorbell, Webhook, WebhookState, next_look

logger = logging.getLogger(__name__)

LEAST_SECONDS = 30.0  # with less time left a fresh doorbell takes over
# Seconds from its ringing; one that would be hidden for longer is left to the due index. The whole part of the schedule
# that hides fits in, and no patient receiver makes the queue look jammed: the alarm looks at half an hour.
OLDEST = 1_200
EARLY_MS = 1_000  # a hidden doorbell may be back that much before its time
HIDDEN_GRACE_MS = 60_000  # the due index rings so much after a hidden doorbell should have been back
DRAINING_MS = 300_000

UNREADABLE = "unreadable"  # how the reason begins of a webhook whose secrets nothing opens any more


class Watch(Protocol):
    """Who is told what happened: for logs and metrics. It gets no secret and must not raise."""

    def attempted(self, webhook: Webhook, notification: Notification, outcome: Outcome, now: int) -> None: ...

    def changed(self, webhook: Webhook, news: News) -> None: ...


class Unannounced:
    """An Announcer that tells nobody."""

    def announce(self, news: News, webhook: Webhook, outcome: str, at: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Delivery:
    """Answers doorbells. ``random`` gives numbers from 0 to 1, for jitter."""

    log: TaskLog
    webhooks: Webhooks
    doorbells: Doorbells
    sender: Sender
    clock: Clock
    ids: Ids
    watch: Watch
    random: Callable[[], float]
    announcer: Announcer = field(default_factory=Unannounced)
    shortening: Shortening | None = None  # without it, notifications are sent however large they are

    def answer(self, doorbell: Doorbell, remaining: Callable[[], float], age: float = 0) -> int | None:
        """Deliver what one webhook is owed.

        Args:
            remaining: seconds that are left of this invocation.
            age: seconds since this doorbell was rung.

        Returns:
            None to acknowledge the doorbell; seconds to hide it for.

        Raises:
            Unavailable, ValueError, LookupError: a fault of our own. The doorbell must come back.
        """
        ahead = Ahead(self.log, doorbell.ref)
        stuck: Webhook | None = None
        while True:
            if remaining() < max(LEAST_SECONDS, self.sender.seconds + 10):
                self._hand_over(doorbell)
                return None
            stored = self.webhooks.get(doorbell.ref, doorbell.config_id)
            if stored is None or stored.key != doorbell.key:
                return None
            if stored == stuck:
                raise Unavailable(f"webhook {stored.config_id} can't be updated")
            try:
                webhook = self.sender.resealed(stored)  # to be stored with whatever is written next
            except Unopenable as error:
                self._unreadable(stored, error)
                return None
            is_open = self._open(webhook)
            notification = ahead.next(webhook) if is_open else None
            if notification is None:
                after = (self._drained(webhook) if is_open else None) or webhook
                if after == stored:
                    return None
                stuck = None if self._stored(stored, after, retry.DELIVERED) else stored
                ahead.read_anew()
                continue
            correlation.note(traceparent=notification.traceparent)
            if self.shortening is not None:
                notification = self.shortening.short(webhook, notification)
            try:
                outcome = self.sender.send(webhook, notification)
            except Unopenable as error:
                self._unreadable(stored, error)
                return None
            now = self.clock.now()
            self.watch.attempted(webhook, notification, outcome, now)
            after = (
                _advanced(webhook, notification, outcome, now)
                if outcome.delivered
                else self._failed(webhook, notification, outcome, now, age)
            )
            if not self._stored(stored, after, outcome.name):
                stuck = stored
                if outcome.delivered:
                    self._move_at_rest(stored, notification, outcome, now)
                continue
            if after.state is WebhookState.DISABLED:
                return None
            if not outcome.delivered:
                return _to_hide(after, now, age)
            if after.state is WebhookState.ACTIVE and (notification.ends_task or ahead.drained(after)):
                return None

    def _unreadable(self, webhook: Webhook, error: Unopenable) -> None:
        """Disable a webhook whose secrets nothing opens any more: to come back for it would change nothing."""
        reason = f"{UNREADABLE}: {error}"
        after = replace(webhook, state=WebhookState.DISABLED, reason=reason, next_attempt_at=0, due_at=None)
        if self._open(webhook):
            self._stored(webhook, after, retry.OWN_FAULT)

    def _open(self, webhook: Webhook) -> bool:
        if webhook.state is WebhookState.FAILING:
            return webhook.next_attempt_at <= self.clock.now() + EARLY_MS
        return webhook.state is WebhookState.ACTIVE

    def _stored(self, before: Webhook, after: Webhook, outcome: str) -> bool:
        """Store what a webhook has become, and tell of it; False if somebody else changed it meanwhile."""
        if not self.webhooks.update(before, after) and self.webhooks.get(before.ref, before.config_id) != after:
            return False  # else only the answer was lost
        news = _news(before.state, after.state)
        if news is not None:
            self.watch.changed(after, news)
            try:
                self.announcer.announce(news, after, outcome, self.clock.now())
            except Exception as error:
                logger.warning("%s can't be announced: %s", news, type(error).__name__)
        return True

    def _move_at_rest(self, webhook: Webhook, notification: Notification, outcome: Outcome, now: int) -> None:
        """Move the cursor of a webhook that was paused while this notification was delivered: it needn't come again."""
        stands = self.webhooks.get(webhook.ref, webhook.config_id)
        if stands is not None and stands.state is WebhookState.PAUSED and _place(stands) == _place(webhook):
            self._stored(stands, _advanced(stands, notification, outcome, now), outcome.name)

    def _hand_over(self, doorbell: Doorbell) -> None:
        self.doorbells.ring([Ring(doorbell, f"{doorbell.key}-{self.ids.token()}")])

    def _drained(self, webhook: Webhook) -> Webhook | None:
        """What a webhook becomes when nothing is left to send; None when it stays as it is."""
        now = self.clock.now()
        if webhook.state is WebhookState.FAILING:
            # No doorbell is rung for a failing webhook: once it is active again, the log must be read once more.
            return replace(
                webhook, state=WebhookState.ACTIVE, failures=0, next_attempt_at=0, due_at=self._next_look(webhook, now)
            )
        if webhook.due_at is not None and webhook.due_at <= now:
            return replace(webhook, due_at=self._next_look(webhook, now))
        return None

    def _next_look(self, webhook: Webhook, now: int) -> int | None:
        header = self.log.header(webhook.ref)
        if header is None or (header.terminal and header.status_number <= webhook.cursor):
            return None
        return next_look(now, webhook.key)

    def _failed(self, webhook: Webhook, notification: Notification, outcome: Outcome, now: int, age: float) -> Webhook:
        """Record a failed attempt; what the webhook becomes by it."""
        failures, attempt = webhook.failures + 1, webhook.attempt + 1
        blocked = self._blocked_before(webhook, notification) + 1 if outcome.name == retry.SSRF_BLOCKED else 0
        decision = retry.decide(outcome, failures, blocked, self.random)
        self.webhooks.record(
            webhook,
            Attempt(
                notification.number, attempt, outcome.name, outcome.status, outcome.milliseconds, outcome.head, at=now
            ),
        )
        counted = replace(webhook, failures=failures, attempt=attempt)
        if isinstance(decision, GiveUp):
            return replace(counted, state=WebhookState.DISABLED, reason=decision.reason, next_attempt_at=0, due_at=None)
        again = now + math.ceil(decision.seconds * 1000)
        grace = HIDDEN_GRACE_MS if _hides(decision.seconds, age) else 0
        return replace(counted, state=WebhookState.FAILING, next_attempt_at=again, due_at=again + grace)

    def _blocked_before(self, webhook: Webhook, notification: Notification) -> int:
        """How many attempts right before this one the SSRF guard refused."""
        numbers = {
            attempt.attempt
            for attempt in self.webhooks.attempts(webhook)
            if attempt.number == notification.number and attempt.outcome == retry.SSRF_BLOCKED
        }
        count = 0
        while webhook.attempt - count in numbers:
            count += 1
        return count


def _advanced(webhook: Webhook, notification: Notification, outcome: Outcome, now: int) -> Webhook:
    """What a webhook becomes by a delivered notification."""
    state, reason, due_at = WebhookState.ACTIVE, "", None
    if outcome.disable:
        state, reason = WebhookState.DISABLED, retry.DISABLED_BY_RECEIVER
    elif webhook.state is WebhookState.PAUSED:
        state, reason = webhook.state, webhook.reason
    elif not notification.ends_task:
        # A webhook that failed stays failing until its log is drained.
        state = webhook.state
        due_at = _soon(now) if state is WebhookState.FAILING else next_look(now, webhook.key)
    return replace(
        webhook,
        cursor=notification.number,
        snapshot_due=False,
        state=state,
        reason=reason,
        failures=0,
        attempt=0,
        next_attempt_at=0,
        due_at=due_at,
        delivered=webhook.delivered + 1,
        first_success_at=webhook.first_success_at or now,
        last_success_at=now,
    )


def _to_hide(webhook: Webhook, now: int, age: float) -> int | None:
    """For how many seconds a failing webhook's doorbell is hidden; None when it is left to the due index."""
    seconds = math.ceil((webhook.next_attempt_at - now) / 1000)
    return seconds if _hides(seconds, age) else None


def _hides(seconds: float, age: float) -> bool:
    return seconds <= LONGEST_HIDE and age + seconds <= OLDEST


def _place(webhook: Webhook) -> tuple[str, int, bool]:
    return webhook.key, webhook.cursor, webhook.snapshot_due


def _news(before: WebhookState, after: WebhookState) -> News | None:
    if after is before:
        return None
    if before is WebhookState.FAILING and after is WebhookState.ACTIVE:
        return News.RECOVERED
    return {WebhookState.FAILING: News.FAILING, WebhookState.DISABLED: News.DISABLED}.get(after)


def _soon(now: int) -> int:
    return (now // DRAINING_MS + 2) * DRAINING_MS
