"""The stack in one process on moto, and what AWS does between its parts: streams, queue, state machine, its events.

    with mock_aws(config=MOTO):
        stack = Stack.deploy(environ)
        stack.functions["start_worker"] = handler   # what functions/start_worker/app.py gives
        ...
        stack.pump()                                # until nothing moves any more

Handlers get events in the shapes that Lambda sends, filtered by the patterns of template.yaml.
"""

from __future__ import annotations

import importlib.util
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import boto3
from moto.awslambda_simple.models import LambdaSimpleBackend
from moto.core.config import DefaultConfig
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl

from builders.events import LambdaContext
from builders.stack import create_tasks_table, template
from builders.stores import AWS_ENVIRONMENT, BUCKET, REGION, TABLE

ROOT = Path(__file__).parents[2]
ACCOUNT = "123456789012"
MOTO: DefaultConfig = {"stepfunctions": {"execute_state_machine": True}, "lambda": {"use_docker": False}}

Handler = Callable[[Any, Any], Any]
STREAM_READERS = {"start_worker": "StartWorkerFunction", "ring_webhooks": "RingWebhooksFunction"}
ENDED = frozenset({"SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"})


@dataclass
class Stack:
    """What is deployed. ``waits`` are the seconds that the state machine would have waited before its retries."""

    functions: dict[str, Handler]
    environ: dict[str, str]
    stream_arn: str
    calls: list[tuple[str, Any]] = field(default_factory=list)  # (function, event), in order
    waits: list[float] = field(default_factory=list)
    read: dict[str, int] = field(default_factory=dict)  # how many stream records each reader is past

    @property
    def machine_arn(self) -> str:
        return self.environ["HERALD_STATE_MACHINE_ARN"]

    def invoke(self, function: str, event: Any) -> Any:
        """Call a function as Lambda does, with an event that has been JSON."""
        self.calls.append((function, event))
        return self.functions[function](json.loads(json.dumps(event)), LambdaContext())

    def called(self, function: str) -> list[Any]:
        """The events that a function was called with, in order."""
        return [event for name, event in self.calls if name == function]

    # ---- DynamoDB stream ----------------------------------------------------------------------------------------

    def records(self) -> list[dict[str, Any]]:
        """The whole stream, in the shape of Lambda's events."""
        client = boto3.client("dynamodbstreams")
        found: list[dict[str, Any]] = []
        shards = client.describe_stream(StreamArn=self.stream_arn)["StreamDescription"]["Shards"]
        for shard in shards:
            iterator = client.get_shard_iterator(
                StreamArn=self.stream_arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            for record in client.get_records(ShardIterator=iterator)["Records"]:
                change = dict(record["dynamodb"])
                change["ApproximateCreationDateTime"] = int(change["ApproximateCreationDateTime"].timestamp())
                found.append({**record, "dynamodb": change, "eventSourceARN": self.stream_arn})
        return found

    def stream(self) -> bool:
        """Give each reader what it hasn't had; True if anything moved. What it reports as failed is given again."""
        moved = False
        records = self.records()
        for function in STREAM_READERS:
            if function not in self.functions:
                continue
            batch = records[self.read.get(function, 0) :]
            wanted = [record for record in batch if _wanted(function, record)]
            response = self.invoke(function, {"Records": wanted}) if wanted else {"batchItemFailures": []}
            failed = {failure["itemIdentifier"] for failure in response["batchItemFailures"]}
            done = len(batch)
            if failed:
                numbers = [record["dynamodb"]["SequenceNumber"] for record in batch]
                done = min(numbers.index(number) for number in failed)
            self.read[function] = self.read.get(function, 0) + done
            moved = moved or (done > 0 and bool(wanted))
        return moved

    # ---- SQS ------------------------------------------------------------------------------------------------------

    def doorbell(self) -> dict[str, Any] | None:
        """The event with the next doorbell that can be seen; it is in flight from then on."""
        url = self.environ["HERALD_QUEUE_URL"]
        received = boto3.client("sqs").receive_message(QueueUrl=url, MaxNumberOfMessages=1, AttributeNames=["All"])
        for message in received.get("Messages", []):
            record = {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
                "messageAttributes": {},
                "md5OfBody": message["MD5OfBody"],
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:doorbells.fifo",
                "awsRegion": REGION,
            }
            return {"Records": [record]}
        return None

    def queue(self) -> bool:
        """Give send_webhooks one doorbell, if there is one; True if there was."""
        if "send_webhooks" not in self.functions or (event := self.doorbell()) is None:
            return False
        if not self.invoke("send_webhooks", event)["batchItemFailures"]:
            receipt = event["Records"][0]["receiptHandle"]
            boto3.client("sqs").delete_message(QueueUrl=self.environ["HERALD_QUEUE_URL"], ReceiptHandle=receipt)
        return True

    # ---- Step Functions ---------------------------------------------------------------------------------------------

    def executions(self) -> dict[str, str]:
        """Executions by name, with their status, once all have ended."""
        return {found["name"]: found["status"] for found in self._ended()}

    def states(self, name: str) -> list[str]:
        """The states that an execution entered, in order."""
        arn = f"{self.machine_arn.replace(':stateMachine:', ':execution:')}:{name}"
        events = boto3.client("stepfunctions").get_execution_history(executionArn=arn, maxResults=1000)["events"]
        return [event["stateEnteredEventDetails"]["name"] for event in events if event["type"].endswith("StateEntered")]

    def status_events(self) -> list[dict[str, Any]]:
        """What EventBridge sends of executions that FAILED, TIMED_OUT or were ABORTED."""
        client = boto3.client("stepfunctions")
        sent = []
        for found in self._ended():
            if found["status"] == "SUCCEEDED":
                continue
            detail = client.describe_execution(executionArn=found["executionArn"])
            sent.append(
                {
                    "version": "0",
                    "source": "aws.states",
                    "detail-type": "Step Functions Execution Status Change",
                    "account": ACCOUNT,
                    "region": REGION,
                    "resources": [found["executionArn"]],
                    "detail": {
                        "executionArn": found["executionArn"],
                        "stateMachineArn": self.machine_arn,
                        "name": found["name"],
                        "status": found["status"],
                        "input": detail["input"],
                        "inputDetails": {"included": True},
                        "error": detail.get("error"),
                        "cause": detail.get("cause"),
                    },
                }
            )
        return sent

    def _ended(self, seconds: float = 30.0) -> list[dict[str, Any]]:
        """moto runs each execution in a thread of its own."""
        client = boto3.client("stepfunctions")
        give_up = time.monotonic() + seconds
        while True:
            found = client.list_executions(stateMachineArn=self.machine_arn)["executions"]
            if all(execution["status"] in ENDED for execution in found):
                return [dict(execution) for execution in found]
            if time.monotonic() > give_up:
                raise AssertionError(f"executions haven't ended in {seconds} s: {found}")
            time.sleep(0.01)

    # ---- all of it --------------------------------------------------------------------------------------------------

    def pump(self, rounds: int = 50) -> None:
        """Move what there is to move, until nothing moves any more."""
        for _ in range(rounds):
            moved = self.stream()
            self._ended()
            while self.queue():
                moved = True
            if not moved and len(self.records()) == max(self.read.values(), default=0):
                return
        raise AssertionError(f"something still moves after {rounds} rounds")


@contextmanager
def deployed(environ: Mapping[str, str] | None = None, *, attempts: int = 2) -> Iterator[Stack]:
    """The stack's data and state machine, inside ``mock_aws``; the functions are the caller's to add.

    Executions run only with ``mock_aws(config=MOTO)``. The environment of the process becomes that of the functions,
    and is put back.
    """
    settings = {**AWS_ENVIRONMENT, "AWS_REGION": REGION, "AWS_ENDPOINT_URL": "", **(environ or {})}
    with mock.patch.dict(os.environ, settings):
        os.environ.pop("AWS_PROFILE", None)
        tables = boto3.client("dynamodb")
        create_tasks_table(tables, TABLE)
        boto3.client("s3").create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
        )
        queue_url = boto3.client("sqs").create_queue(
            QueueName="doorbells.fifo", Attributes={"FifoQueue": "true", "VisibilityTimeout": "540"}
        )
        own = {
            "HERALD_TABLE": TABLE,
            "HERALD_BUCKET": BUCKET,
            "HERALD_QUEUE_URL": queue_url["QueueUrl"],
            "HERALD_STATE_MACHINE_ARN": _create_state_machine(attempts),
            "HERALD_SEALING_SECRET": _create_secret("sealing"),
            "HERALD_SIGNING_SECRET": _create_secret("signing"),
        }
        stream_arn = tables.describe_table(TableName=TABLE)["Table"]["LatestStreamArn"]
        stack = Stack({}, own, stream_arn)
        with mock.patch.dict(os.environ, own), _lambda_of(stack), _no_waiting(stack):
            yield stack


