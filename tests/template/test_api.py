"""The API's door: who comes in unsigned, and that everything else ends at one function."""

from __future__ import annotations

import json
from typing import Any

import pytest

PUBLIC = {
    "/.well-known/agent-card.json": "ApiFunction",
    "/openapi.json": "ApiFunction",
    "/.well-known/jwks.json": "PublishKeysFunction",
    "/{tenant}/.well-known/jwks.json": "PublishKeysFunction",
}
REST = ["/", "/{tenant}", "/{tenant}/{proxy+}"]
VERBS = {"get", "post", "put", "patch", "delete", "head", "options"}


@pytest.fixture
def paths(resources: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = resources["Api"]["Properties"]["Body"]["paths"]
    return {path: {verb: row for verb, row in item.items() if verb in VERBS} for path, item in found.items()}


def function_of(method: dict[str, Any]) -> str:
    uri: str = method["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
    return uri.split("${")[-1].split(".")[0]


def test_these_are_all_paths(paths: dict[str, Any]) -> None:
    assert set(paths) == {*PUBLIC, *REST}


@pytest.mark.parametrize(("path", "function"), PUBLIC.items())
def test_a_public_route_can_only_be_read(paths: dict[str, Any], path: str, function: str) -> None:
    assert set(paths[path]) == ({"get", "head"} if function == "ApiFunction" else {"get"})
    for method in paths[path].values():
        assert method["security"] == []
        assert method["x-amazon-apigateway-auth"] == {"type": "NONE"}
        assert function_of(method) == function


@pytest.mark.parametrize("path", REST)
def test_everything_else_is_signed_and_ends_at_the_api_function(paths: dict[str, Any], path: str) -> None:
    assert set(paths[path]) == VERBS
    for method in paths[path].values():
        assert method["x-amazon-apigateway-auth"] == {"type": {"Ref": "AuthMode"}}
        assert method["security"] == {"Fn::If": ["CallersSign", [{"sigv4": []}], []]}
        assert function_of(method) == "ApiFunction"


def test_no_method_calls_a_function_with_the_callers_credentials(resources: dict[str, Any]) -> None:
    assert '"credentials"' not in json.dumps(resources["Api"]["Properties"]["Body"])


def test_no_level_of_a_path_has_two_variables(paths: dict[str, Any]) -> None:
    """API Gateway refuses a second variable beside the first, a greedy one included."""
    children: dict[str, set[str]] = {}
    for path in paths:
        parts = path.strip("/").split("/")
        for depth, part in enumerate(parts):
            if part.startswith("{"):
                children.setdefault("/".join(parts[:depth]), set()).add(part)
    assert children == {"": {"{tenant}"}, "{tenant}": {"{proxy+}"}}


def test_the_stage_follows_a_changed_auth_mode(template: dict[str, Any]) -> None:
    """SAM makes a new deployment for a new definition, and a parameter's new value isn't one.

    The stage would go on with the old deployment: open, where signatures were asked for.
    """
    assert template["Resources"]["Api"]["Properties"]["AlwaysDeploy"] is True


def test_an_open_api_is_refused_outside_the_local_stage(template: dict[str, Any]) -> None:
    rule = template["Rules"]["OnlyLocalIsOpen"]
    assert rule["RuleCondition"] == {"Fn::Equals": [{"Ref": "AuthMode"}, "NONE"]}
    (assertion,) = rule["Assertions"]
    assert assertion["Assert"] == {"Fn::Equals": [{"Ref": "Stage"}, "local"]}
    assert "AuthMode=AWS_IAM" in assertion["AssertDescription"]
    assert template["Parameters"]["AuthMode"] == {
        "Type": "String",
        "Default": "AWS_IAM",
        "AllowedValues": ["AWS_IAM", "NONE"],
        "Description": "How callers show who they are. NONE makes everybody one anonymous owner; only Stage=local may.",
    }


def test_the_functions_auth_mode_is_the_gateways(resources: dict[str, Any]) -> None:
    variables = resources["ApiFunction"]["Properties"]["Environment"]["Variables"]
    assert variables["HERALD_AUTH_MODE"] == {"Fn::If": ["CallersSign", "iam", "none"]}


def test_the_api_is_regional_and_traced(resources: dict[str, Any]) -> None:
    assert resources["Api"]["Properties"]["EndpointConfiguration"] == {"Types": ["REGIONAL"]}
    (stage,) = [row["Properties"] for row in resources.values() if row["Type"] == "AWS::ApiGateway::Stage"]
    assert stage["TracingEnabled"] is True


REASONS = {
    400: "INVALID_REQUEST",
    403: "PERMISSION_DENIED",
    413: "REQUEST_TOO_LARGE",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL_ERROR",
    504: "UNAVAILABLE",
}


def test_what_the_gateway_refuses_is_an_error_with_a_reason_that_clients_map(resources: dict[str, Any]) -> None:
    responses = resources["Api"]["Properties"]["Body"]["x-amazon-apigateway-gateway-responses"]
    assert {"DEFAULT_4XX", "DEFAULT_5XX", "MISSING_AUTHENTICATION_TOKEN", "THROTTLED"} <= set(responses)
    for response in responses.values():
        told = response["responseTemplates"]["application/json"]
        error = json.loads(told.replace("$context.error.messageString", '"text"'))["error"]
        assert error["code"] == int(response.get("statusCode", error["code"]))
        assert error["message"]
        (info,) = error["details"]
        assert info["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"
        assert (info["domain"], info["reason"]) == ("a2a-protocol.org", REASONS[error["code"]])
