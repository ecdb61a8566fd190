"""What API Gateway's event says: path, owner, public address."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders.api import ApiBench
from builders.events import authorized, rest_event, rpc_event
from herald.bindings import gateway
from herald.protocol.errors import UnauthenticatedError
from herald.records import Caller


@pytest.mark.parametrize(
    ("event", "path"),
    [
        ({"resource": "/", "path": "/", "pathParameters": None}, "/"),
        ({"resource": "/", "path": "/agents", "pathParameters": None}, "/"),
        ({"resource": "/{proxy+}", "path": "/tasks/T", "pathParameters": {"proxy": "tasks/T"}}, "/tasks/T"),
        ({"resource": "/{proxy+}", "path": "/agents/tasks/T", "pathParameters": {"proxy": "tasks/T"}}, "/tasks/T"),
        ({"resource": "/{proxy+}", "path": "/prod", "pathParameters": {"proxy": "prod"}}, "/prod"),
        (
            {"resource": "/{proxy+}", "path": "/production/x", "pathParameters": {"proxy": "production/x"}},
            "/production/x",
        ),
        ({"resource": "/{tenant}", "path": "/tasks", "pathParameters": {"tenant": "tasks"}}, "/tasks"),
        (
            {
                "resource": "/{tenant}/{proxy+}",
                "path": "/base/tasks/T%3Acancel",
                "pathParameters": {"tenant": "tasks", "proxy": "T%3Acancel"},
            },
            "/tasks/T:cancel",
        ),
        (
            {"resource": "/.well-known/agent-card.json", "path": "/base/.well-known/agent-card.json"},
            "/.well-known/agent-card.json",
        ),
        ({"path": "/tasks"}, "/tasks"),
        ({"path": ""}, "/"),
        ({}, "/"),
    ],
)
def test_f4_the_path_is_below_stage_and_base_path(event: dict[str, Any], path: str) -> None:
    assert gateway.path(event) == path


def test_f4_a_custom_domains_base_path_is_no_tenant() -> None:
    api = ApiBench()
    task_id = api.send()["id"]

    answer = api.rest("GET", f"/tasks/{task_id}", domain="agents.example.com", base_path="/prod")

    assert answer.body["id"] == task_id


@pytest.mark.parametrize(
    ("user", "owner"),
    [
        ("AIDAEXAMPLE", "AIDAEXAMPLE"),
        ("AROAEXAMPLE:session-1", "AROAEXAMPLE"),
        ("AROAEXAMPLE:a:b", "AROAEXAMPLE"),
        ("123456789012", "123456789012"),
        ("123456789012:bob", "123456789012:bob"),
    ],
)
def test_the_owner_is_the_principal_without_its_session(user: str, owner: str) -> None:
    context = rest_event(user=user)["requestContext"]

    assert gateway.caller("iam", context) == Caller("", owner)


def test_one_principal_is_one_owner_over_sessions() -> None:
    api = ApiBench(auth="iam")
    task_id = api.rpc("SendMessage", _sending(), user="alice:session")["result"]["task"]["id"]

    event = rest_event("GET", f"/tasks/{task_id}", user="alice:another-session")
    assert api.http(event)["statusCode"] == 200


def test_federated_users_of_one_account_are_owners_of_their_own() -> None:
    api = ApiBench(auth="iam")
    alice, bob = "123456789012:alice", "123456789012:bob"
    sent = api.http(rpc_event("SendMessage", _sending(), user=alice))
    task_id = json.loads(sent["body"])["result"]["task"]["id"]

    assert api.http(rest_event("GET", f"/tasks/{task_id}", user=alice))["statusCode"] == 200
    assert api.http(rest_event("GET", f"/tasks/{task_id}", user=bob))["statusCode"] == 404


def test_owner_and_tenant_are_those_of_the_token() -> None:
    context = rest_event(owner="https://issuer.example.com#alice", tenant="acme")["requestContext"]

    assert gateway.caller("jwt", context) == Caller("acme", "https://issuer.example.com#alice")


def test_a_token_that_has_expired_since_the_gateway_kept_the_answer_is_refused() -> None:
    for epoch, expires in ((1_767_229_199_999, "1767229200"), (1_767_229_200_000, "1767229201")):
        context = {"authorizer": authorized("alice", expires=expires), "requestTimeEpoch": epoch}
        assert gateway.caller("jwt", context) == Caller("", "alice")

    with pytest.raises(UnauthenticatedError, match="expired") as refused:
        gateway.caller("jwt", {"authorizer": authorized("alice"), "requestTimeEpoch": 1_767_229_200_000})
    assert refused.value.metadata["challenge"] == 'Bearer realm="herald", error="invalid_token"'


@pytest.mark.parametrize("binding", ["JSON-RPC", "HTTP+JSON"])
def test_a_missing_scope_is_named_in_the_bindings_own_shape(binding: str) -> None:
    api = ApiBench()
    event = rpc_event("GetTask", {"id": "t"}) if binding == "JSON-RPC" else rest_event("GET", "/tasks/t")
    event["requestContext"]["authorizer"] = authorized("alice", missing="herald/call")

    answer = api.http(event)

    assert answer["statusCode"] == 403
    error = json.loads(answer["body"])["error"]
    info = error["data" if binding == "JSON-RPC" else "details"][0]
    assert (info["reason"], info["metadata"]["scope"]) == ("PERMISSION_DENIED", "herald/call")
    assert "herald/call" in error["message"]
    assert answer["headers"]["www-authenticate"] == (
        'Bearer realm="herald", error="insufficient_scope", scope="herald/call"'
    )


def test_a_token_without_a_tenant_is_in_none() -> None:
    assert gateway.caller("jwt", {"authorizer": {"owner": "alice"}}) == Caller("", "alice")


@pytest.mark.parametrize(
    "authorizer",
    [None, {}, {"principalId": "mallory"}, {"owner": ""}, {"owner": None}, {"owner": 5}, {"owner": "a", "tenant": 5}],
)
@pytest.mark.parametrize("more", [{}, {"identity": {"user": "AIDAMALLORY"}}])
def test_who_has_no_owner_of_the_authorizers_is_nobody(authorizer: Any, more: dict[str, Any]) -> None:
    with pytest.raises(UnauthenticatedError):
        gateway.caller("jwt", {"authorizer": authorizer, **more})


@pytest.mark.parametrize("context", [{}, {"identity": None}, {"identity": {}}, {"identity": {"user": None}}])
@pytest.mark.parametrize("more", [{}, {"authorizer": {"principalId": "mallory", "owner": "mallory"}}])
def test_who_did_not_sign_is_nobody(context: dict[str, Any], more: dict[str, Any]) -> None:
    with pytest.raises(UnauthenticatedError):
        gateway.caller("iam", {**context, **more})


@pytest.mark.parametrize("mode", ["jwt", "iam"])
def test_e12_two_callers_without_a_name_are_not_one_owner(mode: gateway.AuthMode) -> None:
    api = ApiBench(auth=mode)

    answers = [api.http(rpc_event("SendMessage", _sending(), owner="")) for _ in range(2)]

    assert [answer["statusCode"] for answer in answers] == [401, 401]
    assert not api.world.items


def test_e12_where_everybody_is_the_one_anonymous_owner_the_documentation_says_so() -> None:
    api = ApiBench(auth="none")
    sent = api.http(rpc_event("SendMessage", _sending(), owner=""))
    task_id = json.loads(sent["body"])["result"]["task"]["id"]

    assert api.http(rest_event("GET", f"/tasks/{task_id}", owner=""))["statusCode"] == 200
    page = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text(encoding="utf-8")
    assert "`AuthMode=none`, for the local stack only, makes everybody the one owner `anonymous`" in page


def test_a_signature_is_in_no_tenant() -> None:
    api = ApiBench(auth="iam")
    alice = {"user": "AIDAALICE"}
    task_id = api.rpc("SendMessage", _sending(), **alice)["result"]["task"]["id"]

    assert api.rest("GET", f"/tasks/{task_id}", **alice).status == 200
    assert api.rest("GET", f"/acme/tasks/{task_id}", **alice).status == 404
    assert api.rest("POST", "/acme/message:send", _sending(), **alice).status == 400


def test_anybody_is_in_the_tenant_that_the_request_names() -> None:
    api = ApiBench(auth="none")
    task_id = api.rest("POST", "/acme/message:send", _sending(), owner="").body["task"]["id"]

    assert api.header(api.ref(task_id, "anonymous", "acme"))
    assert api.rest("GET", f"/acme/tasks/{task_id}", owner="").status == 200
    assert api.rest("GET", f"/tasks/{task_id}", owner="").status == 404


@pytest.mark.parametrize(
    ("template", "region", "url"),
    [
        ("", "eu-central-1", "https://abc.execute-api.eu-central-1.amazonaws.com/prod"),
        ("", "cn-north-1", "https://abc.execute-api.cn-north-1.amazonaws.com.cn/prod"),
        ("", "us-gov-west-1", "https://abc.execute-api.us-gov-west-1.amazonaws.com/prod"),
        ("https://agents.example.com/v1/", "eu-central-1", "https://agents.example.com/v1"),
        (
            "http://localhost:4566/_aws/execute-api/{apiId}/{stage}",
            "eu-central-1",
            "http://localhost:4566/_aws/execute-api/abc/prod",
        ),
        ("https://{region}.example.com/{other}", "eu-central-1", "https://eu-central-1.example.com/{other}"),
    ],
)
def test_the_public_address_comes_from_setting_and_request_context(template: str, region: str, url: str) -> None:
    assert gateway.public_url(template, region)({"apiId": "abc", "stage": "prod"}) == url


def _sending() -> dict[str, Any]:
    from builders.api import sending

    return sending()
