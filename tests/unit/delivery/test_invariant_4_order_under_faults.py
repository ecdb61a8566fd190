"""Invariant 4: per webhook, entries arrive in log order, none missing, each at least once; what a fault repeats is at
most the entry in flight. Here over interleavings of everything that may happen to it, chosen by hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from builders.deliveries import Road
from builders.records import a_ref, artifact_entry, message_entry, run_entry, status_entry
from fakes.clock import START, token
from fakes.faults import Faults
from fakes.world import Post, Queued, answer
from herald.delivery.message import is_sent
from herald.ports import Answer, TransportFailure, Unavailable
from herald.protocol.states import TaskState
from herald.records import Entry, Header, Webhook, WebhookState

URLS = {"a": "https://client.example/a", "b": "https://other.example/b"}
HOUR = 3_600_000


class Killed(BaseException):
    """The function's process ends here."""


def accepted_but_unheard(_: Post) -> Answer:
    """The receiver took the notification, and its answer got lost."""
    raise TransportFailure("read_timeout", 15_000)


REPLIES: list[int | Answer | TransportFailure | Callable[[Post], Answer]] = [
    500,
    302,
    answer(429, retry_after="90"),
    TransportFailure("connection_refused"),
    accepted_but_unheard,
]

MAKE: dict[str, Callable[[int], Entry]] = {
    "status": lambda number: status_entry(number, text=f"step {number}"),
    "artifact": lambda number: artifact_entry(number, f"chunk {number}", append=True),
    "run": run_entry,
    "message": message_entry,
}

CALLS = [
    ("webhooks", "get"),
    ("webhooks", "update"),
    ("webhooks", "record"),
    ("webhooks", "list"),
    ("log", "read"),
    ("log", "header"),
    ("transport", "post"),
    ("doorbells", "ring"),
    ("doorbells", "hide"),
    ("resolver", "resolve"),
    ("signer", "sign"),
]


