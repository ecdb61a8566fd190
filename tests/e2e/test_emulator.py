"""What AWS does and the pinned emulator, left alone, doesn't: one test for each module of local/emulator.

A test that passes without its module says that the module can go.
"""

from __future__ import annotations

import base64
import io
import json
import socket
import textwrap
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
import pytest
from local import environments, process
from local.environments import EMULATOR, ROOT

WITHIN = 30.0  # seconds until something must have happened; it takes less than one
ACCOUNT = "000000000000"
REGION = "us-east-1"
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": ["lambda.amazonaws.com", "states.amazonaws.com"]},
            "Action": "sts:AssumeRole",
        }
    ],
}


@dataclass
class Cloud:
    """An emulator of its own, and short ways to make things in it. Names are counted, so that tests share nothing."""

    url: str
    made: Iterator[int] = field(default_factory=lambda: iter(range(1_000_000)))

    def client(self, service: str) -> Any:
        return boto3.client(  # type: ignore[call-overload]
            service,
            endpoint_url=self.url,
            region_name=REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    @cached_property
    def dynamodb(self) -> Any:
        return self.client("dynamodb")

    @cached_property
    def functions(self) -> Any:
        return self.client("lambda")

    @cached_property
    def sqs(self) -> Any:
        return self.client("sqs")

    def name(self, kind: str) -> str:
        return f"{kind}-{next(self.made)}"

    def role(self, actions: list[str], condition: dict[str, Any] | None = None) -> str:
        name, iam = self.name("role"), self.client("iam")
        arn: str = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(TRUST))["Role"]["Arn"]
        more = {"Condition": condition} if condition else {}
        statement = [{"Effect": "Allow", "Action": actions, "Resource": "*", **more}]
        document = json.dumps({"Version": "2012-10-17", "Statement": statement})
        iam.put_role_policy(RoleName=name, PolicyName="may", PolicyDocument=document)
        return arn

    def function(
        self,
        code: str,
        *,
        actions: list[str] | None = None,
        condition: dict[str, Any] | None = None,
        **variables: str,
    ) -> str:
        """A function with this code; its name. It may do everything, or these actions only, on this condition."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as file:
            file.writestr("app.py", textwrap.dedent(code))
        name = self.name("function")
        self.functions.create_function(
            FunctionName=name,
            Runtime="python3.13",
            Handler="app.handler",
            Timeout=60,
            Role=self.role(actions or ["*"], condition),
            Code={"ZipFile": packed.getvalue()},
            Environment={"Variables": {"AWS_ENDPOINT_URL": self.url, "AWS_REGION": REGION, **variables}},
        )
        return name

    def call(self, function: str, event: object) -> tuple[Any, bool]:
        """What the function answers, and whether that is an error."""
        answer = self.functions.invoke(FunctionName=function, Payload=json.dumps(event).encode())
        return json.loads(answer["Payload"].read() or "null"), "FunctionError" in answer

    def table(self, *, stream: bool = False) -> tuple[str, str]:
        """Name and stream of a table with the key ``id``."""
        name = self.name("table")
        more = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}} if stream else {}
        made = self.dynamodb.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            **more,
        )
        return name, made["TableDescription"].get("LatestStreamArn", "")

    def put(self, table: str, *ids: str) -> None:
        for item in ids:
            self.dynamodb.put_item(TableName=table, Item={"id": {"S": item}})

    def ids(self, table: str) -> set[str]:
        return {row["id"]["S"] for row in self.dynamodb.scan(TableName=table, ConsistentRead=True)["Items"]}

    def queue(self, **attributes: str) -> tuple[str, str]:
        """URL and ARN of a queue."""
        name = self.name("queue") + (".fifo" if attributes.get("FifoQueue") else "")
        url: str = self.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        return url, f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"

    def stack(self, template: dict[str, Any], **parameters: str) -> dict[str, str]:
        """Deploy a template; its outputs."""
        name, formation = self.name("stack"), self.client("cloudformation")
        given = [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()]
        formation.create_stack(StackName=name, TemplateBody=json.dumps(template), Parameters=given)
        stack = until(
            lambda: formation.describe_stacks(StackName=name)["Stacks"][0],
            lambda row: not row["StackStatus"].endswith("IN_PROGRESS"),
        )
        assert stack["StackStatus"] == "CREATE_COMPLETE"
        return {row["OutputKey"]: row["OutputValue"] for row in stack.get("Outputs", [])}


def until(look: Callable[[], Any], good: Callable[[Any], bool]) -> Any:
    """What ``look`` sees as soon as it is good."""
    give_up = time.monotonic() + WITHIN
    while not good(seen := look()):
        assert time.monotonic() < give_up, f"still {seen} after {WITHIN:.0f} s"
        time.sleep(0.05)
    return seen


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    environments.ensure(EMULATOR)
    folder: Path = tmp_path_factory.mktemp("emulator")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    started = process.start(EMULATOR.python, ROOT, folder / "emulator.json", folder / "emulator.log", port)
    try:
        yield Cloud(started.url)
    finally:
        process.stop(folder / "emulator.json")


SEND_BATCH = """
    import boto3

    def handler(event, context):
        boto3.client("sqs").send_message_batch(
            QueueUrl=event["queue"], Entries=[{"Id": "1", "MessageBody": "hello"}]
        )
