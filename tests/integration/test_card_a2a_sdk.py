"""The signed card before a2a-sdk's own verifier, which takes the key from the key set that the signature names.

Card and keys come from the functions' handlers, the key from KMS as moto plays it.
"""

from __future__ import annotations

import base64
import copy
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from a2a.types import AgentCard
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
from google.protobuf.json_format import ParseDict
from jwt.api_jwk import PyJWK
from moto import mock_aws

from builders.api import CARD
from builders.events import LambdaContext, rest_event, rpc_event
from builders.kms import digests_signed
from herald import bootstrap
from herald.entrypoints import api, publish_keys
from integration.pump import deployed

PATH = "/.well-known/agent-card.json"
PARAMS = "{n: 0, f: false, k: 1.0, big: 1.0e+21, s: ok, deep: [{a: é}]}"
EMPTY = "{n: 0, f: false, s: '', l: [], o: {}, nothing: null, k: [1, '']}"

Json = dict[str, Any]
Get = Callable[[str], Json]


@pytest.fixture
def get(tmp_path: Path) -> Iterator[Callable[..., Get]]:
    """``get(text, **variables)``: what is at an address of a deployment with this card."""
    with mock_aws(), digests_signed(), deployed({"HERALD_AUTH_MODE": "jwt"}):
        arn = boto3.client("kms").create_key(KeySpec="ECC_NIST_P256", KeyUsage="SIGN_VERIFY")["KeyMetadata"]["Arn"]

        def of(text: str, extended: str = "", **variables: str) -> Get:
            (tmp_path / "card.yaml").write_text(text)
            if extended:
                (tmp_path / "extended_card.yaml").write_text(extended)
            platform = bootstrap.Platform({**os.environ, "HERALD_CARD_KEY": arn, **variables})
            card_of = api.handler_for(platform, tmp_path / "card.yaml")
            keys_of = publish_keys.handler_for(bootstrap.publish_keys(platform))

            def get(address: str) -> Json:
                path = urlsplit(address).path.removeprefix("/prod")
                if path == "rpc":
                    answer = card_of(rpc_event("GetExtendedAgentCard", {}), LambdaContext())  # type: ignore[arg-type]
                    result: Json = json.loads(answer["body"])["result"]
                    return result
                handler = keys_of if path.endswith("jwks.json") else card_of
                answer = handler(rest_event("GET", path), LambdaContext())  # type: ignore[arg-type]
                assert answer["statusCode"] == 200, answer
                found: Json = json.loads(answer["body"])
                return found

            return get

        yield of


def verifier(get: Get) -> Callable[[Json], None]:
    """a2a-sdk's, with keys from the set at ``jku``."""

    def key(kid: str | None, jku: str | None) -> PyJWK:
        assert jku is not None
        [found] = [each for each in get(jku)["keys"] if each["kid"] == kid]
        assert (found["alg"], found["use"]) == ("ES256", "sig")
        return PyJWK.from_dict(found)

    verify = create_signature_verifier(key, ["ES256"])
    return lambda card: verify(ParseDict(card, AgentCard()))


OIDC = {"HERALD_OIDC_ISSUER": "https://issuer.example.com"}
SCOPED = {**OIDC, "HERALD_TOKEN_URL": "https://issuer.example.com/token", "HERALD_SCOPES": "herald/call"}


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        pytest.param(CARD, SCOPED, id="scoped"),
        pytest.param(CARD, OIDC, id="no scopes"),
        pytest.param(CARD, {"HERALD_AUTH_MODE": "iam"}, id="iam"),
        pytest.param(CARD, {"HERALD_AUTH_MODE": "none"}, id="open"),
        pytest.param(CARD + "capabilities: {pushNotifications: false}", SCOPED, id="no push"),
        pytest.param(CARD + "iconUrl: 'https://example.com/ü.svg'\ndocumentationUrl: ''", SCOPED, id="optional empty"),
        pytest.param(CARD + "securitySchemes: {c: {mtlsSecurityScheme: {}}}", SCOPED, id="empty scheme"),
        pytest.param(CARD + f"capabilities: {{extensions: [{{uri: 'urn:a', params: {PARAMS}}}]}}", SCOPED, id="params"),
        pytest.param(CARD + f"capabilities: {{extensions: [{{uri: 'urn:a', params: {EMPTY}}}]}}", SCOPED, id="empty"),
    ],
)
def test_a12_the_sdks_verifier_takes_every_card(get: Callable[..., Get], text: str, variables: dict[str, str]) -> None:
    at = get(text, **variables)

    verifier(at)(at(PATH))


def test_the_card_that_ships_is_verified(get: Callable[..., Get]) -> None:
    at = get((Path(__file__).parents[2] / "layers/agent/python/agent/card.yaml").read_text(), **SCOPED)

    verifier(at)(at(PATH))


def test_the_extended_card_is_verified_with_the_same_key(get: Callable[..., Get]) -> None:
    at = get(CARD, "skills: [{id: m, name: More, description: More., tags: [t]}]", HERALD_AUTH_MODE="none")
    card = at("rpc")

    assert [skill["id"] for skill in card["skills"]] == ["s", "m"]
    verifier(at)(card)


def test_any_change_breaks_the_signature(get: Callable[..., Get]) -> None:
    at = get(CARD + f"capabilities: {{extensions: [{{uri: 'urn:a', params: {PARAMS}}}]}}", **SCOPED)
    verify, card = verifier(at), at(PATH)
    assert len(card["signatures"]) == 1

    changes = list(changed({name: value for name, value in card.items() if name != "signatures"}))

    assert len(changes) > 100
    assert [place for place, change in changes if fits(verify, {**change, "signatures": card["signatures"]})] == []


def test_a_key_of_the_same_name_in_another_set_does_not_fit(get: Callable[..., Get]) -> None:
    card = get(CARD, **SCOPED)(PATH)
    another = boto3.client("kms").create_key(KeySpec="ECC_NIST_P256", KeyUsage="SIGN_VERIFY")["KeyMetadata"]["Arn"]
    keys = publish_keys.handler_for(
        bootstrap.publish_keys(bootstrap.Platform({**os.environ, "HERALD_CARD_KEY": another}))
    )

    def renamed(_: str) -> Json:
        found: Json = json.loads(keys(rest_event("GET", "/.well-known/jwks.json"), LambdaContext())["body"])  # type: ignore[arg-type]
        named = json.loads(_decoded(card["signatures"][0]["protected"]))["kid"]
        return {"keys": [{**key, "kid": named} for key in found["keys"] if key["kty"] == "EC"]}

    with pytest.raises(InvalidSignaturesError):
        verifier(renamed)(card)


def fits(verify: Callable[[Json], None], card: Json) -> bool:
    try:
        verify(card)
    except InvalidSignaturesError:
        return False
    return True


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def changed(card: Json) -> Iterator[tuple[str, Json]]:
    """The card with one value changed or taken out, for every value that it has."""
    for path in places(card):
        for replacement in (True, False):
            change = copy.deepcopy(card)
            parent = change
            for step in path[:-1]:
                parent = parent[step]
            value = parent[path[-1]]
            if replacement:
                parent[path[-1]] = other(value)
            else:
                del parent[path[-1]]
            yield ".".join(map(str, path)), change


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values that hold no others."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, (*at, name))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from places(member, (*at, number))
    else:
        yield at


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int | float) and value < 1e15 else f"{value}x"
