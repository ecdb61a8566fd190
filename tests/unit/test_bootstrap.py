"""Each builder of bootstrap, with the sockets off: what a function's start needs, and nothing more."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from herald import bootstrap
from herald.authorization.claims import Expected
from herald.ports import Unavailable
from herald.settings import SettingsError

ARN = "arn:aws:states:eu-central-1:123456789012:stateMachine:worker"
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:s-abc"
ENVIRON = {
    "HERALD_TABLE": "tasks",
    "HERALD_BUCKET": "bodies",
    "HERALD_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/123456789012/doorbells.fifo",
    "HERALD_STATE_MACHINE_ARN": ARN,
    "HERALD_SEALING_SECRET": SECRET,
    "HERALD_SIGNING_SECRET": SECRET,
}

UNWATCHED: Any = None

Build = Callable[[bootstrap.Platform], Any]
BUILDERS: dict[str, Build] = {
    "api": bootstrap.api,
    "publish_keys": bootstrap.publish_keys,
    "start_worker": bootstrap.start_worker,
    "run_agent": bootstrap.run_agent,
    "ring_webhooks": bootstrap.ring_webhooks,
    "send_webhooks": lambda platform: bootstrap.send_webhooks(platform, UNWATCHED),
    "sweep": bootstrap.sweep,
}


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_a_function_starts_without_a_connection_and_without_a_client(build: Build, socket_disabled: None) -> None:
    platform = bootstrap.Platform(ENVIRON)
    build(platform)
    assert vars(platform.aws) == {"_given": None}  # nothing was made yet


@pytest.mark.parametrize(
    ("told", "address"),
    [
        ({"HERALD_API_ID": "a1", "HERALD_STAGE": "prod"}, "https://a1.execute-api.eu-central-1.amazonaws.com/prod"),
        ({"HERALD_PUBLIC_URL": "https://agent.example/"}, "https://agent.example"),
        (
            {"HERALD_PUBLIC_URL": "http://localhost/{apiId}/{stage}", "HERALD_API_ID": "a1", "HERALD_STAGE": "local"},
            "http://localhost/a1/local",
        ),
    ],
)
def test_tokens_name_the_apis_public_address(told: dict[str, str], address: str, socket_disabled: None) -> None:
    key = "arn:aws:kms:eu-central-1:123456789012:key/k-1"
    environ = {**ENVIRON, "AWS_REGION": "eu-central-1", "HERALD_WEBHOOK_TOKEN_KEY": key, **told}
    platform = bootstrap.Platform(environ)

    tokens = bootstrap.send_webhooks(platform, UNWATCHED).sender.tokens

    assert tokens is not None
    assert (tokens.base_url, tokens.signer.kid) == (address, "k-1")
    assert vars(platform.aws) == {"_given": None}  # KMS is asked where somebody wants a token


def test_without_a_key_there_are_no_tokens(socket_disabled: None) -> None:
    assert bootstrap.send_webhooks(bootstrap.Platform(ENVIRON), UNWATCHED).sender.tokens is None
    assert bootstrap.publish_keys(bootstrap.Platform(ENVIRON)).tokens is None


def test_authorize_needs_an_issuer_and_no_aws(socket_disabled: None) -> None:
    with pytest.raises(SettingsError, match="HERALD_OIDC_ISSUER is not set"):
        bootstrap.authorize({})

    verifier = bootstrap.authorize(
        {
            "HERALD_OIDC_ISSUER": "https://issuer.example.com",
            "HERALD_AUDIENCE": "one, two,",
            "HERALD_SCOPES": "a  b",
            "HERALD_TENANT_CLAIM": "tenant",
        }
    )
    assert verifier.expected == Expected("https://issuer.example.com", frozenset({"one", "two"}), ("a", "b"), "tenant")


@pytest.mark.parametrize(("endpoint", "told"), [("", "https://"), ("http://localhost:4566", "LocationParseError")])
def test_keys_come_over_plain_http_in_an_emulator_only(endpoint: str, told: str, socket_disabled: None) -> None:
    environ = {"HERALD_OIDC_ISSUER": "https://issuer.example.com", "AWS_ENDPOINT_URL": endpoint}
    keys = bootstrap.authorize(environ).keys

    with pytest.raises(Unavailable, match=told):
        keys._documents.read("http://[")  # begins well, and is none


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_a_function_whose_environment_is_empty_does_not_start(build: Build) -> None:
    with pytest.raises(SettingsError, match="HERALD_"):
        build(bootstrap.Platform({}))


def test_invariant_8_a_platform_does_not_show_its_environment() -> None:
    assert SECRET not in repr(bootstrap.Platform(ENVIRON))


def test_importing_bootstrap_loads_no_web_framework_and_no_cryptography() -> None:
    code = "import sys, herald.bootstrap; print(*{'fastapi', 'starlette', 'mangum', 'cryptography'} & set(sys.modules))"
    layer = Path(bootstrap.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=layer, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
