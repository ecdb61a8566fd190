"""securitySchemes and securityRequirements of the card, from what is deployed (A2A specification section 4.5).

The gateway lets nobody in but by the scheme of its AuthMode. So every requirement of the card names that scheme, beside
what the adopter's own door asks for (a client certificate at a custom domain, say); and no requirement names a scheme
of another AuthMode, which a skill's may: a card is written once, and deployed in several ways.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from herald.bindings.card_rules import JWT, SCHEMES, SIGV4, JsonObject
from herald.bindings.gateway import AuthMode


@dataclass(frozen=True, slots=True)
class Door:
    """Who is let in.

    Attributes:
        auth: how callers show who they are.
        region: of the API.
        issuer: URL of the OpenID Connect issuer of access tokens; "" unless ``auth`` is jwt.
        token_url: where client credentials are exchanged for a token; "" where that isn't known.
        scopes: what every call needs.
    """

    auth: AuthMode
    region: str = ""
    issuer: str = ""
    token_url: str = ""
    scopes: tuple[str, ...] = ()


def filled_in(card: Mapping[str, Any], door: Door) -> JsonObject:
    """The members ``securitySchemes``, ``securityRequirements`` and ``skills`` of a card behind a door."""
    name = _NAMES[door.auth]
    written = card.get("securitySchemes", {})
    schemes = {each: scheme for each, scheme in written.items() if each not in SCHEMES}
    requirements = _of_door(card.get("securityRequirements", []), name)
    if name:
        # A scheme of this name that the adopter wrote knows more, such as the flow with an authorization code.
        schemes[name] = written.get(name) or _MADE[name](door)
        scopes = {"list": list(door.scopes)}
        requirements = [_joined(each, name, scopes) for each in requirements or [{"schemes": {}}]]
    return {
        "securitySchemes": schemes,
        "securityRequirements": requirements,
        "skills": [
            {**skill, "securityRequirements": _of_door(skill.get("securityRequirements", []), name)}
            for skill in card["skills"]
        ],
    }


def _of_door(requirements: list[JsonObject], name: str) -> list[JsonObject]:
    """Requirements without the schemes of other doors, and without those of which nothing is left."""
    gone = SCHEMES - {name}
    kept = [
        {"schemes": {each: scopes for each, scopes in requirement.get("schemes", {}).items() if each not in gone}}
        for requirement in requirements
    ]
    return [requirement for requirement in kept if requirement["schemes"]]


def _joined(requirement: JsonObject, name: str, scopes: JsonObject) -> JsonObject:
    """A requirement that asks for a scheme with these scopes, beside whatever it asks for."""
    schemes = requirement["schemes"]
    asked = [*scopes["list"], *schemes.get(name, {}).get("list", [])]
    return {"schemes": {**schemes, name: {"list": list(dict.fromkeys(asked))}}}


def _jwt(door: Door) -> JsonObject:
    """The most that is known: where tokens are got, where the issuer says so, or what a token looks like."""
    said = {"description": "An access token (JWT), sent as Authorization: Bearer."}
    if door.token_url:
        flow = {"tokenUrl": door.token_url, "scopes": dict.fromkeys(door.scopes, "Needed by every call.")}
        return {"oauth2SecurityScheme": {**said, "flows": {"clientCredentials": flow}}}
    if door.issuer:
        url = f"{door.issuer.rstrip('/')}/.well-known/openid-configuration"
        return {"openIdConnectSecurityScheme": {**said, "openIdConnectUrl": url}}
    return {"httpAuthSecurityScheme": {**said, "scheme": "Bearer", "bearerFormat": "JWT"}}


def _sigv4(door: Door) -> JsonObject:
    return {
        "apiKeySecurityScheme": {
            "description": f"AWS Signature Version 4, service execute-api, region {door.region}.",
            "location": "header",
            "name": "Authorization",
        }
    }


_NAMES: Mapping[AuthMode, str] = {"jwt": JWT, "iam": SIGV4, "none": ""}
_MADE: Mapping[str, Callable[[Door], JsonObject]] = {JWT: _jwt, SIGV4: _sigv4}