"""


def test_the_permission_to_send_a_message_covers_a_batch(cloud: Cloud) -> None:
    url, _ = cloud.queue()
    allowed = cloud.function(SEND_BATCH, actions=["sqs:SendMessage"])
    assert cloud.call(allowed, {"queue": url}) == (None, False)


def test_without_that_permission_a_batch_is_refused(cloud: Cloud) -> None:
    url, _ = cloud.queue()
    refused = cloud.function(SEND_BATCH, actions=["sqs:ReceiveMessage"])
    answer, failed = cloud.call(refused, {"queue": url})
    assert failed
    assert "AccessDenied" in answer["errorMessage"]


SIGN = """
    import boto3

    def handler(event, context):
        boto3.client("kms").sign(
            KeyId=event["key"], Message=b"x" * 32, MessageType="DIGEST", SigningAlgorithm="ECDSA_SHA_256"
        )
"""


@pytest.mark.parametrize(("message_type", "refused"), [("DIGEST", False), ("RAW", True)])
def test_a_condition_on_what_is_signed_reads_the_request(cloud: Cloud, message_type: str, refused: bool) -> None:
    key = cloud.client("kms").create_key(KeySpec="ECC_NIST_P256", KeyUsage="SIGN_VERIFY")["KeyMetadata"]["Arn"]
    condition = {"StringEquals": {"kms:SigningAlgorithm": "ECDSA_SHA_256", "kms:MessageType": message_type}}
    function = cloud.function(SIGN, actions=["kms:Sign"], condition=condition)

    answer, failed = cloud.call(function, {"key": key})

    assert failed is refused
    assert ("AccessDenied" in str(answer)) is refused


PUT_EVENT = """
    import boto3

    def handler(event, context):
        boto3.client("events").put_events(Entries=[{"Source": "herald", "DetailType": "news", "Detail": "{}"}])
