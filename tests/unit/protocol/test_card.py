"""The Agent Card."""

from __future__ import annotations

from typing import Any

import pytest

from herald.protocol import codec
from herald.protocol.card import AgentCard, AgentSkill, SecurityScheme
from herald.protocol.errors import InvalidParamsError

SKILL = {"id": "s", "name": "Sums", "description": "Adds up", "tags": ["sums"]}
CARD: dict[str, Any] = {
    "name": "Agent",
    "description": "Adds up",
    "supportedInterfaces": [{"url": "https://x.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    "version": "1.0.0",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [SKILL],
}


def violations(card: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(InvalidParamsError) as caught:
        AgentCard.parse(card, "card")
    return {each.field: each.description for each in caught.value.violations}


def test_the_smallest_card_is_read_and_written() -> None:
    assert AgentCard.parse(CARD).wire() == CARD


@pytest.mark.parametrize("field", list(CARD))
def test_e20_a_card_without_a_required_field_is_refused(field: str) -> None:
    assert violations({name: value for name, value in CARD.items() if name != field}) == {
        f"card.{field}": "is required"
    }


@pytest.mark.parametrize("field", ["supportedInterfaces", "defaultInputModes", "defaultOutputModes", "skills"])
def test_e20_a_cards_required_lists_have_something_in_them(field: str) -> None:
    assert violations({**CARD, field: []}) == {f"card.{field}": "must not be empty"}


def test_wrong_fields_deep_in_a_card_are_named() -> None:
    card = {
        **CARD,
        "version": 1.0,
        "capabilities": {"streaming": "yes", "extensions": [{"uri": 5}]},
        "skills": [SKILL, {"id": "t", "input_modes": "text/plain"}],
        "security_schemes": {"key": {"apiKeySecurityScheme": {"location": "header"}}, "none": {}},
        "securityRequirements": [{"schemes": {"key": []}}],
    }
    assert violations(card) == {
        "card.version": "must be a string",
        "card.capabilities.streaming": "must be true or false",
        "card.capabilities.extensions[0].uri": "must be a string",
        "card.skills[1].name": "is required",
        "card.skills[1].description": "is required",
        "card.skills[1].tags": "is required",
        "card.skills[1].inputModes": "must be an array",
        "card.securitySchemes.key.apiKeySecurityScheme.name": "is required",
        "card.securitySchemes.none": "must have exactly one of apiKeySecurityScheme, httpAuthSecurityScheme, "
        "oauth2SecurityScheme, openIdConnectSecurityScheme, mtlsSecurityScheme",
        "card.securityRequirements[0].schemes.key": "must be an object",
    }


def test_a12_what_a_card_says_explicitly_is_kept() -> None:
    said = {
        **CARD,
        "documentationUrl": "",
        "capabilities": {"streaming": False, "pushNotifications": False, "extendedAgentCard": False},
    }
    assert AgentCard.parse(said).wire() == said
    empty = {**CARD, "securitySchemes": {}, "securityRequirements": [], "signatures": [], "iconUrl": None}
    assert AgentCard.parse(empty).wire() == CARD


def test_required_scopes_are_written_even_when_there_are_none() -> None:
    flow = {"tokenUrl": "https://x.example/token", "scopes": {}}
    scheme = {"oauth2SecurityScheme": {"flows": {"clientCredentials": flow}, "oauth2MetadataUrl": "https://x.example"}}
    assert SecurityScheme.parse(scheme).wire() == scheme


@pytest.mark.parametrize(
    "scheme",
    [
        {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}},
        {"httpAuthSecurityScheme": {"description": "d", "scheme": "Bearer", "bearerFormat": "JWT"}},
        {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://x.example"}},
        {"mtlsSecurityScheme": {}},
        {
            "oauth2SecurityScheme": {
                "flows": {
                    "authorizationCode": {
                        "authorizationUrl": "https://x.example/a",
                        "tokenUrl": "https://x.example/t",
                        "scopes": {"read": "reads"},
                        "pkceRequired": True,
                    }
                }
            }
        },
        {"oauth2SecurityScheme": {"flows": {"implicit": {}}}},
        {"oauth2SecurityScheme": {"flows": {"password": {"tokenUrl": "https://x.example/t"}}}},
        {
            "oauth2SecurityScheme": {
                "flows": {"deviceCode": {"deviceAuthorizationUrl": "u", "tokenUrl": "t", "scopes": {"a": ""}}}
            }
        },
    ],
)
def test_every_security_scheme_is_read_and_written(scheme: dict[str, Any]) -> None:
    assert SecurityScheme.parse(scheme).wire() == scheme


def test_names_of_schemes_are_the_cards_own_and_stay() -> None:
    card = {
        **CARD,
        "securitySchemes": {"my_key": {"mtlsSecurityScheme": {}}},
        "securityRequirements": [{"schemes": {"my_key": {"list": ["a"]}, "other_key": {}}}],
        "signatures": [{"protected": "p", "signature": "s", "header": {"kid": "k"}}],
        "provider": {"url": "https://x.example", "organization": "X"},
        "iconUrl": "https://x.example/i.png",
    }
    assert AgentCard.parse(card).wire() == card


def test_a_card_is_written_in_the_order_of_the_proto() -> None:
    shuffled = dict(reversed(CARD.items()))
    assert codec.dumps(AgentCard.parse(shuffled).wire()) == codec.dumps(CARD)
    assert list(AgentSkill.parse({**SKILL, "examples": ["e"]}).wire()) == [
        "id",
        "name",
        "description",
        "tags",
        "examples",
    ]
