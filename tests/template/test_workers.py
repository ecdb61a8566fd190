"""What sets functions off: the stream's two readers, the queue, the state machine, the clock."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
Select = Callable[[str], dict[str, Any]]

FILTERS = {
    "StartWorkerFunctionNewTurn": [
        {"dynamodb": {"NewImage": {"opens": {"S": ["turn"]}}}},
    ],
    "RingWebhooksFunctionNewEntry": [
        {"dynamodb": {"NewImage": {"kind": {"S": ["status", "artifact"]}}}},
        {"dynamodb": {"NewImage": {"snapshot": {"S": ["due"]}}}},
    ],
}


@pytest.fixture
def mappings(of_type: Select) -> dict[str, Any]:
    return of_type("AWS::Lambda::EventSourceMapping")


def test_the_stream_has_two_readers_and_the_queue_one(mappings: dict[str, Any]) -> None:
    assert set(mappings) == {*FILTERS, "SendWebhooksFunctionDoorbell"}


@pytest.mark.parametrize("name", FILTERS)
def test_a_bad_record_holds_up_a_shard_for_minutes_not_for_a_day(mappings: dict[str, Any], name: str) -> None:
    mapping = mappings[name]
    assert mapping["EventSourceArn"] == {"Fn::GetAtt": ["Tasks", "StreamArn"]}
    assert mapping["StartingPosition"] == "TRIM_HORIZON"
    assert mapping["BisectBatchOnFunctionError"] is True
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["MaximumRecordAgeInSeconds"] == 3600
    assert 0 < mapping["MaximumRetryAttempts"] <= 10
    assert mapping["DestinationConfig"] == {"OnFailure": {"Destination": {"Fn::GetAtt": ["LostRecords", "Arn"]}}}


@pytest.mark.parametrize(("name", "filters"), FILTERS.items())
def test_a_reader_sees_only_what_concerns_it(mappings: dict[str, Any], name: str, filters: list[Any]) -> None:
    assert [json.loads(row["Pattern"]) for row in mappings[name]["FilterCriteria"]["Filters"]] == filters


def test_doorbells_come_one_at_a_time_and_receivers_cant_take_all_concurrency(mappings: dict[str, Any]) -> None:
    mapping = mappings["SendWebhooksFunctionDoorbell"]
    assert mapping["EventSourceArn"] == {"Fn::GetAtt": ["Doorbells", "Arn"]}
    assert mapping["BatchSize"] == 1
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": {"Ref": "DeliveryConcurrency"}}


def test_doorbells_are_ordered_by_group_and_dead_ones_are_kept_two_weeks(of_type: Select) -> None:
    queues = of_type("AWS::SQS::Queue")
    doorbells = queues["Doorbells"]
    assert doorbells["FifoQueue"] is True
    assert doorbells["DeduplicationScope"] == "messageGroup"
    assert doorbells["FifoThroughputLimit"] == "perMessageGroupId"
    assert doorbells["RedrivePolicy"] == {
        "deadLetterTargetArn": {"Fn::GetAtt": ["DeadDoorbells", "Arn"]},
        "maxReceiveCount": 1000,
    }
    assert queues["DeadDoorbells"]["FifoQueue"] is True
    assert all(queue["MessageRetentionPeriod"] == 14 * 86_400 for queue in queues.values())
    assert all(queue["SqsManagedSseEnabled"] is True for queue in queues.values())


def test_a_doorbell_is_invisible_for_six_times_the_functions_time(of_type: Select) -> None:
    timeout = of_type("AWS::Lambda::Function")["SendWebhooksFunction"]["Timeout"]
    assert of_type("AWS::SQS::Queue")["Doorbells"]["VisibilityTimeout"] >= 6 * timeout


def test_the_state_machine_gets_exactly_what_its_definition_asks_for(of_type: Select) -> None:
    definition = (ROOT / "statemachines" / "task_worker.asl.json").read_text(encoding="utf-8")
    (machine,) = of_type("AWS::StepFunctions::StateMachine").values()
    given = machine["DefinitionSubstitutions"]
    assert set(given) == set(re.findall(r"\$\{(\w+)\}", definition))
    assert given["RunAgentArn"] == {"Fn::GetAtt": ["RunAgentFunction", "Arn"]}
    assert given["SweepArn"] == {"Fn::GetAtt": ["SweepFunction", "Arn"]}
    json.loads(re.sub(r"\$\{\w+\}", "1", definition))


def test_the_first_wait_before_a_run_is_tried_again_is_below_the_longest(template: dict[str, Any]) -> None:
    definition = (ROOT / "statemachines" / "task_worker.asl.json").read_text(encoding="utf-8")
    longest = {int(seconds) for seconds in re.findall(r'"MaxDelaySeconds": (\d+)', definition)}
    assert longest == {60}
    assert template["Parameters"]["WorkerRetrySeconds"]["MaxValue"] < 60


def test_the_state_machine_logs_failures_without_data(of_type: Select) -> None:
    (machine,) = of_type("AWS::StepFunctions::StateMachine").values()
    assert machine["StateMachineType"] == "STANDARD"
    assert machine["RoleArn"] == {"Fn::GetAtt": ["TaskWorkerRole", "Arn"]}
    assert machine["TracingConfiguration"] == {"Enabled": True}
    assert machine["LoggingConfiguration"] == {
        "Level": "ERROR",
        "IncludeExecutionData": False,
        "Destinations": [{"CloudWatchLogsLogGroup": {"LogGroupArn": {"Fn::GetAtt": ["TaskWorkerLog", "Arn"]}}}],
    }


def test_sweep_comes_every_minute_and_after_an_execution_that_ended_badly(of_type: Select) -> None:
    rules = of_type("AWS::Events::Rule")
    assert rules["SweepFunctionEveryMinute"]["ScheduleExpression"] == "rate(1 minute)"
    assert rules["SweepFunctionExecutionEnded"]["EventPattern"] == {
        "source": ["aws.states"],
        "detail-type": ["Step Functions Execution Status Change"],
        "detail": {"stateMachineArn": [{"Ref": "TaskWorker"}], "status": ["FAILED", "TIMED_OUT", "ABORTED"]},
    }
    for rule in rules.values():
        assert [target["Arn"] for target in rule["Targets"]] == [{"Fn::GetAtt": ["SweepFunction", "Arn"]}]


def test_sweep_starts_the_very_state_machine_that_calls_it(of_type: Select) -> None:
    """They would be a circle for CloudFormation, so the name is composed twice; the two must stay equal."""
    (machine,) = of_type("AWS::StepFunctions::StateMachine").values()
    uuid = {"Fn::Select": [2, {"Fn::Split": ["/", {"Ref": "AWS::StackId"}]}]}
    identity = {"Fn::Select": [4, {"Fn::Split": ["-", uuid]}]}
    assert machine["StateMachineName"] == {"Fn::Join": ["-", ["task-worker", identity]]}
    arn = {
        "Fn::Sub": [
            "arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:stateMachine:task-worker-${Id}",
            {"Id": identity},
        ]
    }
    variables = of_type("AWS::Lambda::Function")["SweepFunction"]["Environment"]["Variables"]
    assert variables["HERALD_STATE_MACHINE_ARN"] == arn
    (start,) = [
        row
        for row in of_type("AWS::IAM::Role")["SweepRole"]["Policies"][0]["PolicyDocument"]["Statement"]
        if row["Action"] == "states:StartExecution"
    ]
    assert start["Resource"] == arn
