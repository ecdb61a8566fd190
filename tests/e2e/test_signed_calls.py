"""AuthMode=iam, as it is deployed on AWS: callers sign, and each has tasks of its own. A second stack shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import boto3
import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from local import stack as local_stack
from local.stack import Place

from e2e.client import HEADERS, message


@pytest.fixture(scope="module")
def signed_stack(addresses: Mapping[str, str], place: Place) -> Mapping[str, str]:
    """A stack with AuthMode=iam in the same emulator."""
    assert addresses  # what is deployed beside must have been built
    return local_stack.beside(place, "herald-signed", {"AuthMode": "iam"})


def user(stack: Mapping[str, str], name: str) -> Credentials:
    """Keys of a new IAM user who may call the API."""
    iam: Any = boto3.client(
        "iam",
        endpoint_url=stack["endpointUrl"],
        region_name=stack["region"],
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    iam.create_user(UserName=name)
    statement = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_user_policy(UserName=name, PolicyName="may-call", PolicyDocument=document)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return Credentials(key["AccessKeyId"], key["SecretAccessKey"])


def call(
    stack: Mapping[str, str], method: str, path: str, body: Any = None, keys: Credentials | None = None
) -> httpx.Response:
    """A call that is signed with these keys, or not at all."""
    url, data = stack["baseUrl"] + path, json.dumps(body).encode() if body is not None else b""
    request = AWSRequest(method, url, data=data, headers=dict(HEADERS))
    if keys is not None:
        SigV4Auth(keys, "execute-api", stack["region"]).add_auth(request)
    return httpx.request(method, url, content=data, headers=dict(request.headers.items()), timeout=60, trust_env=False)


def test_an_unsigned_call_is_refused_and_the_card_is_public(signed_stack: Mapping[str, str]) -> None:
    refused = call(signed_stack, "POST", "/message:send", {"message": message({"text": "hello"})})
    card = call(signed_stack, "GET", "/.well-known/agent-card.json")

    assert_unauthenticated(refused)
    assert card.status_code == 200
    assert "aws" in str(card.json()["securitySchemes"]).lower()


def assert_unauthenticated(refused: httpx.Response) -> None:
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "AWS4-HMAC-SHA256")
    error = refused.json()["error"]
    assert (error["code"], error["status"]) == (401, "UNAUTHENTICATED")
    assert error["details"][0]["reason"] == "UNAUTHENTICATED"


def test_a_wrong_signature_is_refused_like_none_and_its_cause_is_told(signed_stack: Mapping[str, str]) -> None:
    eve = user(signed_stack, "eve")

    wrong = call(signed_stack, "GET", "/tasks", keys=Credentials(eve.access_key, "another secret"))

    assert_unauthenticated(wrong)
    assert wrong.json()["error"]["details"][0]["metadata"]["cause"]


def test_signed_calls_have_tasks_that_no_other_signer_sees(signed_stack: Mapping[str, str]) -> None:
    ada, bob = user(signed_stack, "ada"), user(signed_stack, "bob")

    sent = call(signed_stack, "POST", "/message:send", {"message": message({"text": "hello"})}, ada)
    assert sent.status_code == 200, sent.text
    task_id = sent.json()["task"]["id"]
    assert call(signed_stack, "GET", f"/tasks/{task_id}", keys=ada).json()["id"] == task_id
    foreign = call(signed_stack, "GET", f"/tasks/{task_id}", keys=bob)
    missing = call(signed_stack, "GET", f"/tasks/{'a' * 26}", keys=bob)

    assert foreign.status_code == missing.status_code == 404
    assert foreign.text.replace(task_id, "") == missing.text.replace("a" * 26, "")
