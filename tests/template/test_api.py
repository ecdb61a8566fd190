"""The API's door: who comes in unsigned, and that everything else ends at one function."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

PUBLIC = {
    "/.well-known/agent-card.json": "ApiFunction",
    "/openapi.json": "ApiFunction",
    "/notification": "ApiFunction",
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
    assert set(paths[path]) == {"get", "head", "options"}
    for method in paths[path].values():
        assert method["security"] == []
        assert method["x-amazon-apigateway-auth"] == {"type": "NONE"}
        assert function_of(method) == function


@pytest.mark.parametrize("path", REST)
def test_everything_else_is_authorized_and_ends_at_the_api_function(paths: dict[str, Any], path: str) -> None:
    assert set(paths[path]) == VERBS
    for method in [method for verb, method in paths[path].items() if verb != "options"]:
        signed = {"Fn::If": ["CallersSign", [{"sigv4": []}], []]}
        assert method["security"] == {"Fn::If": ["CallersBearTokens", [{"bearer": []}], signed]}
        assert method["x-amazon-apigateway-auth"] == {
            "Fn::If": [
                "CallersBearTokens",
                {"Ref": "AWS::NoValue"},
                {"type": {"Fn::If": ["CallersSign", "AWS_IAM", "NONE"]}},
            ]
        }
        assert function_of(method) == "ApiFunction"


def authorizer(resources: dict[str, Any]) -> dict[str, Any]:
    schemes = resources["Api"]["Properties"]["Body"]["components"]["securitySchemes"]
    condition, scheme, otherwise = schemes["bearer"]["Fn::If"]
    assert (condition, otherwise) == ("CallersBearTokens", {"Ref": "AWS::NoValue"})
    assert (scheme["name"], scheme["in"]) == ("Authorization", "header")
    assert scheme["x-amazon-apigateway-authtype"] == "custom"
    found: dict[str, Any] = scheme["x-amazon-apigateway-authorizer"]
    return found


def test_tokens_are_shown_to_authorize_and_its_answer_is_kept(resources: dict[str, Any]) -> None:
    found = authorizer(resources)

    assert found["type"] == "token"
    assert "${AuthorizeFunction.Arn}" in found["authorizerUri"]["Fn::Sub"]
    assert found["authorizerResultTtlInSeconds"] == 300


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("Bearer a.b.c", True),
        ("bearer a.b-_9.c", True),
        ("Bearer  a.b.c", True),
        ("Bearer a.b.", False),  # what alg none looks like
        ("Bearer a.b", False),
        ("Bearer a.b.c.d.e", False),
        ("Bearer a.b.c d", False),
        ("Basic a.b.c", False),
        ("a.b.c", False),
        ("", False),
    ],
)
def test_what_cannot_be_a_token_costs_nothing(resources: dict[str, Any], header: str, shown: bool) -> None:
    assert bool(re.fullmatch(authorizer(resources)["identityValidationExpression"], header)) is shown


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
    assert rule["RuleCondition"] == {"Fn::Equals": [{"Ref": "AuthMode"}, "none"]}
    (assertion,) = rule["Assertions"]
    assert assertion["Assert"] == {"Fn::Equals": [{"Ref": "Stage"}, "local"]}
    assert "AuthMode=jwt" in assertion["AssertDescription"]
    mode = template["Parameters"]["AuthMode"]
    assert (mode["Default"], mode["AllowedValues"]) == ("jwt", ["jwt", "iam", "none"])


def test_another_issuers_tokens_need_an_audience(template: dict[str, Any]) -> None:
    rule = template["Rules"]["AnotherIssuersTokensAreMeantForUs"]
    assert rule["RuleCondition"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "Issuer"}, ""]}]}
    (assertion,) = rule["Assertions"]
    assert assertion["Assert"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "Audience"}, ""]}]}


@pytest.mark.parametrize("parameter", ["Audience", "RequiredScopes"])
def test_who_asks_something_of_tokens_doesnt_ask_nothing_by_a_slip(template: dict[str, Any], parameter: str) -> None:
    pattern = template["Parameters"][parameter]["AllowedPattern"]
    for taken in ("", "one", "api://one", "one two"):
        assert re.fullmatch(pattern, taken)
    for refused in (" ", "  ", " one"):
        assert not re.fullmatch(pattern, refused)


def test_an_audience_is_more_than_a_comma(template: dict[str, Any]) -> None:
    pattern = template["Parameters"]["Audience"]["AllowedPattern"]
    assert re.fullmatch(pattern, "one, two")
    assert not re.fullmatch(pattern, ",")


def test_an_issuer_is_asked_over_https(template: dict[str, Any]) -> None:
    pattern = template["Parameters"]["Issuer"]["AllowedPattern"]
    for taken in ("", "https://login.example.com/", "http://localhost:4566/_issuer"):
        assert re.fullmatch(pattern, taken)
    for refused in ("http://login.example.com", "https://a.example#b", "https://a.example?b", "login.example.com"):
        assert not re.fullmatch(pattern, refused)


def test_the_functions_auth_mode_is_the_gateways(resources: dict[str, Any]) -> None:
    variables = resources["ApiFunction"]["Properties"]["Environment"]["Variables"]
    assert variables["HERALD_AUTH_MODE"] == {"Ref": "AuthMode"}


def test_the_card_and_the_authorizer_speak_of_the_same_issuer_and_scopes(resources: dict[str, Any]) -> None:
    api, authorize = (
        resources[name]["Properties"]["Environment"]["Variables"] for name in ("ApiFunction", "AuthorizeFunction")
    )
    for name in ("HERALD_OIDC_ISSUER", "HERALD_SCOPES"):
        assert api[name] == {"Fn::If": ["CallersBearTokens", authorize[name], ""]}


OF_TOKENS = ["AuthorizeLog", "AuthorizeRole", "AuthorizeFunction", "AuthorizeMayBeCalled"]
OF_THE_OWN_ISSUER = ["UserPool", "UserPoolScopes", "UserPoolClient", "UserPoolDomain"]


@pytest.mark.parametrize(("condition", "names"), [("CallersBearTokens", OF_TOKENS), ("OwnIssuer", OF_THE_OWN_ISSUER)])
def test_what_tokens_need_exists_only_where_there_are_tokens(
    resources: dict[str, Any], condition: str, names: list[str]
) -> None:
    assert {name for name, row in resources.items() if row.get("Condition") == condition} == set(names)


def test_the_own_issuer_hands_tokens_to_programs_with_a_secret_and_to_nobody_else(resources: dict[str, Any]) -> None:
    client = resources["UserPoolClient"]["Properties"]
    assert client["GenerateSecret"] is True
    assert client["AllowedOAuthFlows"] == ["client_credentials"]
    assert client["AllowedOAuthScopes"] == ["herald/call"]
    assert resources["UserPool"]["Properties"]["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}


def test_the_api_is_regional_and_traced(resources: dict[str, Any]) -> None:
    assert resources["Api"]["Properties"]["EndpointConfiguration"] == {"Types": ["REGIONAL"]}
    (stage,) = [row["Properties"] for row in resources.values() if row["Type"] == "AWS::ApiGateway::Stage"]
    assert stage["TracingEnabled"] is True


REASONS = {
    400: "INVALID_REQUEST",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    405: "METHOD_NOT_ALLOWED",
    413: "REQUEST_TOO_LARGE",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL_ERROR",
    503: "UNAVAILABLE",
    504: "UNAVAILABLE",
}


def test_what_the_gateway_refuses_is_an_error_with_a_reason_that_clients_map(resources: dict[str, Any]) -> None:
    responses = resources["Api"]["Properties"]["Body"]["x-amazon-apigateway-gateway-responses"]
    assert {"DEFAULT_4XX", "DEFAULT_5XX", "MISSING_AUTHENTICATION_TOKEN", "THROTTLED"} <= set(responses)
    for response in [choice for row in responses.values() for choice in row.get("Fn::If", ["", row])[1:]]:
        told = response["responseTemplates"]["application/json"]
        error = json.loads(told.replace("$context.error.messageString", '"text"'))["error"]
        assert error["code"] == response["statusCode"]  # the gateway has a default of its own, 403 for most
        assert error["message"]
        (info,) = error["details"]
        assert info["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"
        assert (info["domain"], info["reason"]) == ("a2a-protocol.org", REASONS[error["code"]])


def test_a_401_says_how_to_authenticate(resources: dict[str, Any]) -> None:
    """RFC 6750 section 3: no error for who sent no token, invalid_token for who sent one that isn't taken."""
    responses = resources["Api"]["Properties"]["Body"]["x-amazon-apigateway-gateway-responses"]
    refused = responses["ACCESS_DENIED"]["Fn::If"][1]
    challenges = [
        row["responseParameters"]["gatewayresponse.header.WWW-Authenticate"]
        for row in (responses["UNAUTHORIZED"], refused)
    ]

    assert challenges == ["'Bearer realm=\"herald\"'", '\'Bearer realm="herald", error="invalid_token"\'']
    assert "$context.authorizer.reason" in refused["responseTemplates"]["application/json"]