"""


@pytest.mark.parametrize(("source", "refused"), [("herald", False), ("somebody-else", True)])
def test_a_condition_on_an_events_source_reads_the_request(cloud: Cloud, source: str, refused: bool) -> None:
    condition = {"StringEquals": {"events:source": source}}
    function = cloud.function(PUT_EVENT, actions=["events:PutEvents"], condition=condition)

    answer, failed = cloud.call(function, {})

    assert failed is refused
    assert ("AccessDenied" in str(answer)) is refused


def test_an_error_bears_the_name_of_its_class(cloud: Cloud) -> None:
    function = cloud.function(
        """
        class OutOfPaper(Exception):
            pass

        def handler(event, context):
            raise OutOfPaper("tray 2: empty")
        """
    )
    answer, failed = cloud.call(function, {})
    assert failed
    assert answer["errorType"] == "OutOfPaper"
    assert "tray 2: empty" in answer["errorMessage"]


def test_a_silent_function_answers_when_it_is_done(cloud: Cloud) -> None:
    """Each call of the emulator left alone takes its 50 ms of waiting for a line; the quickest of many tells."""
    function = cloud.function("def handler(event, context): return 1")

    def seconds() -> float:
        start = time.monotonic()
        assert cloud.call(function, {}) == (1, False)
        return time.monotonic() - start

    assert min(seconds() for _ in range(30)) < 0.045


def test_what_a_function_logs_is_there_when_its_answer_is(cloud: Cloud) -> None:
    """Left alone, the emulator gives the line to a later call where its reading thread is behind."""
    function = cloud.function("def handler(event, context): print('line', event)")

    def logged(number: int) -> str:
        answer = cloud.functions.invoke(FunctionName=function, Payload=str(number).encode(), LogType="Tail")
        return base64.b64decode(answer.get("LogResult", "")).decode()

    with ThreadPoolExecutor(4) as callers:
        told = list(callers.map(logged, range(100)))

    assert [number for number, text in enumerate(told) if f"line {number}\n" not in f"{text}\n"] == []


def test_a_call_in_a_burst_takes_what_is_free_before_another_process_is_started(cloud: Cloud) -> None:
    name = cloud.function(
        """
        import os, time

        time.sleep(1)  # a slow start

        def handler(event, context):
            return os.getpid()
        """
    )
    with ThreadPoolExecutor(16) as pool:
        processes = {answer for answer, _ in pool.map(lambda _: cloud.call(name, {}), range(16))}
    assert len(processes) < 8


def test_a_package_is_unpacked_once_for_all_processes(cloud: Cloud) -> None:
    where = cloud.function(
        """
        import os, time

        def handler(event, context):
            time.sleep(1)
            return [os.getpid(), os.path.realpath(__file__)]
        """
    )
    with ThreadPoolExecutor(2) as pool:
        calls = list(pool.map(lambda _: cloud.call(where, {})[0], range(2)))
    assert len({process_id for process_id, _ in calls}) == 2
    assert len({file for _, file in calls}) == 1


def test_the_groups_of_a_fifo_queue_are_handled_beside_each_other_and_each_in_order(cloud: Cloud) -> None:
    """Each group's first message is handled only once the other's is under way, too."""
    seen, _ = cloud.table()
    function = cloud.function(
        """
        import json, os, time
        import boto3

        table = boto3.client("dynamodb")

        def has(item):
            found = table.get_item(TableName=os.environ["SEEN"], Key={"id": {"S": item}}, ConsistentRead=True)
            return "Item" in found

        def handler(event, context):
            (record,) = event["Records"]
            group, number = json.loads(record["body"])
            if number == 2:
                assert has(f"{group} 1 done"), "overtaken"
            table.put_item(TableName=os.environ["SEEN"], Item={"id": {"S": f"{group} {number}"}})
            other = {"left": "right", "right": "left"}[group]
            give_up = time.monotonic() + 20
            while not has(f"{other} 1"):
                assert time.monotonic() < give_up, f"{other} doesn't come"
                time.sleep(0.02)
            table.put_item(TableName=os.environ["SEEN"], Item={"id": {"S": f"{group} {number} done"}})
        """,
        SEEN=seen,
    )
    url, arn = cloud.queue(FifoQueue="true", VisibilityTimeout="120")
    mapping = {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Properties": {
            "FunctionName": function,
            "EventSourceArn": arn,
            "BatchSize": 1,
            "ScalingConfig": {"MaximumConcurrency": {"Ref": "Concurrency"}},
        },
    }
    # Through a parameter, because CloudFormation hands a number over as text.
    cloud.stack({"Parameters": {"Concurrency": {"Type": "Number"}}, "Resources": {"Mapping": mapping}}, Concurrency="5")
    for group, number in [("left", 1), ("left", 2), ("right", 1)]:
        cloud.sqs.send_message(
            QueueUrl=url,
            MessageBody=json.dumps([group, number]),
            MessageGroupId=group,
            MessageDeduplicationId=f"{group}-{number}",
        )
    done = {"left 1 done", "left 2 done", "right 1 done"}
    until(lambda: cloud.ids(seen), lambda ids: done <= ids)


def test_what_an_openapi_definition_says_of_refusals_is_said(cloud: Cloud) -> None:
    body = {
        "openapi": "3.0.1",
        "info": {"title": "door", "version": "1"},
        "paths": {"/known": {"get": {"x-amazon-apigateway-integration": {"type": "mock"}}}},
        "x-amazon-apigateway-gateway-responses": {
            "MISSING_AUTHENTICATION_TOKEN": {
                "statusCode": 404,
                "responseTemplates": {"application/json": '{"said": "not here"}'},
            }
        },
    }
    assert refusal(f"{api(cloud, body)}/unknown") == (404, {"said": "not here"})


def test_a_refusal_repeats_what_the_authorizer_said(cloud: Cloud) -> None:
    says = """
        def handler(event, context):
            statement = {"Effect": "Deny", "Action": "execute-api:Invoke", "Resource": event["methodArn"]}
            document = {"Version": "2012-10-17", "Statement": [statement]}
            return {"principalId": "p", "policyDocument": document, "context": {"reason": event["authorizationToken"]}}
    """
    arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{cloud.function(says)}"
    authorizer = {
        "type": "token",
        "authorizerUri": f"arn:aws:apigateway:{REGION}:lambda:path/2015-03-31/functions/{arn}/invocations",
        "authorizerResultTtlInSeconds": 300,
    }
    scheme = {"type": "apiKey", "name": "Authorization", "in": "header", "x-amazon-apigateway-authtype": "custom"}
    body = {
        "openapi": "3.0.1",
        "info": {"title": "door", "version": "1"},
        "components": {"securitySchemes": {"door": {**scheme, "x-amazon-apigateway-authorizer": authorizer}}},
        "paths": {"/": {"get": {"security": [{"door": []}], "x-amazon-apigateway-integration": {"type": "mock"}}}},
        "x-amazon-apigateway-gateway-responses": {
            "ACCESS_DENIED": {
                "statusCode": 401,
                "responseTemplates": {
                    "application/json": '{"said": "$context.authorizer.reason", "other": "$context.authorizer.none"}'
                },
            }
        },
    }
    url = api(cloud, body)
    for token in ("expired", "expired", "another"):  # the second one's answer is the one that was kept
        assert refusal(f"{url}/", Authorization=token) == (401, {"said": token, "other": ""})


def api(cloud: Cloud, body: dict[str, Any]) -> str:
    """Deploy an API of this definition; its address."""
    outputs = cloud.stack(
        {
            "Resources": {
                "Api": {"Type": "AWS::ApiGateway::RestApi", "Properties": {"Body": body}},
                "Deployment": {"Type": "AWS::ApiGateway::Deployment", "Properties": {"RestApiId": {"Ref": "Api"}}},
                "Stage": {
                    "Type": "AWS::ApiGateway::Stage",
                    "Properties": {
                        "RestApiId": {"Ref": "Api"},
                        "DeploymentId": {"Ref": "Deployment"},
                        "StageName": "s",
                    },
                },
            },
            "Outputs": {"Id": {"Value": {"Ref": "Api"}}},
        }
    )
    return f"{cloud.url}/_aws/execute-api/{outputs['Id']}/s"


def refusal(url: str, **headers: str) -> tuple[int, Any]:
    """Status and body of a GET that is refused."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(url, headers=headers))  # noqa: S310
    with refused.value as answer:
        return answer.code, json.loads(answer.read())


