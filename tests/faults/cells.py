"""One cell of the matrix: a task with three notifications, what goes wrong at the first, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import groupby
from typing import Any

from builders.deliveries import RecordingWatch, Road
from builders.killing import Killed
from builders.records import a_header, a_ref, artifact_entry, status_entry
from fakes.clock import START
from fakes.faults import Faults
from fakes.store import webhook_sk
from faults import rules
from faults.receivers import Row
from herald.delivery.message import Notification
from herald.delivery.retry import Outcome
from herald.ports import Unavailable
from herald.protocol.states import TaskState
from herald.records import Attempt, Webhook, WebhookState

HOURS = 12  # within which every cell has settled: a Retry-After counts for six at the most
EARLY = 2  # seconds by which a doorbell may be back too soon, and a clock be read


class DyingWatch(RecordingWatch):
    """Told of an attempt, it may end the process: after the POST, before anything is written."""

    dies = False

    def attempted(self, webhook: Webhook, notification: Notification, outcome: Outcome, now: int) -> None:
        super().attempted(webhook, notification, outcome, now)
        if self.dies:
            self.dies = False
            raise Killed


class Cell:
    """A receiver that the road plays already, a death and an AWS error.

    Args:
        road: with a DyingWatch; its webhook is registered.
        refused: of the notifications that arrive, how many the row refuses before it takes the rest: 0 or 1.
        arrived: the numbers that have arrived at the receiver, in order.
    """

    def __init__(
        self, road: Road, row: Row, death: str, error: str, refused: int, arrived: Callable[[], list[int]]
    ) -> None:
        self.road, self.row, self.death, self.error = road, row, death, error
        self.refused, self.arrived = refused, arrived
        road.working(1)
        road.store(artifact_entry(2, "chunk"))
        last = status_entry(3, TaskState.COMPLETED)
        road.store(last, header=a_header().with_status(last, due_at=None))
        self._dies_before_acknowledgement = death == rules.BEFORE_ACKNOWLEDGEMENT
        DEATHS[death](road)
        if error == rules.RETRIED:
            road.webhooks.lose_answer_next("update")
        elif error == rules.OVERTAKEN:
            road.webhooks.before_next("update", self._another_sender)
        elif error != rules.NO_ERROR:
            what, _, call = error.partition(": ")
            port, name = CALLS[call]
            fake: Faults = getattr(road, port)
            fake.fail_next(name, Unavailable(what), after_effect=what == rules.UNHEARD)

    def _another_sender(self) -> None:
        self.road.delivery.answer(self.webhook.doorbell, lambda: 300.0)

    # ------------------------------------------------------------------------------------------ what is done ----

    def answer(self) -> bool:
        """Let a sender answer a doorbell, and die if it shall; True if there was one."""
        road = self.road
        queued = road.doorbells.receive()
        if queued is None:
            return False
        # What is raised ends the sender; the doorbell comes back when its visibility ends.
        with suppress(Killed, Unavailable):
            hide = road.delivery.answer(queued.doorbell, lambda: 300.0, (road.clock.now() - queued.rung_at) / 1000)
            if self._dies_before_acknowledgement:
                self._dies_before_acknowledgement = False
                raise Killed
            if hide is None:
                road.doorbells.acknowledge(queued.receipt)
            else:
                road.doorbells.hide(queued.receipt, hide)
        return True

    def go_on(self) -> None:
        """Ring, answer and sweep, until nothing moves at this moment."""
        for _ in range(2):
            self.road.ring()
            while self.answer():
                pass
            with suppress(Killed, Unavailable):
                self.road.sweep()

    def settle(self) -> None:
        """Let time pass until everything has arrived. An operator resumes what has been disabled."""
        for _ in range(HOURS):
            self.go_on()
            if self.webhook.state is WebhookState.DISABLED:
                self.road.control.resume(self.webhook)
                self.go_on()
            if self.settled:
                return
            self.road.clock.advance(3_600)

    # --------------------------------------------------------------------------------------------- what stands ----

    @property
    def webhook(self) -> Webhook:
        """As it lies there; no fault is spent on looking."""
        found = self.road.world.get(a_ref(), webhook_sk("cfg-1"), Webhook)
        assert found is not None
        return found

    @property
    def attempts(self) -> list[Attempt]:
        return self.road.world.all(a_ref(), "TRY#", Attempt)

    @property
    def settled(self) -> bool:
        webhook = self.webhook
        return webhook.state is WebhookState.ACTIVE and webhook.due_at is None and not self.road.doorbells.queue

    @property
    def standing(self) -> rules.Standing:
        webhook = self.webhook
        waits = bool(webhook.next_attempt_at)
        return rules.Standing(webhook.state, webhook.cursor, len(self.attempts), webhook.failures, waits)

    @property
    def unnoticed(self) -> bool:
        """Whether it is as if nothing had gone wrong on our side: nobody is told less, or called later."""
        return self.death == rules.NO_DEATH and self.error in (rules.NO_ERROR, rules.RETRIED)

    @property
    def taken(self) -> list[int]:
        """The numbers that the receiver has taken, in order."""
        return self.arrived()[self.refused :]

    # ---------------------------------------------------------------------------------------------- what must be ----

    def run(self) -> int:
        """Let it all go wrong, and then well; assert what the rules say. How often a notification came twice."""
        started = self.road.clock.now()
        self.road.ring()
        assert self.answer()
        expected = rules.standing(self.row.kind, self.death, self.error)
        assert self.standing == expected
        self._assert_it_can_be_found(expected)
        if expected.recorded:
            [attempt] = self.attempts
            assert (attempt.outcome, attempt.number, attempt.attempt, attempt.at) == (self.row.outcome, 1, 1, started)
        if self.unnoticed:
            self._assert_it_is_told(expected)
        if expected.waits:
            self._assert_the_bounds(started)
        self.settle()
        assert self.settled
        webhook = self.webhook
        assert (webhook.cursor, webhook.failures, webhook.next_attempt_at) == (3, 0, 0)
        assert [number for number, _ in groupby(self.taken)] == [1, 2, 3]
        assert (self.taken.count(2), self.taken.count(3)) == (1, 1)
        repeated = self.taken.count(1) - 1
        exactly = rules.duplicates(self.row.kind, self.death, self.error)
        assert repeated <= rules.most_duplicates(self.death, self.error) if exactly is None else repeated == exactly
        assert len(self.attempts) == rules.recorded_in_the_end(self.row.kind, self.death, self.error)
        return repeated

    def _assert_it_can_be_found(self, expected: rules.Standing) -> None:
        webhook = self.webhook
        if expected.state is WebhookState.DISABLED:
            assert webhook.reason == self.row.reason
            assert (webhook.next_attempt_at, webhook.due_at) == (0, None)
        elif expected.cursor < 3:
            assert webhook.due_at is not None  # by sweep, whatever becomes of its doorbell

    def _assert_it_is_told(self, expected: rules.Standing) -> None:
        told = [(news, config_id) for news, config_id, _ in self.road.announcer.news]
        given_up = _watch_of(self.road).given_up
        if expected.state is WebhookState.DISABLED:
            assert (told, given_up) == ([("webhook.disabled", "cfg-1")], [("cfg-1", self.row.reason)])
        elif expected.state is WebhookState.FAILING:
            assert (told, given_up) == ([("webhook.failing", "cfg-1")], [])
        else:
            assert (told, given_up) == ([], [])

    def _assert_the_bounds(self, started: int) -> None:
        """Nobody calls before the time, whoever rings; at the time somebody does."""
        least, most = self.row.wait
        assert least * 1000 <= self.webhook.next_attempt_at - started <= most * 1000
        before = self.arrived()
        self.road.clock.advance(least - EARLY)
        self.go_on()
        assert self.arrived() == before
        assert self.webhook.cursor == 0
        if self.unnoticed:
            self.road.clock.advance(most - least + EARLY + 1)
            self.go_on()
            assert self.webhook.cursor == 3


def _no_death(_: Road) -> None: ...


def _watch_of(road: Road) -> DyingWatch:
    watch = road.delivery.watch
    assert isinstance(watch, DyingWatch)
    return watch


def _after_post(road: Road) -> None:
    _watch_of(road).dies = True


DEATHS: dict[str, Callable[[Road], None]] = {
    rules.NO_DEATH: _no_death,
    rules.BEFORE_POST: lambda road: road.signer.fail_next("sign", Killed()),
    rules.AFTER_POST: _after_post,
    rules.BEFORE_RECORD: lambda road: road.webhooks.fail_next("record", Killed()),
    rules.BEFORE_CURSOR: lambda road: road.webhooks.fail_next("update", Killed()),
    rules.BEFORE_ACKNOWLEDGEMENT: _no_death,  # see Cell.answer
}

CALLS = {
    rules.WEBHOOK: ("webhooks", "get"),
    rules.LOG: ("log", "read"),
    rules.RECORD: ("webhooks", "record"),
    rules.RESULT: ("webhooks", "update"),
    rules.HIDE: ("doorbells", "hide"),
}

HOUR_MS = 3_600_000


def registered(road: Road, **fields: Any) -> None:
    """A webhook that has had its snapshot."""
    road.register(due_at=START + HOUR_MS, **fields)
