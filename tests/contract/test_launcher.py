"""WorkerLauncher: what every implementation must do, and how Step Functions is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ClientError

from builders.records import TASK_ID, a_ref
from fakes.clock import START
from fakes.world import FakeLauncher
from herald.adapters.aws import AwsClients
from herald.adapters.stepfunctions import StepFunctionsLauncher
from herald.ports import Unavailable, WorkerLauncher

REF = a_ref()
ROLE = "arn:aws:iam::123456789012:role/worker"
WAITS = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 600, "End": True}}}


@dataclass
class Fixture:
    launcher: WorkerLauncher
    client: Any = None
    arn: str = ""

    def executions(self) -> dict[str, str]:
        """Name to status, in the words of the fake."""
        if isinstance(self.launcher, FakeLauncher):
            return {f"{ref.task_id}-{turn}-{second}": s for (ref, turn, second), s in self.launcher.executions.items()}
        words = {"RUNNING": "running", "ABORTED": "stopped"}
        found = self.client.list_executions(stateMachineArn=self.arn)["executions"]
        return {execution["name"]: words[execution["status"]] for execution in found}


@pytest.fixture(params=["fake", "stepfunctions"])
def launch(request: pytest.FixtureRequest) -> Iterator[Fixture]:
    if request.param == "fake":
        yield Fixture(FakeLauncher())
        return
    aws: AwsClients = request.getfixturevalue("aws")
    machine = aws.stepfunctions.create_state_machine(name="worker", definition=json.dumps(WAITS), roleArn=ROLE)
    arn = machine["stateMachineArn"]
    yield Fixture(StepFunctionsLauncher(lambda: aws.stepfunctions, arn), aws.stepfunctions, arn)


def test_invariant_3_a_turn_that_is_started_twice_runs_once(launch: Fixture) -> None:
    launch.launcher.start(REF, 0, START + 1)
    launch.launcher.start(REF, 0, START + 999)  # the same second
    assert launch.executions() == {f"{TASK_ID}-0-1767225600": "running"}


def test_each_turn_has_an_execution_of_its_own(launch: Fixture) -> None:
    launch.launcher.start(REF, 0, START)
    launch.launcher.start(REF, 4, START + 5_000)
    assert set(launch.executions()) == {f"{TASK_ID}-0-1767225600", f"{TASK_ID}-4-1767225605"}


def test_a_turn_is_stopped_and_stopping_it_again_is_fine(launch: Fixture) -> None:
    launch.launcher.start(REF, 0, START)
    launch.launcher.stop(REF, 0, START)
    launch.launcher.stop(REF, 0, START)
    assert launch.executions() == {f"{TASK_ID}-0-1767225600": "stopped"}


def test_stopping_what_never_ran_is_fine(launch: Fixture) -> None:
    launch.launcher.stop(REF, 0, START)
    assert launch.executions() == {}


def test_a_stopped_turn_is_not_started_again(launch: Fixture) -> None:
    launch.launcher.start(REF, 0, START)
    launch.launcher.stop(REF, 0, START)
    launch.launcher.start(REF, 0, START)
    assert launch.executions() == {f"{TASK_ID}-0-1767225600": "stopped"}


class ScriptedSfn:
    def __init__(self, code: str, message: str) -> None:
        self._code = code
        self._message = message
        self.asked: list[dict[str, Any]] = []

    def _answer(self, **request: Any) -> None:
        self.asked.append(request)
        if self._code:
            raise ClientError({"Error": {"Code": self._code, "Message": self._message}}, "Operation")

    start_execution = _answer
    stop_execution = _answer


ARN = "arn:aws-cn:states:cn-north-1:123456789012:stateMachine:Worker-x"


def scripted(code: str = "", message: str = "") -> tuple[StepFunctionsLauncher, ScriptedSfn]:
    client = ScriptedSfn(code, message)
    return StepFunctionsLauncher(lambda: client, ARN), client  # type: ignore[arg-type, return-value]


def test_g19_an_execution_gets_ids_only() -> None:
    launcher, client = scripted()
    launcher.start(REF, 3, START)
    [asked] = client.asked
    assert json.loads(asked["input"]) == {"tenant": "acme", "owner": "alice", "taskId": TASK_ID, "turn": 3}
    assert len(asked["name"]) <= 80


def test_an_execution_is_stopped_by_its_arn() -> None:
    launcher, client = scripted()
    launcher.stop(REF, 3, START)
    [asked] = client.asked
    assert asked["executionArn"] == (
        f"arn:aws-cn:states:cn-north-1:123456789012:execution:Worker-x:{TASK_ID}-3-1767225600"
    )


def test_a_name_that_is_taken_is_done() -> None:
    launcher, _ = scripted("ExecutionAlreadyExists")
    launcher.start(REF, 0, START)


def test_an_execution_that_is_not_there_is_stopped() -> None:
    launcher, _ = scripted("ExecutionDoesNotExist")
    launcher.stop(REF, 0, START)


def test_an_execution_that_has_ended_is_stopped() -> None:
    launcher, _ = scripted("ValidationException", "Execution is not running")
    launcher.stop(REF, 3, START)


def test_throttling_is_unavailable_and_anything_else_is_raised() -> None:
    launcher, _ = scripted("ExecutionLimitExceeded")
    with pytest.raises(Unavailable):
        launcher.start(REF, 0, START)
    launcher, _ = scripted("StateMachineDoesNotExist")
    with pytest.raises(ClientError):
        launcher.start(REF, 0, START)