def load(function: str) -> Handler:
    """The handler of functions/<function>/app.py, made anew under the environment as it is."""
    spec = importlib.util.spec_from_file_location(f"{function}_function", ROOT / "functions" / function / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Handler = module.handler
    return handler


def definition(attempts: int) -> str:
    """statemachines/task_worker.asl.json with its substitutions, as CloudFormation makes it: by text."""
    text = (ROOT / "statemachines" / "task_worker.asl.json").read_text()
    for name, value in {
        "RunAgentArn": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:run_agent",
        "SweepArn": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:sweep",
        "RetryIntervalSeconds": "2",
        "MaxAttempts": str(attempts),
    }.items():
        text = text.replace(f"${{{name}}}", value)
    return text


def _create_state_machine(attempts: int) -> str:
    return boto3.client("stepfunctions").create_state_machine(
        name="task-worker", definition=definition(attempts), roleArn=f"arn:aws:iam::{ACCOUNT}:role/task-worker"
    )["stateMachineArn"]


def _create_secret(name: str) -> str:
    return boto3.client("secretsmanager").create_secret(Name=name, SecretString=f"the {name} secret")["ARN"]


@contextmanager
def _lambda_of(stack: Stack) -> Iterator[None]:
    """Let the state machine's Lambda tasks reach the handlers, failures in Lambda's shape."""

    def invoke(
        _: object, function_name: str, qualifier: str | None, body: Any, headers: Any, response_headers: dict[str, str]
    ) -> bytes:
        try:
            result = stack.invoke(function_name.rpartition(":")[2], json.loads(body))
        except BaseException as error:
            # A process that exits is told by Lambda as Runtime.ExitError, everything else by its class.
            kind = "Runtime.ExitError" if isinstance(error, SystemExit) else type(error).__name__
            response_headers["x-amz-function-error"] = "Unhandled"
            return json.dumps({"errorType": kind, "errorMessage": str(error)}).encode()
        return json.dumps(result).encode()

    with mock.patch.object(LambdaSimpleBackend, "invoke", invoke):
        yield


@contextmanager
def _no_waiting(stack: Stack) -> Iterator[None]:
    """Note the state machine's waits before retries instead of waiting."""
    with mock.patch.object(retrier_decl, "time", SimpleNamespace(sleep=stack.waits.append)):
        yield


def _wanted(function: str, record: Mapping[str, Any]) -> bool:
    patterns = _patterns(STREAM_READERS[function])
    return any(_matches(pattern, record) for pattern in patterns)


def _patterns(logical_id: str) -> list[dict[str, Any]]:
    events = template()["Resources"][logical_id]["Properties"]["Events"].values()
    found = [
        json.loads(each["Pattern"])
        for event in events
        for each in event["Properties"].get("FilterCriteria", {}).get("Filters", [])
    ]
    assert found, f"{logical_id} has no filter"
    return found


def _matches(pattern: Mapping[str, Any], value: Any) -> bool:
    """EventBridge's plain patterns: objects member by member, lists of literals as alternatives."""
    if not isinstance(value, Mapping):
        return False
    return all(
        _matches(wanted, value.get(name)) if isinstance(wanted, Mapping) else value.get(name) in wanted
        for name, wanted in pattern.items()
    )