@pytest.mark.parametrize(
    "refusal", ["MISSING_AUTHENTICATION_TOKEN", "DEFAULT_4XX", "INVALID_SIGNATURE", "EXPIRED_TOKEN"]
)
def test_a_call_that_nobody_has_signed_is_told_how_to(resources: dict[str, Any], refusal: str) -> None:
    """DEFAULT_4XX is what the gateway says of a key that it doesn't know, and of half a signature."""
    responses = resources["Api"]["Properties"]["Body"]["x-amazon-apigateway-gateway-responses"]
    condition, response, _ = responses[refusal]["Fn::If"]

    assert condition == "CallersSign"
    assert response["statusCode"] == 401
    assert response["responseParameters"]["gatewayresponse.header.WWW-Authenticate"] == "'AWS4-HMAC-SHA256'"
    assert "Signature Version 4" in response["responseTemplates"]["application/json"]


@pytest.mark.parametrize("refusal", ["MISSING_AUTHENTICATION_TOKEN", "INVALID_SIGNATURE", "EXPIRED_TOKEN"])
def test_a_verb_that_a_path_has_not_got_is_told_as_that(resources: dict[str, Any], refusal: str) -> None:
    """The gateway speaks of a missing token there, or takes an access token for a wrong signature."""
    responses = resources["Api"]["Properties"]["Body"]["x-amazon-apigateway-gateway-responses"]
    otherwise = responses[refusal]["Fn::If"][2]

    assert otherwise["statusCode"] == 405
    assert otherwise["responseParameters"]["gatewayresponse.header.Allow"] == "'GET, HEAD'"
