"""What callers are held to, which sites' scripts may call, and the agent's own name."""

from __future__ import annotations

import re
from typing import Any

import pytest

NOTHING = {"Ref": "AWS::NoValue"}


@pytest.fixture
def responses(resources: dict[str, Any]) -> list[dict[str, Any]]:
    """The gateway's own responses, both of one that depends on AuthMode."""
    found = resources["Api"]["Properties"]["Body"]["x-amazon-apigateway-gateway-responses"].values()
    return [choice for row in found for choice in (row["Fn::If"][1:] if "Fn::If" in row else [row])]


def test_every_method_is_throttled_by_parameters(resources: dict[str, Any]) -> None:
    (stage,) = [row["Properties"] for row in resources.values() if row["Type"] == "AWS::ApiGateway::Stage"]
    assert stage["MethodSettings"] == [
        {
            "ResourcePath": "/*",
            "HttpMethod": "*",
            "ThrottlingRateLimit": {"Ref": "ThrottleRate"},
            "ThrottlingBurstLimit": {"Ref": "ThrottleBurst"},
        }
    ]


def test_who_is_throttled_is_told_when_to_come_back(resources: dict[str, Any]) -> None:
    throttled = resources["Api"]["Properties"]["Body"]["x-amazon-apigateway-gateway-responses"]["THROTTLED"]
    assert throttled["statusCode"] == 429
    assert throttled["responseParameters"]["gatewayresponse.header.Retry-After"] == "'1'"


@pytest.mark.parametrize(
    ("variable", "parameter"),
    [
        ("HERALD_OPEN_TASKS_PER_OWNER", "OpenTasksPerOwner"),
        ("HERALD_ORIGINS_PER_OWNER", "OriginsPerOwner"),
        ("HERALD_CORS_ORIGIN", "CorsOrigin"),
    ],
)
def test_the_api_is_told_its_limits(resources: dict[str, Any], variable: str, parameter: str) -> None:
    assert resources["ApiFunction"]["Properties"]["Environment"]["Variables"][variable] == {"Ref": parameter}


def test_these_are_the_defaults(template: dict[str, Any]) -> None:
    defaults = {name: row["Default"] for name, row in template["Parameters"].items()}
    assert (defaults["OpenTasksPerOwner"], defaults["OriginsPerOwner"]) == (1000, 20)
    assert (defaults["ThrottleRate"], defaults["ThrottleBurst"]) == (200, 400)
    assert (defaults["CorsOrigin"], defaults["DomainName"], defaults["CertificateArn"]) == ("", "", "")


# ---- CORS ----


def test_a_browser_may_ask_without_credentials_where_there_are_sites_and_only_there(resources: dict[str, Any]) -> None:
    paths = resources["Api"]["Properties"]["Body"]["paths"]
    for path in ("/", "/{tenant}", "/{tenant}/{proxy+}"):
        call, ask = paths[path]["get"], paths[path]["options"]
        assert ask["security"] == {"Fn::If": ["HasCors", [], call["security"]]}
        assert ask["x-amazon-apigateway-auth"] == {
            "Fn::If": ["HasCors", {"type": "NONE"}, call["x-amazon-apigateway-auth"]]
        }


def test_a_refusal_of_the_gateways_can_be_read_where_there_are_sites_and_has_no_header_elsewhere(
    responses: list[dict[str, Any]],
) -> None:
    assert len(responses) > 8
    for response in responses:
        told = {name.split(".")[-1]: value for name, value in response["responseParameters"].items()}
        site = {"Fn::If": ["AnySite", "'*'", "method.request.header.Origin"]}
        assert told["Access-Control-Allow-Origin"] == {"Fn::If": ["HasCors", site, NOTHING]}
        assert told["Vary"] == {"Fn::If": ["HasCors", "'Origin'", NOTHING]}
        exposed = told["Access-Control-Expose-Headers"]["Fn::If"]
        assert exposed == ["HasCors", "'A2A-Extensions, ETag, Retry-After, WWW-Authenticate'", NOTHING]


