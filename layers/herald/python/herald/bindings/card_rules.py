"""What an adopter's card must keep to beyond the specification's required fields, each rule with the field's name.

A card is read by machines: a word that nobody understands, a scheme that isn't there or a skill that is there twice is
a mistake that no client would tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from herald.protocol.media_types import media_range
from herald.protocol.protojson import camel

JsonObject = dict[str, Any]
Complaint = tuple[str, str]  # a field and what is wrong with it

FILE = "card.yaml"
EXTENDED_FILE = "extended_card.yaml"

PUSH_EXTENSION = "urn:herald:extensions:signed-push:v1"

JWT = "jwt"
SIGV4 = "awsSigV4"
SCHEMES = frozenset({JWT, SIGV4})
"""The securitySchemes that a deployment fills in: one by its AuthMode, or none. Requirements may name both."""

# What an access token is asked for by, if the adopter knows more of it than the stack's parameters say.
_OF_TOKENS = ("oauth2SecurityScheme", "openIdConnectSecurityScheme", "httpAuthSecurityScheme")

_FILLED_IN = "is filled in by Herald: leave it out"
_HEADER_VALUE = re.compile(r"[!-+.-~-]+")  # one of a list in a header
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_SAFE_INTEGER = 2**53 - 1  # what canonical JSON can say exactly (RFC 8785 section 3.2.2.3)


def of_the_file(written: JsonObject, *, has_extended: bool) -> Iterator[Complaint]:
    """card.yaml doesn't say what a deployment knows, or say it wrongly."""
    yield from _filled_in(written)
    if not isinstance(written["capabilities"], dict):
        return
    capabilities = {camel(str(name)): value for name, value in written["capabilities"].items()}
    if capabilities.get("streaming"):
        yield "capabilities.streaming", "isn't offered by this version of Herald: leave it out"
    extended = capabilities.get("extendedAgentCard")
    if extended and not has_extended:
        yield (
            "capabilities.extendedAgentCard",
            f"there is no {EXTENDED_FILE} beside this file: write it, or leave this out",
        )
    if extended is False and has_extended:
        yield "capabilities.extendedAgentCard", f"is false, but there is an {EXTENDED_FILE}: remove one of them"


def of_the_extended_file(written: JsonObject) -> Iterator[Complaint]:
    """extended_card.yaml tells of the same agent: what it can do beside, not what is deployed."""
    yield from _filled_in(written)
    if "capabilities" in written:
        yield "capabilities", f"are the same for all callers: write them in {FILE}"


def _filled_in(written: JsonObject) -> Iterator[Complaint]:
    for field in ("supportedInterfaces", "signatures"):
        if field in written:
            yield field, _FILLED_IN


def of_the_card(card: JsonObject) -> Iterator[Complaint]:
    """What every card keeps to, as ProtoJSON."""
    yield from _modes(card, "defaultInputModes", "defaultOutputModes")
    yield from _urls(card)
    yield from _extensions(card["capabilities"].get("extensions", []))
    yield from _schemes(card.get("securitySchemes", {}))
    known = SCHEMES.union(card.get("securitySchemes", {}))
    yield from _requirements(card, known)
    places: dict[str, str] = {}
    for number, skill in enumerate(card["skills"]):
        at = f"skills[{number}]"
        if (first := places.setdefault(skill["id"], at)) != at:
            yield f"{at}.id", f"{skill['id']!r} is the id of {first} already"
        yield from _modes(skill, "inputModes", "outputModes", at=f"{at}.")
        yield from _requirements(skill, known, at=f"{at}.")


def _modes(owner: Mapping[str, Any], *fields: str, at: str = "") -> Iterator[Complaint]:
    for field in fields:
        for number, mode in enumerate(owner.get(field, [])):
            if media_range(mode) is None:
                yield f"{at}{field}[{number}]", "must be a media type like text/plain, or a range like image/* or */*"


def _urls(card: JsonObject) -> Iterator[Complaint]:
    provider = card.get("provider", {}).get("url", "")
    for field, url in (
        ("provider.url", provider),
        *((name, card.get(name)) for name in ("documentationUrl", "iconUrl")),
    ):
        if url and not _URL.fullmatch(url):
            yield field, f"{url!r} must be an absolute URL"


def _extensions(extensions: list[JsonObject]) -> Iterator[Complaint]:
    places: dict[str, str] = {}
    for number, extension in enumerate(extensions):
        at = f"capabilities.extensions[{number}]"
        uri = extension.get("uri", "")
        if not _HEADER_VALUE.fullmatch(uri):
            yield f"{at}.uri", "must be a URI in ASCII, without spaces and commas"
        elif uri == PUSH_EXTENSION:
            yield f"{at}.uri", "is announced by Herald: leave the extension out"
        elif (first := places.setdefault(uri, at)) != at:
            yield f"{at}.uri", f"{uri!r} is the uri of {first} already"
        yield from _numbers(extension.get("params", {}), f"{at}.params")


def _numbers(value: Any, at: str) -> Iterator[Complaint]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _numbers(member, f"{at}.{name}")
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _numbers(member, f"{at}[{number}]")
    elif isinstance(value, int) and abs(value) > _SAFE_INTEGER:
        yield at, "is an integer beyond 2^53, which a signature can't cover exactly: write it as a string"


def _schemes(schemes: Mapping[str, JsonObject]) -> Iterator[Complaint]:
    if SIGV4 in schemes:
        yield f"securitySchemes.{SIGV4}", _FILLED_IN
    if JWT in schemes and not any(kind in schemes[JWT] for kind in _OF_TOKENS):
        yield (
            f"securitySchemes.{JWT}",
            f"says how callers get an access token, so it must be one of {', '.join(_OF_TOKENS)}",
        )


def _requirements(owner: Mapping[str, Any], known: frozenset[str], at: str = "") -> Iterator[Complaint]:
    for number, requirement in enumerate(owner.get("securityRequirements", [])):
        for name in requirement.get("schemes", {}):
            if name not in known:
                yield f"{at}securityRequirements[{number}].schemes.{name}", "isn't defined in securitySchemes"


def unknown(written: Any, kept: Any, at: str = "") -> Iterator[Complaint]:
    """The members of a file that say something and aren't in the card that was made of it: misspelt ones."""
    if isinstance(written, dict) and isinstance(kept, dict):
        for name, value in written.items():
            place = f"{at}.{name}" if at else str(name)
            found = next((each for each in (name, camel(str(name))) if each in kept), None)
            if found is not None:
                yield from unknown(value, kept[found], place)
            elif value:
                yield place, "is no member of an Agent Card: is it misspelt?"
    elif isinstance(written, list) and isinstance(kept, list):
        for number, (value, member) in enumerate(zip(written, kept, strict=False)):
            yield from unknown(value, member, f"{at}[{number}]")