class Deliveries(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.road = Road()
        self.end = 0
        self.ended = False
        self.made = 0
        self.known: dict[str, Webhook] = {}  # by key: as registered, deleted ones included
        self.register("a")

    # ---------------------------------------------------------------------------------------- what clients do ----

    @rule(config_id=st.sampled_from(["a", "b"]))
    def register(self, config_id: str) -> None:
        """Also replaces: the new one has a key of its own and begins with a snapshot."""
        self.made += 1
        webhook = self.road.register(
            config_id,
            key=token(1_000 + self.made),
            url=URLS[config_id],
            cursor=self.end,
            snapshot=self.end,
            snapshot_due=True,
            created_at=self.road.clock.now(),
            due_at=self.road.clock.now() // HOUR * HOUR + HOUR,
        )
        self.known[webhook.key] = webhook

    @rule(config_id=st.sampled_from(["a", "b"]))
    def delete(self, config_id: str) -> None:
        self.road.webhooks.delete(a_ref(), config_id)

    # ---------------------------------------------------------------------------------------- what agents do ----

    @precondition(lambda self: not self.ended)
    @rule(kind=st.sampled_from(list(MAKE)))
    def append(self, kind: str) -> None:
        self.end += 1
        self.road.store(MAKE[kind](self.end))

    @precondition(lambda self: not self.ended and self.end > 2)
    @rule()
    def complete(self) -> None:
        self.end += 1
        self.ended = True
        header = self.road.world.get(a_ref(), "TASK", Header)
        assert header is not None
        last = status_entry(self.end, TaskState.COMPLETED)
        self.road.store(last, header=header.with_status(last, due_at=None))

    # ----------------------------------------------------------------------------------- what the functions do ----

    @rule()
    def ring(self) -> None:
        self._survive(self.road.ring)

    @rule()
    def answer(self) -> None:
        self._survive(self.road.answer)

    @rule()
    def answer_with_little_time(self) -> None:
        self._survive(lambda: self.road.answer(seconds=20))

    @rule()
    def answer_and_die_before_the_acknowledgement(self) -> None:
        queued = self.road.doorbells.receive()
        if queued is not None:
            self._survive(lambda: self.road.delivery.answer(queued.doorbell, lambda: 300, queued.receives))

    @rule()
    def sweep(self) -> None:
        self._survive(self.road.sweep)

    @rule(seconds=st.sampled_from([1, 5, 30, 200, 700, 3_600, 36_000]))
    def wait(self, seconds: int) -> None:
        self.road.clock.advance(seconds)

    # -------------------------------------------------------------------------------------- what goes wrong ----

    @rule(config_id=st.sampled_from(["a", "b"]), reply=st.sampled_from(REPLIES), times=st.integers(1, 3))
    def the_receiver_fails(self, config_id: str, reply: Any, times: int) -> None:
        self.road.transport.script(URLS[config_id], *[reply] * times)

    @precondition(lambda self: not self.ended)
    @rule(config_id=st.sampled_from(["a", "b"]), kind=st.sampled_from(list(MAKE)))
    def an_entry_is_stored_while_the_receiver_is_called(self, config_id: str, kind: str) -> None:
        def meanwhile(_: Post) -> Answer:
            if not self.ended:
                self.append(kind)
                self.road.ring()
            return answer(200)

        self.road.transport.script(URLS[config_id], meanwhile)

    @rule(times=st.integers(1, 2))
    def a_doorbell_gets_lost(self, times: int) -> None:
        self.road.doorbells.lose_next(times)

    @rule()
    def a_doorbell_is_doubled(self) -> None:
        self.road.doorbells.double_next()

    @rule(seconds=st.sampled_from([30, 700, 3_600]))
    def doorbells_come_late(self, seconds: int) -> None:
        """Each after its group's others, as a FIFO queue has it; what is rung meanwhile waits behind them."""
        for queued in self.road.doorbells.queue:
            queued.visible_at = max(queued.visible_at, self.road.clock.now() + seconds * 1000)

    @precondition(lambda self: self.road.doorbells.rings)
    @rule(back=st.integers(0, 20))
    def an_old_doorbell_comes_once_more(self, back: int) -> None:
        """Long after it was acknowledged, and maybe for a webhook that was replaced or deleted since."""
        rings = self.road.doorbells.rings
        self.road.doorbells.queue.append(Queued(rings[-1 - min(back, len(rings) - 1)].doorbell, "", ""))

    @precondition(lambda self: self.end > 1)
    @rule(back=st.integers(0, 2))
    def a_reader_is_served_a_gap(self, back: int) -> None:
        self.road.log.hide_next(a_ref(), max(1, self.end - back), pages=2)

    @rule()
    def a_read_of_the_webhook_is_stale(self) -> None:
        self.road.webhooks.stale_next("get")

    @rule()
    def the_answer_to_an_update_gets_lost(self) -> None:
        self.road.webhooks.lose_answer_next("update")

    @rule(call=st.sampled_from(CALLS), after=st.booleans(), kind=st.sampled_from([Killed, Unavailable]))
    def the_process_dies_at_a_call(self, call: tuple[str, str], after: bool, kind: type[BaseException]) -> None:
        port, name = call
        fake: Faults = getattr(self.road, port)
        fake.fail_next(name, kind("planned"), after_effect=after)

    def _survive(self, act: Callable[[], object]) -> None:
        # The doorbell comes back when its visibility ends; the stream's batch is taken up again.
        with suppress(Killed, Unavailable):
            act()

    # ------------------------------------------------------------------------------------------ what must hold ----

    def owed(self, webhook: Webhook) -> list[int]:
        """The numbers that a webhook is to receive in the end: its snapshot, and what is sent after it."""
        after = [entry.number for entry in self.road.world.entries(a_ref()) if is_sent(entry)]
        return [webhook.snapshot, *(number for number in after if number > webhook.snapshot)]

    def received(self, key: str) -> list[int]:
        ids = [post.headers["webhook-id"] for post in self.road.transport.posts]
        return [int(one.rpartition("_")[2]) for one in ids if one.startswith(f"msg_{key}_")]

    @invariant()
    def each_receiver_has_seen_the_log_in_order_and_only_the_last_entry_again(self) -> None:
        for key, webhook in self.known.items():
            seen = [number for number, _ in groupby(self.received(key))]
            assert seen == self.owed(webhook)[: len(seen)], f"{webhook.config_id} got {self.received(key)}"

    @invariant()
    def the_same_id_has_the_same_body(self) -> None:
        bodies: dict[str, bytes] = {}
        for post in self.road.transport.posts:
            message_id = post.headers["webhook-id"]
            assert bodies.setdefault(message_id, post.body) == post.body

    @invariant()
    def a_cursor_has_passed_nothing_that_was_not_sent(self) -> None:
        for webhook in self.road.world.all(a_ref(), "PUSH#", Webhook):
            passed = [number for number in self.owed(self.known[webhook.key]) if number <= webhook.cursor]
            if webhook.snapshot_due:
                passed = []
            assert passed == [number for number in passed if number in self.received(webhook.key)]

    def teardown(self) -> None:
        """Once nothing goes wrong any more, everything that is owed has arrived, by doorbells and sweep alone."""
        self.road.no_more_faults()
        for webhook in self.road.world.all(a_ref(), "PUSH#", Webhook):
            if webhook.state is WebhookState.DISABLED:  # an operator resumes it
                self.road.webhooks.put(
                    replace(webhook, state=WebhookState.FAILING, failures=0, due_at=self.road.clock.now(), reason="")
                )
        self.road.settle(rounds=14)
        for webhook in self.road.world.all(a_ref(), "PUSH#", Webhook):
            seen = [number for number, _ in groupby(self.received(webhook.key))]
            assert seen == self.owed(self.known[webhook.key])
            assert webhook.state is WebhookState.ACTIVE
            assert (webhook.due_at is None) == self.ended
        assert self.road.clock.now() > START


TestDeliveries = Deliveries.TestCase
TestDeliveries.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