def test_cors_is_off_by_default(template: dict[str, Any]) -> None:
    assert template["Conditions"]["HasCors"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "CorsOrigin"}, ""]}]}
    assert template["Conditions"]["AnySite"] == {"Fn::Equals": [{"Ref": "CorsOrigin"}, "*"]}


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ("", True),
        ("*", True),
        ("https://app.example.com", True),
        ("https://app.example.com,http://localhost:3000", True),
        ("https://app.example.com, http://localhost:3000", True),
        ("https://app.example.com/", False),
        ("app.example.com", False),
        ("*,https://app.example.com", False),
        ("https://*.example.com", False),
    ],
)
def test_sites_are_origins(template: dict[str, Any], value: str, taken: bool) -> None:
    assert bool(re.fullmatch(template["Parameters"]["CorsOrigin"]["AllowedPattern"], value)) is taken


def test_keys_can_be_read_by_the_same_sites(resources: dict[str, Any]) -> None:
    variables = resources["PublishKeysFunction"]["Properties"]["Environment"]["Variables"]
    assert variables["HERALD_CORS_ORIGIN"] == {"Ref": "CorsOrigin"}


# ---- the agent's own name ----


def test_the_name_stands_in_front_of_the_stage_without_a_base_path(resources: dict[str, Any]) -> None:
    domain, root = resources["Domain"], resources["DomainRoot"]
    assert (domain["Condition"], root["Condition"]) == ("HasDomain", "HasDomain")
    assert domain["Properties"] == {
        "DomainName": {"Ref": "DomainName"},
        "RegionalCertificateArn": {"Ref": "CertificateArn"},
        "EndpointConfiguration": {"Types": ["REGIONAL"]},
        "SecurityPolicy": "TLS_1_2",
    }
    assert root["Properties"]["DomainName"] == {"Ref": "Domain"}
    assert root["Properties"]["RestApiId"] == {"Ref": "Api"}
    assert resources[root["Properties"]["Stage"]["Ref"]]["Type"] == "AWS::ApiGateway::Stage"  # made before the mapping
    assert "BasePath" not in root["Properties"]


def test_a_name_without_a_certificate_is_refused_and_the_other_way_round(template: dict[str, Any]) -> None:
    (assertion,) = template["Rules"]["DomainHasItsCertificate"]["Assertions"]
    neither = [{"Fn::Equals": [{"Ref": name}, ""]} for name in ("DomainName", "CertificateArn")]
    assert assertion["Assert"] == {
        "Fn::Or": [{"Fn::And": neither}, {"Fn::And": [{"Fn::Not": [missing]} for missing in neither]}]
    }
    assert "DomainName and CertificateArn" in assertion["AssertDescription"]


def test_the_card_names_the_domain_unless_another_address_is_given(
    template: dict[str, Any], resources: dict[str, Any]
) -> None:
    variables = resources["ApiFunction"]["Properties"]["Environment"]["Variables"]
    assert variables["HERALD_PUBLIC_URL"] == {
        "Fn::If": ["IsNamedByDomain", {"Fn::Sub": "https://${DomainName}"}, {"Ref": "PublicUrl"}]
    }
    assert template["Conditions"]["IsNamedByDomain"] == {
        "Fn::And": [{"Condition": "HasDomain"}, {"Fn::Equals": [{"Ref": "PublicUrl"}, ""]}]
    }


def test_the_outputs_name_it_and_say_where_dns_must_point(template: dict[str, Any]) -> None:
    outputs = template["Outputs"]
    paths = {"BaseUrl": "", "CardUrl": "/.well-known/agent-card.json", "JwksUrl": "/.well-known/jwks.json"}
    for name, path in paths.items():
        condition, named, own = outputs[name]["Value"]["Fn::If"]
        assert (condition, named) == ("HasDomain", {"Fn::Sub": f"https://${{DomainName}}{path}"})
        assert own["Fn::Sub"].endswith(f"/${{Stage}}{path}")
    for name, attribute in (("DomainTarget", "RegionalDomainName"), ("DomainTargetZone", "RegionalHostedZoneId")):
        assert outputs[name]["Condition"] == "HasDomain"
        assert outputs[name]["Value"] == {"Fn::GetAtt": ["Domain", attribute]}


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ("", True),
        ("agent.example.com", True),
        ("a.b-c.example", True),
        ("example", False),
        ("Agent.example.com", False),
        ("https://agent.example.com", False),
        ("agent.example.com.", False),
    ],
)
def test_a_name_is_a_hosts(template: dict[str, Any], value: str, taken: bool) -> None:
    assert bool(re.fullmatch(template["Parameters"]["DomainName"]["AllowedPattern"], value)) is taken
