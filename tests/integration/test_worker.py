"""start_worker, the state machine, run_agent and sweep on moto: from a stored message to the end of its task.

The state machine is the one of statemachines/, run by moto; its tasks reach the functions' own handlers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import boto3
import pytest
from moto import mock_aws

from builders.agents import MEANWHILE
from builders.records import a_header, a_message, a_ref, message_entry
from builders.stores import BUCKET, TABLE
from builders.turns import result_of
from herald.adapters.aws import AwsClients
from herald.adapters.clock import RandomIds, SystemClock
from herald.adapters.dynamodb.log import DynamoTaskLog
from herald.adapters.s3 import S3Bodies
from herald.adapters.stepfunctions import StepFunctionsLauncher, execution_name
from herald.log import fold
from herald.operations.call import Call
from herald.operations.cancel_task import CancelTask
from herald.operations.follow_up import FollowUps
from herald.operations.identity import identify
from herald.protocol import codec
from herald.protocol.requests import CancelTaskRequest
from herald.records import Caller, Entry, Header
from integration.pump import MOTO, Stack, definition, deployed, load

REF = a_ref()
TURN = {"tenant": REF.tenant, "owner": REF.owner, "taskId": REF.task_id, "turn": 0}
CALL = Call(Caller(REF.tenant, REF.owner))
MINUTE = 60_000


@dataclass
class Scene:
    """The deployed stack, and what the API would do to it."""

    stack: Stack
    log: DynamoTaskLog
    launcher: StepFunctionsLauncher
    clock: SystemClock
    ids: RandomIds

    def send(self, text: str, *, age_ms: int = 0) -> None:
        """Make the task, as if ``age_ms`` ago."""
        at = self.clock.now() - age_ms
        header = a_header(created_at=at, status_at=at, opened_at=at, due_at=at + MINUTE, end_by=at + 30 * 86_400_000)
        header = replace(header, expires_second=at // 1000 + 60 * 86_400)
        assert self.log.create(header, message_entry(message=a_message(text), at=at, writer=self.ids.token()), None)

    def follow_up(self, text: str, message_id: str = "m2") -> None:
        message = a_message(text, messageId=message_id, taskId=REF.task_id)
        identity = identify(CALL.caller, message, "", "message", self.ids)
        follow_ups = FollowUps(self.log, self.clock, self.ids)
        follow_ups.take(CALL, message, identity, lambda stored: codec.dumps({"message": stored}))

    def cancel(self) -> None:
        cancel = CancelTask(self.log, self.launcher, self.clock, self.ids)
        result_of(cancel(CALL, CancelTaskRequest.parse({"id": REF.task_id})))

    @property
    def entries(self) -> list[Entry]:
        return self.log.read(REF)

    @property
    def header(self) -> Header:
        header = self.log.header(REF)
        assert header is not None
        return header

    @property
    def task(self) -> dict[str, Any]:
        return fold(REF, self.entries)

    @property
    def told(self) -> tuple[str, str]:
        status = self.task["status"]
        return status["state"], status["message"]["parts"][0]["text"]

    @property
    def kinds(self) -> list[str]:
        return [entry.kind for entry in self.entries]

    def name(self, turn: int = 0) -> str:
        opened = next(entry for entry in self.entries if entry.opens_turn and entry.turn == turn)
        return execution_name(REF, turn, opened.at)


@pytest.fixture
def scene() -> Iterator[Scene]:
    with mock_aws(config=MOTO), deployed({"HERALD_AGENT": "builders.agents:Obedient"}) as stack:
        for function in ("start_worker", "run_agent", "sweep"):
            stack.functions[function] = load(function)
        aws, clock = AwsClients(), SystemClock()
        log = DynamoTaskLog(lambda: aws.dynamodb, TABLE, S3Bodies(lambda: aws.s3, BUCKET), clock)
        launcher = StepFunctionsLauncher(lambda: aws.stepfunctions, stack.machine_arn)
        yield Scene(stack, log, launcher, clock, RandomIds())


def test_b14_a_message_reaches_its_end_without_another_request(scene: Scene) -> None:
    scene.send("work chunks complete")

    scene.stack.pump()

    assert scene.told == ("TASK_STATE_COMPLETED", "Done")
    assert scene.task["artifacts"] == [
        {"artifactId": "report", "name": "Report", "parts": [{"text": "one "}, {"text": "two"}]}
    ]
    assert scene.stack.executions() == {scene.name(): "SUCCEEDED"}
    assert scene.stack.states(scene.name()) == ["RunAgent", "GoOn", "Done"]
    assert scene.kinds == ["message", "run", "status", "artifact", "artifact", "status"]


def test_g19_the_state_carries_ids_only(scene: Scene) -> None:
    scene.send("complete " + "x" * 350_000)  # more than a state holds, and than an item

    scene.stack.pump()

    assert scene.stack.called("run_agent") == [TURN]
    assert scene.told == ("TASK_STATE_COMPLETED", "Done")
    history = boto3.client("stepfunctions").get_execution_history(
        executionArn=f"{scene.stack.machine_arn.replace(':stateMachine:', ':execution:')}:{scene.name()}"
    )
    assert len(json.dumps(history["events"], default=str)) < 10_000


def test_b1_a_stream_that_is_read_again_runs_nothing_again(scene: Scene) -> None:
    scene.send("complete")
    scene.stack.pump()
    scene.stack.read.clear()

    scene.stack.pump()

    assert scene.stack.executions() == {scene.name(): "SUCCEEDED"}
    assert len(scene.stack.called("run_agent")) == 1


def test_b15_a_follow_up_is_run_in_an_execution_of_its_own(scene: Scene) -> None:
    scene.send("work ask")
    scene.stack.pump()
    assert scene.told == ("TASK_STATE_INPUT_REQUIRED", "Which one?")
    assert scene.header.due_at == scene.header.end_by

    scene.follow_up("complete")
    scene.follow_up("complete")  # sent twice
    scene.stack.pump()

    assert scene.told == ("TASK_STATE_COMPLETED", "Done")
    assert scene.stack.executions() == {scene.name(0): "SUCCEEDED", scene.name(4): "SUCCEEDED"}
    assert scene.kinds == ["message", "run", "status", "status", "message", "status", "run", "status"]


def test_a_message_while_it_works_is_run_in_an_execution_of_its_own_when_the_first_one_is_over(scene: Scene) -> None:
    scene.send("work meanwhile complete")
    MEANWHILE.append(lambda: scene.follow_up("read complete"))

    scene.stack.pump()

    assert scene.told == ("TASK_STATE_COMPLETED", "Done")
    assert scene.kinds == ["message", "run", "status", "message", "status", "run", "status", "status"]
    assert scene.stack.executions() == {scene.name(0): "SUCCEEDED", scene.name(3): "SUCCEEDED"}
    # Each turn is one record of start_worker's and one call of run_agent's; the message itself woke nobody.
    assert [len(event["Records"]) for event in scene.stack.called("start_worker")] == [1, 1]
    assert [event["turn"] for event in scene.stack.called("run_agent")] == [0, 3]


def test_messages_that_the_agent_reads_cost_no_turn(scene: Scene) -> None:
    scene.send("meanwhile meanwhile read complete")
    MEANWHILE.extend([lambda: scene.follow_up("one", "m2"), lambda: scene.follow_up("two", "m3")])

    scene.stack.pump()

    assert scene.told == ("TASK_STATE_COMPLETED", "Done")
    working = scene.task["history"][-1]
    assert working["parts"] == [{"text": "one"}, {"text": "two"}]
    assert scene.stack.executions() == {scene.name(0): "SUCCEEDED"}


def test_what_a_crashed_run_has_read_is_read_again_and_after_a_checkpoint_it_isnt(scene: Scene) -> None:
    scene.send("meanwhile crash-once read steps read complete")
    MEANWHILE.append(lambda: scene.follow_up("one"))

    scene.stack.pump()

    said = [message["parts"][0]["text"] for message in scene.task["history"] if message["role"] == "ROLE_AGENT"]
    assert said == ["one", "Nothing new", "Nothing new", "Nothing new"]
    assert scene.told == ("TASK_STATE_COMPLETED", "Done")
    assert scene.stack.executions() == {scene.name(0): "SUCCEEDED"}


def test_b12_a_turn_that_fails_takes_the_messages_that_wait_along(scene: Scene) -> None:
    scene.send("meanwhile crash")
    MEANWHILE.append(lambda: scene.follow_up("complete"))

    scene.stack.pump()

    assert scene.told == ("TASK_STATE_FAILED", "The agent stopped unexpectedly.")
    assert scene.stack.executions() == {scene.name(0): "FAILED"}


def test_b13_a_turn_that_gave_way_and_whose_record_was_lost_is_started_by_sweep(scene: Scene) -> None:
    scene.send("meanwhile complete")
    MEANWHILE.append(lambda: scene.follow_up("complete"))
    scene.stack.stream()
    scene.stack.executions()  # waits until the first one is over
    assert scene.header.turn == 2
    scene.log.defer(scene.header, scene.clock.now())

    assert scene.stack.invoke("sweep", {}) == {"started again": 1}
    assert scene.stack.executions() == {scene.name(0): "SUCCEEDED", scene.name(2): "SUCCEEDED"}
    scene.stack.pump()  # the stream tells after all
    assert len(scene.stack.executions()) == 2
    assert scene.told == ("TASK_STATE_COMPLETED", "Done")


def test_g21_checkpoints_are_rounds_of_one_execution(scene: Scene) -> None:
    scene.send("steps complete")

    scene.stack.pump()

    assert scene.told == ("TASK_STATE_COMPLETED", "Done")
    assert scene.stack.states(scene.name()) == ["RunAgent", "GoOn"] * 3 + ["Done"]
    assert [event.get("run") for event in scene.stack.called("run_agent")] == [
        None,
        {"outcome": "again"},
        {"outcome": "again"},
    ]


def test_a_crash_is_tried_again_with_backoff_and_jitter(scene: Scene) -> None:
    scene.send("work crash-once complete")

    scene.stack.pump()

    assert scene.told == ("TASK_STATE_COMPLETED", "Done")
    assert scene.stack.executions() == {scene.name(): "SUCCEEDED"}
    assert scene.kinds == ["message", "run", "status", "run", "status", "status"]
    assert len(scene.stack.waits) == 1


def test_b12_a_turn_that_crashes_every_time_is_caught_and_failed_by_sweep(scene: Scene) -> None:
    scene.send("work crash")

    scene.stack.pump()

    assert scene.told == ("TASK_STATE_FAILED", "The agent stopped unexpectedly.")
    assert len(scene.stack.called("run_agent")) == 3
    assert len(scene.stack.waits) == 2
    assert scene.stack.states(scene.name()) == ["RunAgent", "EndTask", "TurnFailed"]
    assert scene.stack.executions() == {scene.name(): "FAILED"}
    (event,) = scene.stack.called("sweep")
    assert event["failedTurn"] == TURN
    assert event["error"]["Error"] == "Runtime.ExitError"
    assert scene.header.due_at is None


def test_b12_an_exception_of_the_agents_is_no_failure_of_the_execution(scene: Scene) -> None:
    scene.send("work raise")

    scene.stack.pump()

    assert scene.told == ("TASK_STATE_FAILED", "The agent failed while working on this task.")
    assert scene.stack.executions() == {scene.name(): "SUCCEEDED"}
    assert len(scene.stack.called("run_agent")) == 1
    assert not any("secret" in entry.body for entry in scene.entries)


def test_b12_an_agent_that_cannot_be_imported_fails_the_task(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERALD_AGENT", "nowhere.to_be_found:Agent")
    scene.stack.functions["run_agent"] = load("run_agent")
    scene.send("complete")

    scene.stack.pump()

    assert scene.told == ("TASK_STATE_FAILED", "The agent stopped unexpectedly.")
    assert scene.kinds == ["message", "status"]
    assert scene.stack.called("sweep")[0]["error"]["Error"] == "AgentNotLoaded"


def test_g20_a_stopped_execution_is_told_by_its_event(scene: Scene) -> None:
    scene.send("work crash")

    def refuse(_: Any, __: Any) -> Any:
        raise RuntimeError("sweep can't be reached from the state machine")

    sweep, scene.stack.functions["sweep"] = scene.stack.functions["sweep"], refuse
    scene.stack.pump()
    assert scene.task["status"]["state"] == "TASK_STATE_WORKING"
    scene.stack.functions["sweep"] = sweep
    (event,) = scene.stack.status_events()

    assert [scene.stack.invoke("sweep", event), scene.stack.invoke("sweep", event)] == [{"ended": 1}, {"ended": 0}]
    assert scene.told == ("TASK_STATE_FAILED", "The agent stopped unexpectedly.")


def test_b13_a_message_that_the_stream_lost_is_started_by_sweep(scene: Scene) -> None:
    scene.send("complete", age_ms=2 * MINUTE)

    assert scene.stack.invoke("sweep", {"source": "aws.events", "detail-type": "Scheduled Event"}) == {
        "started again": 1
    }
    assert scene.stack.executions() == {scene.name(): "SUCCEEDED"}
    assert scene.told == ("TASK_STATE_COMPLETED", "Done")

    scene.stack.pump()  # the stream tells after all
    assert len(scene.stack.executions()) == 1


def test_b13_a_turn_past_its_deadline_is_failed_once(scene: Scene) -> None:
    scene.send("complete", age_ms=61 * MINUTE)

    assert scene.stack.invoke("sweep", {}) == {"ended": 1}
    assert scene.stack.invoke("sweep", {}) == {}
    assert scene.told == ("TASK_STATE_FAILED", "The agent could not be started in time.")

    scene.stack.pump()  # the execution that the stream starts now finds nothing to do
    assert scene.kinds == ["message", "status"]


def test_b10_b8_a_task_that_is_canceled_before_it_begins_is_never_run(scene: Scene) -> None:
    scene.send("complete")
    scene.cancel()

    scene.stack.pump()

    assert scene.task["status"]["state"] == "TASK_STATE_CANCELED"
    assert scene.kinds == ["message", "status"]


def test_b8_a_cancel_in_the_middle_of_a_run_stands(scene: Scene) -> None:
    scene.send("work meanwhile complete")
    MEANWHILE.append(scene.cancel)

    scene.stack.pump()

    assert scene.task["status"]["state"] == "TASK_STATE_CANCELED"
    assert scene.kinds == ["message", "run", "status", "status"]
    assert len(scene.stack.called("run_agent")) == 1


def test_a_stream_record_that_fails_is_given_again(scene: Scene) -> None:
    scene.send("complete")
    start_worker, calls = scene.stack.functions["start_worker"], []

    def fail_first(event: Any, context: Any) -> Any:
        calls.append(event)
        if len(calls) == 1:
            number = event["Records"][0]["dynamodb"]["SequenceNumber"]
            return {"batchItemFailures": [{"itemIdentifier": number}]}
        return start_worker(event, context)

    scene.stack.functions["start_worker"] = fail_first
    scene.stack.pump()

    assert len(calls) == 2
    assert scene.told == ("TASK_STATE_COMPLETED", "Done")


def test_the_definition_holds_to_what_a_reader_expects_of_it() -> None:
    machine = json.loads(definition(attempts=5))
    run, end = machine["States"]["RunAgent"], machine["States"]["EndTask"]

    retry = {
        "ErrorEquals": ["States.ALL"],
        "IntervalSeconds": 2,
        "MaxAttempts": 5,
        "BackoffRate": 2,
        "MaxDelaySeconds": 60,
        "JitterStrategy": "FULL",
    }
    assert run["Retry"] == [retry]
    assert end["Retry"] == [retry]
    assert run["Catch"] == [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "EndTask"}]
    assert "QueryLanguage" not in machine
    assert machine["TimeoutSeconds"] == 30 * 86_400  # a turn's own deadline is sweep's; this is the net below it
