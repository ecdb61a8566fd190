"""Each function reads its own variables, and a deployment that is wrong is told which and how."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from herald.settings import (
    ApiSettings,
    AuthorizeSettings,
    PublishKeysSettings,
    RingWebhooksSettings,
    RunAgentSettings,
    SendWebhooksSettings,
    Settings,
    SettingsError,
    StartWorkerSettings,
    SweepSettings,
)

SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:s-abc"
ENVIRON = {
    "HERALD_OIDC_ISSUER": "https://issuer.example.com",
    "HERALD_TABLE": "tasks",
    "HERALD_BUCKET": "bodies",
    "HERALD_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/123456789012/doorbells.fifo",
    "HERALD_STATE_MACHINE_ARN": "arn:aws:states:eu-central-1:123456789012:stateMachine:worker",
    "HERALD_SEALING_SECRET": SECRET,
    "HERALD_SIGNING_SECRET": SECRET,
    "AWS_REGION": "eu-central-1",
}
ALL: list[type[Settings]] = [
    ApiSettings,
    AuthorizeSettings,
    PublishKeysSettings,
    StartWorkerSettings,
    RunAgentSettings,
    RingWebhooksSettings,
    SendWebhooksSettings,
    SweepSettings,
]


def test_the_defaults_of_the_api() -> None:
    assert ApiSettings.read(ENVIRON).model_dump() == {
        "table": "tasks",
        "bucket": "bodies",
        "state_machine_arn": "arn:aws:states:eu-central-1:123456789012:stateMachine:worker",
        "sealing_secret": SECRET,
        "webhook_allow": "",
        "webhook_timeout": 15.0,
        "public_url": "",
        "webhook_tokens": "off",
        "auth_mode": "jwt",
        "idempotent_send": "message",
        "blocking_seconds": 25.0,
        "max_task_days": 30,
        "retention_days": 30,
        "owner_shards": 1,
        "webhooks_per_task": 10,
        "open_tasks_per_owner": 1_000,
        "origins_per_owner": 20,
        "cors_origin": "",
        "card_key": "",
        "card_max_age": 300,
        "oidc_issuer": "https://issuer.example.com",
        "token_url": "",
        "scopes": "",
        "egress_addresses": "",
        "stack": "herald",
    }


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.__name__)
def test_every_function_starts_with_its_required_variables_only(model: type[Settings]) -> None:
    model.read(ENVIRON)


@pytest.mark.parametrize("model", ALL, ids=lambda model: model.__name__)
def test_an_empty_environment_names_every_required_variable(model: type[Settings]) -> None:
    required = [f"HERALD_{name.upper()}" for name, field in model.model_fields.items() if field.is_required()]
    with pytest.raises(SettingsError) as caught:
        model.read({})
    assert [line.split(" ")[0] for line in str(caught.value).splitlines()] == required


def test_a_missing_variable_is_named_with_what_it_should_hold() -> None:
    with pytest.raises(SettingsError) as caught:
        StartWorkerSettings.read({})
    assert str(caught.value) == (
        "HERALD_STATE_MACHINE_ARN is not set; it should hold the ARN of the task worker's state machine"
    )


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("HERALD_AUTH_MODE", "oauth", "HERALD_AUTH_MODE is 'oauth'; it should hold jwt, iam or none"),
        (
            "HERALD_BLOCKING_SECONDS",
            "26",
            "HERALD_BLOCKING_SECONDS is '26'; it should hold how long a blocking SendMessage waits, seconds (0 to 25)",
        ),
        (
            "HERALD_WEBHOOKS_PER_TASK",
            "0",
            "HERALD_WEBHOOKS_PER_TASK is '0'; it should hold the number of webhooks that a task may have (1 to 50)",
        ),
        (
            "HERALD_IDEMPOTENT_SEND",
            "yes",
            "HERALD_IDEMPOTENT_SEND is 'yes'; it should hold message, key or off",
        ),
        (
            "HERALD_SEALING_SECRET",
            "my-secret",
            "HERALD_SEALING_SECRET is 'my-secret'; it should hold the ARN of the sealing secret",
        ),
    ],
)
def test_a_wrong_variable_is_named_with_what_it_should_hold(name: str, value: str, told: str) -> None:
    with pytest.raises(SettingsError) as caught:
        ApiSettings.read({**ENVIRON, name: value})
    assert str(caught.value) == told


@pytest.mark.parametrize("value", ["issuer.example.com", "https://a.example#b", "https://a.example?b", "https://a b"])
def test_an_issuer_is_a_url_without_query_and_fragment(value: str) -> None:
    with pytest.raises(SettingsError, match="HERALD_OIDC_ISSUER"):
        AuthorizeSettings.read({"HERALD_OIDC_ISSUER": value})


@pytest.mark.parametrize("value", [" ", ",", " ,", ", one"])
def test_audiences_are_at_least_one_or_nothing_is_said(value: str) -> None:
    with pytest.raises(SettingsError, match="HERALD_AUDIENCE"):
        AuthorizeSettings.read({**ENVIRON, "HERALD_AUDIENCE": value})


@pytest.mark.parametrize("value", ['a"b', "a\\b", "a\tb", "ä", " "])
def test_scopes_are_what_a_challenge_can_name(value: str) -> None:
    with pytest.raises(SettingsError, match="HERALD_SCOPES"):
        AuthorizeSettings.read({**ENVIRON, "HERALD_SCOPES": value})


@pytest.mark.parametrize("value", ["4", "31", "soon"])
def test_a_webhook_timeout_is_5_to_30_seconds(value: str) -> None:
    with pytest.raises(SettingsError, match="HERALD_WEBHOOK_TIMEOUT"):
        SendWebhooksSettings.read({**ENVIRON, "HERALD_WEBHOOK_TIMEOUT": value})


@pytest.mark.parametrize("value", ["agent", "agent:", ":Agent", "a b:C"])
def test_an_agent_is_a_module_and_a_class(value: str) -> None:
    with pytest.raises(SettingsError, match=r"like agent\.my_agent:MyAgent"):
        RunAgentSettings.read({**ENVIRON, "HERALD_AGENT": value})


def test_an_empty_variable_counts_as_unset() -> None:
    assert RunAgentSettings.read({**ENVIRON, "HERALD_TURN_SECONDS": ""}).turn_seconds == 3600


def test_settings_are_frozen() -> None:
    settings = RunAgentSettings.read(ENVIRON)
    with pytest.raises(ValidationError):
        settings.table = "other"
