"""securitySchemes and securityRequirements: what a card says of the door it stands at."""

from __future__ import annotations

from typing import Any

import pytest

from builders.api import CARD, ApiBench
from herald.protocol.card import AgentCard

PATH = "/.well-known/agent-card.json"
SKILL = "tags: [test]"


def served(card_text: str = CARD, **bench: Any) -> dict[str, Any]:
    card: dict[str, Any] = ApiBench(card_text=card_text, **bench).rest("GET", PATH).body
    assert AgentCard.parse(card).wire() == card
    return card


def test_tokens_come_from_the_token_url_by_client_credentials() -> None:
    card = served(token_url="https://login.example.com/oauth2/token", scopes=("herald/call", "herald/more"))

    assert card["securitySchemes"] == {
        "jwt": {
            "oauth2SecurityScheme": {
                "description": "An access token (JWT), sent as Authorization: Bearer.",
                "flows": {
                    "clientCredentials": {
                        "tokenUrl": "https://login.example.com/oauth2/token",
                        "scopes": {"herald/call": "Needed by every call.", "herald/more": "Needed by every call."},
                    }
                },
            }
        }
    }
    assert card["securityRequirements"] == [{"schemes": {"jwt": {"list": ["herald/call", "herald/more"]}}}]


def test_an_issuer_whose_token_url_is_unknown_is_named_by_its_discovery_document() -> None:
    card = served(issuer="https://issuer.example.com/tenant/")

    scheme = card["securitySchemes"]["jwt"]["openIdConnectSecurityScheme"]
    assert scheme["openIdConnectUrl"] == "https://issuer.example.com/tenant/.well-known/openid-configuration"
    assert card["securityRequirements"] == [{"schemes": {"jwt": {}}}]


def test_without_either_it_is_a_bearer_token() -> None:
    scheme = served(issuer="")["securitySchemes"]["jwt"]["httpAuthSecurityScheme"]

    assert (scheme["scheme"], scheme["bearerFormat"]) == ("Bearer", "JWT")


def test_a_signed_api_says_how_to_sign() -> None:
    card = served(auth="iam")

    assert card["securitySchemes"] == {
        "awsSigV4": {
            "apiKeySecurityScheme": {
                "description": "AWS Signature Version 4, service execute-api, region eu-central-1.",
                "location": "header",
                "name": "Authorization",
            }
        }
    }
    assert card["securityRequirements"] == [{"schemes": {"awsSigV4": {}}}]


def test_an_open_api_asks_for_nothing() -> None:
    card = served(auth="none")

    assert "securitySchemes" not in card
    assert "securityRequirements" not in card


OWN_DOOR = """
securitySchemes:
  certificate: {mtlsSecurityScheme: {description: Ours.}}
  jwt: {httpAuthSecurityScheme: {scheme: Bearer}}
securityRequirements:
  - {schemes: {certificate: {}}}
  - {schemes: {jwt: {list: [more, herald/call]}}}
"""


def test_what_the_adopters_own_door_asks_for_stays_beside_what_the_gateway_asks_for() -> None:
    card = served(CARD + OWN_DOOR, token_url="https://login.example.com/token", scopes=("herald/call",))

    assert card["securityRequirements"] == [
        {"schemes": {"certificate": {}, "jwt": {"list": ["herald/call"]}}},
        {"schemes": {"jwt": {"list": ["herald/call", "more"]}}},
    ]
    assert card["securitySchemes"] == {
        "certificate": {"mtlsSecurityScheme": {"description": "Ours."}},
        "jwt": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},  # as written: the adopter knows more of it
    }


def test_no_requirement_names_a_scheme_of_another_door() -> None:
    signed = served(CARD + OWN_DOOR, auth="iam")
    open_ = served(CARD + OWN_DOOR, auth="none")

    assert signed["securityRequirements"] == [
        {"schemes": {"certificate": {}, "awsSigV4": {}}},
    ]
    assert set(signed["securitySchemes"]) == {"certificate", "awsSigV4"}
    assert open_["securityRequirements"] == [{"schemes": {"certificate": {}}}]
    assert set(open_["securitySchemes"]) == {"certificate"}


@pytest.mark.parametrize(
    ("auth", "requirements"),
    [
        ("jwt", [{"schemes": {"jwt": {"list": ["herald/chart"]}}}]),
        ("iam", None),
        ("none", None),
    ],
)
def test_a_skill_may_ask_for_a_scope_of_its_own(auth: str, requirements: Any) -> None:
    text = CARD.replace(SKILL, SKILL + ", securityRequirements: [{schemes: {jwt: {list: [herald/chart]}}}]")

    assert served(text, auth=auth)["skills"][0].get("securityRequirements") == requirements