def test_an_alarm_may_look_at_several_metrics(cloud: Cloud) -> None:
    def one(name: str) -> dict[str, Any]:
        metric = {"Namespace": "Shop", "MetricName": name}
        return {
            "Id": name,
            "ReturnData": False,
            "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"},
        }

    alarm = {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "ComparisonOperator": "GreaterThanThreshold",
            "EvaluationPeriods": 1,
            "Threshold": 3,
            "Metrics": [{"Id": "all", "Expression": "a + b", "ReturnData": True}, one("a"), one("b")],
        },
    }
    outputs = cloud.stack({"Resources": {"Alarm": alarm}, "Outputs": {"Name": {"Value": {"Ref": "Alarm"}}}})
    found = cloud.client("cloudwatch").describe_alarms(AlarmNames=[outputs["Name"]])["MetricAlarms"]
    assert [row["Threshold"] for row in found] == [3.0]


def test_starting_what_runs_again_answers_with_what_runs(cloud: Cloud) -> None:
    states = cloud.client("stepfunctions")
    waiting = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 3600, "End": True}}}
    machine = states.create_state_machine(
        name=cloud.name("machine"),
        definition=json.dumps(waiting),
        roleArn=cloud.role(["*"]),
    )["stateMachineArn"]
    first = states.start_execution(stateMachineArn=machine, name="turn", input='{"a": 1, "b": 2}')
    again = states.start_execution(stateMachineArn=machine, name="turn", input='{"b": 2, "a": 1}')
    assert again["executionArn"] == first["executionArn"]
    with pytest.raises(states.exceptions.ExecutionAlreadyExists):
        states.start_execution(stateMachineArn=machine, name="turn", input='{"a": 2}')
    states.stop_execution(executionArn=first["executionArn"])


