"""What is kept: the table, the bucket, the two secrets, the keys in KMS, the pool that names owners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Select = Callable[[str], dict[str, Any]]

KEPT = ["Tasks", "Bodies", "SigningSecret", "SealingSecret", "CardKey", "WebhookTokenKey", "UserPool"]


@pytest.mark.parametrize("name", KEPT)
def test_data_outlives_the_stack_unless_the_stack_never_came_to_be(resources: dict[str, Any], name: str) -> None:
    assert resources[name]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert resources[name]["UpdateReplacePolicy"] == "Retain"


def test_what_holds_no_data_goes_with_the_stack(resources: dict[str, Any]) -> None:
    kept = {name for name, row in resources.items() if row.get("DeletionPolicy", "Delete") != "Delete"}
    assert kept == set(KEPT)


def test_the_tables_keys_and_indexes(of_type: Select) -> None:
    (table,) = of_type("AWS::DynamoDB::Table").values()
    listed = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["taskId", "state", "expiresAt"]}

    def keys(schema: list[dict[str, str]]) -> list[tuple[str, str]]:
        return [(row["AttributeName"], row["KeyType"]) for row in schema]

    assert keys(table["KeySchema"]) == [("pk", "HASH"), ("sk", "RANGE")]
    assert [
        (row["IndexName"], keys(row["KeySchema"]), row["Projection"]) for row in table["GlobalSecondaryIndexes"]
    ] == [
        ("byOwner", [("ownerKey", "HASH"), ("listKey", "RANGE")], listed),
        ("byContext", [("contextKey", "HASH"), ("listKey", "RANGE")], listed),
        ("due", [("dueShard", "HASH"), ("dueAt", "RANGE")], {"ProjectionType": "KEYS_ONLY"}),
        ("open", [("openKey", "HASH")], {"ProjectionType": "KEYS_ONLY"}),
    ]
    assert {row["AttributeName"]: row["AttributeType"] for row in table["AttributeDefinitions"]} == {
        "pk": "S",
        "sk": "S",
        "ownerKey": "S",
        "contextKey": "S",
        "listKey": "S",
        "dueShard": "S",
        "dueAt": "N",
        "openKey": "S",
    }


def test_the_table_streams_expires_and_can_be_restored(of_type: Select) -> None:
    (table,) = of_type("AWS::DynamoDB::Table").values()
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_IMAGE"}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expiresAt", "Enabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_the_tables_definition_is_literal(template: dict[str, Any], values: Callable[[Any], Any]) -> None:
    """Tests below this one make the table from it, without CloudFormation."""
    for path, value in values(template["Resources"]["Tasks"]["Properties"]):
        assert not (isinstance(value, dict) and {"Ref", "Fn::If", "Fn::Sub"} & set(value)), path


def test_the_bucket_is_closed_encrypted_and_forgets(of_type: Select) -> None:
    (bucket,) = of_type("AWS::S3::Bucket").values()
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}
    assert bucket["BucketEncryption"] == {
        "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
    }
    (rule,) = bucket["LifecycleConfiguration"]["Rules"]
    assert rule["Status"] == "Enabled"
    assert rule["Prefix"] == "bodies/"


def test_a_body_lives_as_long_as_its_task_can(template: dict[str, Any]) -> None:
    """A body is written at the latest when its task ends, and a task is kept for Retention days after that."""
    (rule,) = template["Resources"]["Bodies"]["Properties"]["LifecycleConfiguration"]["Rules"]
    assert rule["ExpirationInDays"] == {"Fn::FindInMap": ["BodyDays", {"Ref": "MaxTaskAge"}, {"Ref": "Retention"}]}
    ages, retentions = (template["Parameters"][name]["AllowedValues"] for name in ("MaxTaskAge", "Retention"))
    assert {
        (int(age), int(kept)): days
        for age, row in template["Mappings"]["BodyDays"].items()
        for kept, days in row.items()
    } == {(age, kept): age + kept for age in ages for kept in retentions}


def test_a_task_is_ended_a_week_before_it_expires_at_least(template: dict[str, Any]) -> None:
    assert min(template["Parameters"]["Retention"]["AllowedValues"]) >= 7


def test_secrets_are_made_by_cloudformation_and_hold_384_bits_at_least(of_type: Select) -> None:
    secrets = of_type("AWS::SecretsManager::Secret")
    assert set(secrets) == {"SigningSecret", "SealingSecret"}
    for secret in secrets.values():
        # 94 printable characters less the excluded ones are more than 64 = 2 ** 6.
        generated = secret["GenerateSecretString"]
        assert 94 - len(generated["ExcludeCharacters"]) > 64
        assert generated["PasswordLength"] * 6 >= 384
        assert "SecretString" not in secret


@pytest.mark.parametrize(("name", "spec"), [("CardKey", "ECC_NIST_P256"), ("WebhookTokenKey", "RSA_2048")])
def test_a_key_in_kms_signs_and_iam_says_who_may(resources: dict[str, Any], name: str, spec: str) -> None:
    key = resources[name]["Properties"]
    assert (key["KeySpec"], key["KeyUsage"]) == (spec, "SIGN_VERIFY")
    (statement,) = key["KeyPolicy"]["Statement"]
    assert statement["Principal"] == {"AWS": {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}}


def test_the_tokens_key_is_there_unless_nobody_wants_it(template: dict[str, Any], resources: dict[str, Any]) -> None:
    assert template["Parameters"]["WebhookTokens"]["Default"] == "on"
    assert template["Conditions"]["HasWebhookTokens"] == {"Fn::Equals": [{"Ref": "WebhookTokens"}, "on"]}
    assert resources["WebhookTokenKey"]["Condition"] == "HasWebhookTokens"
    variables = {
        name: resources[name]["Properties"]["Environment"]["Variables"]
        for name in ("ApiFunction", "PublishKeysFunction", "SendWebhooksFunction")
    }
    key = {"Fn::If": ["HasWebhookTokens", {"Fn::GetAtt": ["WebhookTokenKey", "Arn"]}, ""]}
    assert variables["ApiFunction"]["HERALD_WEBHOOK_TOKENS"] == {"Ref": "WebhookTokens"}
    assert variables["PublishKeysFunction"]["HERALD_WEBHOOK_TOKEN_KEY"] == key
    assert variables["SendWebhooksFunction"]["HERALD_WEBHOOK_TOKEN_KEY"] == key


def test_a_token_names_the_address_that_the_card_names(resources: dict[str, Any]) -> None:
    card, sender = (
        resources[name]["Properties"]["Environment"]["Variables"] for name in ("ApiFunction", "SendWebhooksFunction")
    )
    assert sender["HERALD_PUBLIC_URL"] == card["HERALD_PUBLIC_URL"]
    assert (sender["HERALD_API_ID"], sender["HERALD_STAGE"]) == ({"Ref": "Api"}, {"Ref": "Stage"})
