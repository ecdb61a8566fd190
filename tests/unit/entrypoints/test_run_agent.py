"""run_agent: the state machine's ids in, an outcome out."""

from __future__ import annotations

from typing import Any, cast

import pytest

from builders.events import LambdaContext
from builders.turns import Bench
from herald.agent import Agent, Checkpoint, TaskContext, checkpoint
from herald.entrypoints.run_agent import handler_for
from herald.ports import Unavailable
from herald.worker.loading import AgentNotLoaded

TURN = {"tenant": "tenant", "owner": "alice", "taskId": "task-1", "turn": 0}


class TwoSteps(Agent):
    def __init__(self) -> None:
        self.left: list[float] = []

    def run(self, task: TaskContext) -> Checkpoint | None:
        self.left.append(task.seconds_left())
        if task.checkpoint is None:
            return checkpoint("half")
        task.complete()
        return None


def handle(bench: Bench, event: Any, seconds: float = 300.0) -> dict[str, str]:
    return handler_for(bench.worker)(event, cast("Any", LambdaContext(seconds)))


def test_a_turn_is_run_and_run_on() -> None:
    agent = TwoSteps()
    bench = Bench(agent)
    bench.send()

    assert handle(bench, TURN, 120.0) == {"outcome": "again"}
    assert handle(bench, TURN | {"run": {"outcome": "again"}}) == {"outcome": "done"}  # the state keeps the last result
    assert handle(bench, TURN) == {"outcome": "done"}  # a doubled call
    assert agent.left == [120.0, 300.0]
    assert bench.states[-1].value == "TASK_STATE_COMPLETED"


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ([], "a turn is an object with tenant, owner, taskId and turn, not list"),
        ({}, "tenant, owner, taskId: must be a string in a turn"),
        (TURN | {"owner": 7}, "owner: must be a string in a turn"),
        (TURN | {"turn": "0"}, "turn: must be the number of a log entry"),
        (TURN | {"turn": True}, "turn: must be the number of a log entry"),
        (TURN | {"turn": -1}, "turn: must be the number of a log entry"),
    ],
)
def test_an_event_that_names_no_turn_is_refused(event: Any, message: str) -> None:
    bench = Bench(TwoSteps())
    bench.send()

    with pytest.raises(ValueError, match=r"must be|is an object") as raised:
        handle(bench, event)
    assert str(raised.value) == message
    assert len(bench.entries) == 1


def test_trouble_is_raised_for_step_functions_to_try_again() -> None:
    bench = Bench(TwoSteps())
    bench.send()
    bench.log.fail_next("header", Unavailable("throttled"))

    with pytest.raises(Unavailable):
        handle(bench, TURN)

    def missing() -> Agent:
        raise AgentNotLoaded("no such module")

    bench.agent = missing
    with pytest.raises(AgentNotLoaded):
        handle(bench, TURN)
    assert bench.states == []  # the task isn't failed by what isn't the agent's failure
