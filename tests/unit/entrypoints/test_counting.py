"""What the functions beside the sender count, and that each writes it before it ends."""

from __future__ import annotations

from typing import Any, cast

import pytest

from builders.api import ApiBench
from builders.events import LambdaContext
from builders.issuer import NOW, Gate, claims, key, token
from builders.turns import TURN_SECONDS, Bench
from fakes.card_key import FakeCardKey
from fakes.meter import FakeMeter
from fakes.store import FakeDueIndex, FakeWebhooks
from fakes.world import FakeDoorbells
from herald.agent import Agent, Checkpoint, TaskContext, checkpoint
from herald.bindings.card_signature import SignedCard
from herald.entrypoints import authorize, run_agent, sweep
from herald.ports import Unavailable
from herald.protocol.states import TaskState
from herald.upkeep.sweep import Sweep
from herald.upkeep.turns import Turns
from herald.upkeep.webhooks import DueWebhooks
from herald.worker.turns import Worker

TURN = {"tenant": "tenant", "owner": "alice", "taskId": "task-1", "turn": 0}
CONTEXT = cast("Any", LambdaContext(300))


class Agents:
    class Raises(Agent):
        def run(self, task: TaskContext) -> None:
            raise LookupError("a mistake")

    class SaysNothing(Agent):
        def run(self, task: TaskContext) -> None: ...

    class Fails(Agent):
        def run(self, task: TaskContext) -> None:
            task.fail("no such company")

    class Completes(Agent):
        def run(self, task: TaskContext) -> None:
            task.complete()

    class GoesOn(Agent):
        def run(self, task: TaskContext) -> Checkpoint:
            return checkpoint("half")

    class EndsThenRaises(Agent):
        def run(self, task: TaskContext) -> None:
            task.complete()
            raise LookupError("a mistake")


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        (Agents.Raises(), [("TurnsFailed", 1)]),
        (Agents.SaysNothing(), [("TurnsFailed", 1)]),
        (Agents.Fails(), []),  # that is an answer
        (Agents.Completes(), []),
        (Agents.GoesOn(), []),
        (Agents.EndsThenRaises(), []),
    ],
)
def test_run_agent_counts_the_tasks_that_their_agent_left_failed(agent: Agent, told: list[tuple[str, float]]) -> None:
    bench, meter = Bench(agent), FakeMeter()
    bench.send()
    worker = Worker(bench.log, bench.clock, bench.ids, lambda: agent, TURN_SECONDS, meter)

    run_agent.handler_for(worker, meter)(TURN, CONTEXT)

    assert meter.written == told


class Sweeping:
    """A task whose agent was never started."""

    def __init__(self) -> None:
        self.bench = bench = Bench(Agents.Completes())
        bench.send()
        self.meter = FakeMeter()
        self.turns = Turns(bench.log, bench.launcher, bench.clock, bench.ids, TURN_SECONDS, self.meter)
        webhooks, doorbells = FakeWebhooks(bench.world), FakeDoorbells(bench.clock)
        due = DueWebhooks(bench.log, webhooks, doorbells, bench.clock, bench.ids)
        self.sweep = Sweep(FakeDueIndex(bench.world), self.turns, due, bench.clock, self.meter)

    def handle(self, event: dict[str, Any]) -> list[tuple[str, float]]:
        self.meter.written.clear()
        sweep.handler_for(self.sweep, self.meter)(event, CONTEXT)
        return self.meter.written


def test_sweep_measures_each_minute_for_how_long_something_has_been_due() -> None:
    here = Sweeping()

    assert here.handle({}) == [("Overdue", 0.0)]
    here.bench.clock.advance(60 + 45)
    assert here.handle({}) == [("Overdue", 45.0)]  # it should have begun within a minute
    assert here.handle({}) == [("Overdue", 0.0)]


def test_sweep_counts_a_task_that_it_fails_once() -> None:
    here = Sweeping()
    stopped = {"failedTurn": TURN, "error": {}}

    assert here.handle(stopped) == [("TurnsFailed", 1)]
    assert here.handle(stopped) == []


def test_what_takes_too_long_is_counted_and_what_waits_for_its_client_is_not() -> None:
    here = Sweeping()
    here.bench.clock.advance(TURN_SECONDS)
    assert ("TurnsFailed", 1) in here.handle({})

    class Asks(Agent):
        def run(self, task: TaskContext) -> None:
            task.require_input("which?")

    waiting = Sweeping()
    waiting.bench.agent = Asks()
    waiting.bench.run()
    waiting.bench.clock.advance(31 * 86_400)
    assert [name for name, _ in waiting.handle({})] == ["Overdue"]
    assert waiting.bench.states[-1] is TaskState.FAILED


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (token(), []),
        (token(claims(exp=NOW - 100)), [("TokensRefused", 1)]),
        (token(claims(scope="other")), []),  # let in, for the api function to answer
    ],
)
def test_authorize_counts_what_it_refuses(text: str, told: list[tuple[str, float]]) -> None:
    meter = FakeMeter()
    event = {"authorizationToken": f"Bearer {text}", "methodArn": "arn:aws:execute-api:eu-central-1:1:a1/prod/GET/"}

    authorize.handler_for(Gate().verifier, meter)(event, CONTEXT)

    assert meter.written == told


def test_authorize_counts_what_nobody_keeps_too() -> None:
    meter = FakeMeter()
    text = token(by=key("P-256", "new"))
    event = {"authorizationToken": f"Bearer {text}", "methodArn": "arn:aws:execute-api:eu-central-1:1:a1/prod/GET/"}

    with pytest.raises(authorize.NotNow):
        authorize.handler_for(Gate().verifier, meter)(event, CONTEXT)

    assert meter.written == [("TokensRefused", 1)]


def test_a_card_without_the_signature_it_should_have_is_counted_each_time() -> None:
    signer, meter = FakeCardKey(), FakeMeter()
    card = SignedCard(lambda _: {"name": "agent"}, "/jwks.json", signer, meter)
    for _ in range(2):
        signer.fail_next("sign", Unavailable("Sign: TimeoutError"))
        card.page("https://agents.example.com")

    assert meter.told == [("CardsUnsigned", 1), ("CardsUnsigned", 1)]
    card.page("https://agents.example.com")
    SignedCard(lambda _: {"name": "agent"}, "/jwks.json", None, meter).page("https://agents.example.com")
    assert len(meter.told) == 2


def test_a_card_names_the_addresses_that_notifications_come_from_where_they_are_fixed() -> None:
    fixed = ApiBench(egress_addresses=("192.0.2.1", "192.0.2.2")).rest("GET", "/.well-known/agent-card.json").body
    anywhere = ApiBench().rest("GET", "/.well-known/agent-card.json").body

    (params,) = [each["params"] for each in fixed["capabilities"]["extensions"] if "jwksUrl" in each.get("params", {})]
    assert params["egressAddresses"] == ["192.0.2.1", "192.0.2.2"]
    assert "egressAddresses" not in str(anywhere)
