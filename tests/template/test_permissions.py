"""Least privilege: what each role may do, word for word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Select = Callable[[str], dict[str, Any]]

LOG = {"logs:CreateLogStream", "logs:PutLogEvents"}
STREAM = {"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"}
READ = {"dynamodb:GetItem", "dynamodb:Query"}
APPEND = READ | {"dynamodb:PutItem", "dynamodb:UpdateItem"}

# Role -> everything that it may do (tracing aside, which all functions share).
MAY = {
    "ApiRole": LOG
    | APPEND
    | {"dynamodb:DeleteItem", "s3:GetObject", "s3:PutObject", "states:StopExecution"}
    | {"kms:Sign", "secretsmanager:GetSecretValue"},
    "AuthorizeRole": LOG,
    "PublishKeysRole": LOG | {"kms:GetPublicKey", "secretsmanager:GetSecretValue"},
    "StartWorkerRole": LOG | STREAM | {"sqs:SendMessage", "states:StartExecution"},
    "RunAgentRole": LOG | APPEND | {"s3:GetObject", "s3:PutObject"},
    "SweepRole": LOG | APPEND | {"s3:GetObject", "sqs:SendMessage", "states:StartExecution", "states:StopExecution"},
    "RingWebhooksRole": LOG | STREAM | {"dynamodb:Query", "sqs:SendMessage"},
    "SendWebhooksRole": LOG
    | READ
    | {
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
        "kms:Sign",
        "events:PutEvents",
        "s3:GetObject",
        "s3:PutObject",
        "secretsmanager:GetSecretValue",
        "sqs:ChangeMessageVisibility",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes",
        "sqs:ReceiveMessage",
        "sqs:SendMessage",
    },
    "TaskWorkerRole": {
        "lambda:InvokeFunction",
        "logs:CreateLogDelivery",
        "logs:DeleteLogDelivery",
        "logs:DescribeLogGroups",
        "logs:DescribeResourcePolicies",
        "logs:GetLogDelivery",
        "logs:ListLogDeliveries",
        "logs:PutResourcePolicy",
        "logs:UpdateLogDelivery",
        "xray:GetSamplingRules",
        "xray:GetSamplingTargets",
        "xray:PutTelemetryRecords",
        "xray:PutTraceSegments",
    },
}

# What joins the sender to the network of fixed addresses: allowed to Lambda, denied to the function's code.
JOIN = {
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
}

# AWS defines no resource for these, or knows none when they are called.
WITHOUT_RESOURCE = JOIN | {action for action in MAY["TaskWorkerRole"] if action.startswith(("logs:", "xray:"))}


def statements(properties: dict[str, Any]) -> list[dict[str, Any]]:
    documents = [policy["PolicyDocument"] for policy in properties.get("Policies", [])]
    documents += [properties["PolicyDocument"]] if "PolicyDocument" in properties else []
    # One that depends on a parameter counts as if it were there.
    return [each.get("Fn::If", (None, each))[1] for document in documents for each in document["Statement"]]


def actions(statement: dict[str, Any]) -> list[str]:
    action = statement["Action"]
    return [action] if isinstance(action, str) else list(action)


def targets(statement: dict[str, Any]) -> list[Any]:
    resource = statement["Resource"]
    return resource if isinstance(resource, list) else [resource]


def test_these_are_all_roles(of_type: Select) -> None:
    assert set(of_type("AWS::IAM::Role")) == set(MAY)


@pytest.mark.parametrize("name", MAY)
def test_a_role_may_do_this_and_nothing_else(of_type: Select, name: str) -> None:
    role = of_type("AWS::IAM::Role")[name]
    joins = JOIN if name == "SendWebhooksRole" else set()
    assert {action for statement in statements(role) for action in actions(statement)} == MAY[name] | joins


def test_only_the_sender_may_announce_and_only_as_herald(of_type: Select) -> None:
    announcing = {
        name: statement
        for name, role in of_type("AWS::IAM::Role").items()
        for statement in statements(role)
        if any(action.startswith("events:") for action in actions(statement))
    }
    assert announcing == {
        "SendWebhooksRole": {
            "Sid": "Announce",
            "Effect": "Allow",
            "Action": "events:PutEvents",
            "Resource": {"Fn::Sub": "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}:event-bus/default"},
            "Condition": {"StringEquals": {"events:source": "herald"}},
        }
    }


def test_the_api_may_read_the_two_listing_indexes_and_no_other(of_type: Select) -> None:
    roles = of_type("AWS::IAM::Role")
    (lists,) = [each for each in statements(roles["ApiRole"]) if each["Sid"] == "Lists"]
    assert actions(lists) == ["dynamodb:Query"]
    assert targets(lists) == [{"Fn::Sub": "${Tasks.Arn}/index/byOwner"}, {"Fn::Sub": "${Tasks.Arn}/index/byContext"}]


def test_no_role_carries_a_policy_of_awss_making(of_type: Select) -> None:
    optional = {"Fn::If": ["HasAgentPolicy", {"Ref": "AgentPolicy"}, {"Ref": "AWS::NoValue"}]}
    for name, role in of_type("AWS::IAM::Role").items():
        ours: list[Any] = [] if name == "TaskWorkerRole" else [{"Ref": "Tracing"}]
        ours += [optional] if name == "RunAgentRole" else []
        assert role.get("ManagedPolicyArns", []) == ours, name


def test_no_action_and_no_resource_is_a_wildcard_save_where_aws_has_no_resource(of_type: Select) -> None:
    policies = of_type("AWS::IAM::Role") | of_type("AWS::IAM::ManagedPolicy")
    for name, properties in policies.items():
        for statement in statements(properties):
            assert not [action for action in actions(statement) if "*" in action], name
            if "*" in targets(statement):
                assert set(actions(statement)) <= WITHOUT_RESOURCE, name


def test_the_signing_secret_is_out_of_the_apis_reach(of_type: Select) -> None:
    roles = of_type("AWS::IAM::Role")
    read = {
        name: [
            target["Fn::GetAtt"][0]
            for statement in statements(role)
            if actions(statement) == ["secretsmanager:GetSecretValue"]
            for target in targets(statement)
        ]
        for name, role in roles.items()
    }
    assert {name: secrets for name, secrets in read.items() if secrets} == {
        "ApiRole": ["SealingSecret"],
        "PublishKeysRole": ["SigningSecret"],
        "SendWebhooksRole": ["SigningSecret", "SealingSecret"],
    }


def test_each_key_of_kms_is_signed_with_by_one_function_with_digests_for_its_algorithm_only(of_type: Select) -> None:
    found = {
        name: [statement for statement in statements(role) if any("kms:" in action for action in actions(statement))]
        for name, role in of_type("AWS::IAM::Role").items()
    }

    def signing(sid: str, key: str, algorithm: str) -> dict[str, Any]:
        condition = {"StringEquals": {"kms:SigningAlgorithm": algorithm, "kms:MessageType": "DIGEST"}}
        target = {"Fn::GetAtt": [key, "Arn"]}
        return {"Sid": sid, "Effect": "Allow", "Action": "kms:Sign", "Resource": target, "Condition": condition}

    def reading(sid: str, key: str) -> dict[str, Any]:
        return {"Sid": sid, "Effect": "Allow", "Action": "kms:GetPublicKey", "Resource": {"Fn::GetAtt": [key, "Arn"]}}

    assert {name: kms for name, kms in found.items() if kms} == {
        "ApiRole": [signing("SignCard", "CardKey", "ECDSA_SHA_256")],
        "PublishKeysRole": [reading("CardKey", "CardKey"), reading("TokenKey", "WebhookTokenKey")],
        "SendWebhooksRole": [signing("SignTokens", "WebhookTokenKey", "RSASSA_PKCS1_V1_5_SHA_256")],
    }


def test_without_tokens_nobody_may_do_anything_with_their_key(of_type: Select) -> None:
    conditional = {
        (name, *each["Fn::If"][0:1], each["Fn::If"][1]["Sid"], str(each["Fn::If"][2]))
        for name, role in of_type("AWS::IAM::Role").items()
        for policy in role.get("Policies", [])
        for each in policy["PolicyDocument"]["Statement"]
        if "Fn::If" in each
    }
    nothing = str({"Ref": "AWS::NoValue"})
    assert conditional >= {
        ("PublishKeysRole", "HasWebhookTokens", "TokenKey", nothing),
        ("SendWebhooksRole", "HasWebhookTokens", "SignTokens", nothing),
    }


def test_only_this_api_may_call_the_functions_behind_it(of_type: Select) -> None:
    permissions = of_type("AWS::Lambda::Permission")
    gateway = [row for row in permissions.values() if row["Principal"] == "apigateway.amazonaws.com"]
    api = "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}"
    assert {row["FunctionName"]["Ref"]: row["SourceArn"]["Fn::Sub"] for row in gateway} == {
        "ApiFunction": f"{api}/${{Stage}}/*",
        "PublishKeysFunction": f"{api}/${{Stage}}/*",
        "AuthorizeFunction": f"{api}/authorizers/*",
    }


def test_what_lies_in_the_bucket_and_the_queues_travels_by_tls_only(resources: dict[str, Any]) -> None:
    for name in ("BodiesPolicy", "QueuesPolicy"):
        policy = resources[name]
        assert policy["Condition"] == "OnAws"
        (statement,) = policy["Properties"]["PolicyDocument"]["Statement"]
        assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert resources["QueuesPolicy"]["Properties"]["Queues"] == [
        {"Ref": "Doorbells"},
        {"Ref": "DeadDoorbells"},
        {"Ref": "LostRecords"},
    ]
