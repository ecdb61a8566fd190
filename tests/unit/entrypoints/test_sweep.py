"""sweep: its three kinds of event."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import pytest

from builders.events import LambdaContext
from builders.turns import TURN_SECONDS, Bench
from fakes.clock import START
from fakes.store import FakeDueIndex, FakeWebhooks
from fakes.world import FakeDoorbells
from herald.agent import Agent, TaskContext
from herald.entrypoints.sweep import SweepIncomplete, handler_for
from herald.ports import Unavailable
from herald.upkeep.sweep import Sweep
from herald.upkeep.turns import Turns
from herald.upkeep.webhooks import DueWebhooks

TURN = {"tenant": "tenant", "owner": "alice", "taskId": "task-1", "turn": 0}
SCHEDULE = {
    "version": "0",
    "id": "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa",
    "detail-type": "Scheduled Event",
    "source": "aws.events",
    "account": "123456789012",
    "time": "2026-01-01T00:01:00Z",
    "region": "eu-central-1",
    "resources": ["arn:aws:events:eu-central-1:123456789012:rule/every-minute"],
    "detail": {},
}


class Dies(Agent):
    def run(self, task: TaskContext) -> None:
        task.working()
        raise SystemExit(1)


class Scene:
    def __init__(self) -> None:
        self.bench = bench = Bench(Dies())
        bench.send()
        webhooks, doorbells = FakeWebhooks(bench.world), FakeDoorbells(bench.clock)
        turns = Turns(bench.log, bench.launcher, bench.clock, bench.ids, TURN_SECONDS)
        due = DueWebhooks(bench.log, webhooks, doorbells, bench.clock, bench.ids)
        self.sweep = Sweep(FakeDueIndex(bench.world), turns, due, bench.clock)

    def crash(self) -> None:
        with pytest.raises(SystemExit):
            self.bench.run()

    def handle(self, event: dict[str, Any], seconds: float = 50.0) -> dict[str, int]:
        return handler_for(self.sweep)(event, cast("Any", LambdaContext(seconds)))

    @property
    def told(self) -> tuple[str, str]:
        status = self.bench.task["status"]
        return status["state"], status["message"]["parts"][0]["text"]


def status_change(status: str, **detail: Any) -> dict[str, Any]:
    machine = "arn:aws:states:eu-central-1:123456789012"
    return {
        "version": "0",
        "id": "315c1398-40ff-a850-213b-158f73e60175",
        "detail-type": "Step Functions Execution Status Change",
        "source": "aws.states",
        "account": "123456789012",
        "time": "2026-01-01T00:01:00Z",
        "region": "eu-central-1",
        "resources": [f"{machine}:execution:task-worker:task-1-0-1767225600"],
        "detail": {
            "executionArn": f"{machine}:execution:task-worker:task-1-0-1767225600",
            "stateMachineArn": f"{machine}:stateMachine:task-worker",
            "name": "task-1-0-1767225600",
            "status": status,
            "startDate": START,
            "stopDate": START + 60_000,
            "input": json.dumps(TURN),
            "inputDetails": {"included": True},
            "output": None,
            "outputDetails": None,
            "error": "States.Runtime",
            "cause": "a secret of the agent's",
            **detail,
        },
    }


def test_the_schedule_deals_with_what_is_due() -> None:
    scene = Scene()
    scene.bench.clock.advance(60)

    assert scene.handle(SCHEDULE) == {"started again": 1}
    assert scene.handle(SCHEDULE) == {}
    assert scene.bench.launcher.started == [(scene.bench.ref, 0)]


def test_b13_a_run_past_its_deadline_ends_once() -> None:
    scene = Scene()
    scene.crash()
    scene.bench.clock.advance(TURN_SECONDS)

    assert [scene.handle(SCHEDULE), scene.handle(SCHEDULE)] == [{"ended": 1}, {}]
    assert scene.told == ("TASK_STATE_FAILED", "The agent did not finish this task in time.")


def test_an_item_that_fails_is_told_when_the_round_is_over() -> None:
    scene = Scene()
    scene.bench.clock.advance(60)
    scene.bench.launcher.fail_next("start", Unavailable("throttled"))

    with pytest.raises(SweepIncomplete, match="1 items could not be looked after"):
        scene.handle(SCHEDULE)


def test_sweep_keeps_ten_seconds_of_its_time() -> None:
    scene = Scene()
    scene.bench.clock.advance(60)

    assert scene.handle(SCHEDULE, seconds=10.0) == {"left for the next round": 1}
    assert scene.bench.launcher.started == []


def test_b12_a_turn_that_the_state_machine_gave_up_is_failed() -> None:
    scene = Scene()
    scene.crash()
    event = {"failedTurn": TURN, "error": {"Error": "SystemExit", "Cause": "a secret of the agent's"}}

    assert [scene.handle(event), scene.handle(event)] == [{"ended": 1}, {"ended": 0}]

    assert scene.told == ("TASK_STATE_FAILED", "The agent stopped unexpectedly.")
    assert not any("secret" in entry.body for entry in scene.bench.entries)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ("FAILED", "The agent stopped unexpectedly."),
        ("ABORTED", "The agent stopped unexpectedly."),
        ("TIMED_OUT", "The agent did not finish this task in time."),
    ],
)
def test_g20_an_execution_that_no_catch_caught_fails_its_task(status: str, text: str) -> None:
    scene = Scene()
    scene.crash()

    assert scene.handle(status_change(status)) == {"ended": 1}
    assert scene.told == ("TASK_STATE_FAILED", text)
    assert scene.handle(status_change(status)) == {"ended": 0}


def test_g20_an_execution_that_was_stopped_because_its_task_was_canceled_changes_nothing() -> None:
    scene = Scene()
    scene.crash()
    scene.bench.cancel()

    assert scene.handle(status_change("ABORTED")) == {"ended": 0}
    assert scene.bench.states[-1].value == "TASK_STATE_CANCELED"


@pytest.mark.parametrize(
    "event",
    [
        {"failedTurn": None},
        {"failedTurn": {"tenant": "tenant"}, "error": {}},
        {"source": "aws.states", "detail": {"status": "FAILED", "input": "[]"}},
    ],
)
def test_an_event_that_names_no_turn_is_an_error(event: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="turn"):
        Scene().handle(event)


def test_trouble_while_ending_a_task_is_raised_to_be_tried_again() -> None:
    scene = Scene()
    scene.crash()
    scene.bench.log.fail_next("commit", Unavailable("throttled"))

    with pytest.raises(Unavailable):
        scene.handle({"failedTurn": TURN, "error": {}})
    assert scene.handle({"failedTurn": TURN, "error": {}}) == {"ended": 1}
    assert replace(scene.bench.header, due_at=None) == scene.bench.header