NEVER_TWICE = ', ConditionExpression="attribute_not_exists(id)"'

# Writes each record that it is done with into SEEN. "bad" is never done, "once" not at its first time.
READER = """
    import os
    import boto3

    table = boto3.client("dynamodb")
    failed = set()

    def put(item):
        table.put_item(TableName=os.environ["SEEN"], Item={"id": {"S": item}}CONDITION)

    def handler(event, context):
        for record in event["Records"]:
            item = record["dynamodb"]["NewImage"]["id"]["S"]
            if item == "bad":
                raise ValueError("a bad record")
            if item == "once" and item not in failed:
                failed.add(item)
                return {"batchItemFailures": [{"itemIdentifier": record["dynamodb"]["SequenceNumber"]}]}
            put(item)
        return {"batchItemFailures": []}
"""


def read_stream(cloud: Cloud, stream: str, function: str, **more: Any) -> None:
    cloud.functions.create_event_source_mapping(
        FunctionName=function,
        EventSourceArn=stream,
        StartingPosition="TRIM_HORIZON",
        BatchSize=10,
        FunctionResponseTypes=["ReportBatchItemFailures"],
        **more,
    )


def test_a_stream_goes_on_from_the_record_that_is_reported(cloud: Cloud) -> None:
    """The reader refuses to see a record twice, so whatever it reported as done must not come again."""
    (table, stream), (seen, _) = cloud.table(stream=True), cloud.table()
    cloud.put(table, "a", "b", "once", "c")
    read_stream(cloud, stream, cloud.function(READER.replace("CONDITION", NEVER_TWICE), SEEN=seen))
    until(lambda: cloud.ids(seen), lambda ids: ids == {"a", "b", "once", "c"})


def test_a_bad_record_is_cut_out_given_up_and_told_of(cloud: Cloud) -> None:
    (table, stream), (seen, _), (url, arn) = cloud.table(stream=True), cloud.table(), cloud.queue()
    reader = READER.replace("CONDITION", "")  # what stood beside it is handed over again
    cloud.put(table, "a", "b", "bad", "c", "d")
    read_stream(
        cloud,
        stream,
        cloud.function(reader, SEEN=seen),
        BisectBatchOnFunctionError=True,
        MaximumRetryAttempts=1,
        DestinationConfig={"OnFailure": {"Destination": arn}},
    )
    until(lambda: cloud.ids(seen), lambda ids: ids == {"a", "b", "c", "d"})
    told = until(lambda: cloud.sqs.receive_message(QueueUrl=url).get("Messages", []), bool)
    body = json.loads(told[0]["Body"])
    assert body["requestContext"]["condition"] == "RetryAttemptsExhausted"
    assert body["DDBStreamBatchInfo"]["batchSize"] == 1
    assert body["DDBStreamBatchInfo"]["streamArn"] == stream


def test_a_streams_readers_are_called_beside_each_other(cloud: Cloud) -> None:
    """Each of the two ends only when the other has been called, too."""
    (table, stream), (seen, _) = cloud.table(stream=True), cloud.table()
    code = """
        import os, time
        import boto3

        table = boto3.client("dynamodb")

        def put(item):
            table.put_item(TableName=os.environ["SEEN"], Item={"id": {"S": item}})

        def take_back(item):
            table.delete_item(TableName=os.environ["SEEN"], Key={"id": {"S": item}})

        def has(item):
            found = table.get_item(TableName=os.environ["SEEN"], Key={"id": {"S": item}}, ConsistentRead=True)
            return "Item" in found

        def handler(event, context):
            put(os.environ["ME"])
            give_up = time.monotonic() + 10
            while not has(os.environ["OTHER"]):
                if time.monotonic() > give_up:
                    take_back(os.environ["ME"])
                    raise AssertionError("the other reader doesn't come")
                time.sleep(0.02)
            put(os.environ["ME"] + " done")
    """
    read_stream(cloud, stream, cloud.function(code, SEEN=seen, ME="one", OTHER="two"), MaximumRetryAttempts=0)
    read_stream(cloud, stream, cloud.function(code, SEEN=seen, ME="two", OTHER="one"), MaximumRetryAttempts=0)
    cloud.put(table, "record")
    until(lambda: cloud.ids(seen), lambda ids: {"one done", "two done"} <= ids)
