"""What the deployed stack shows to everybody: the Agent Card and its public keys."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from a2a.types import AgentCard
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
from google.protobuf.json_format import ParseDict
from jwt.api_jwk import PyJWK

from e2e.client import Client, message


def get(url: str) -> tuple[httpx.Response, Any]:
    answer = httpx.get(url, timeout=60, trust_env=False)
    return answer, answer.json()


def test_the_card_names_both_bindings_at_the_address_that_answers(addresses: Mapping[str, str]) -> None:
    answer, card = get(addresses["cardUrl"])

    assert answer.status_code == 200
    assert card["name"] == "financial-analysis"
    told = [(each["protocolBinding"], each["url"], each["protocolVersion"]) for each in card["supportedInterfaces"]]
    assert told == [("JSONRPC", f"{addresses['baseUrl']}/", "1.0"), ("HTTP+JSON", addresses["baseUrl"], "1.0")]
    assert card["capabilities"]["pushNotifications"] is True
    assert addresses["jwksUrl"] in str(card["capabilities"]["extensions"])


def test_the_openapi_document_is_there_for_everybody_and_says_how_to_come_in(addresses: Mapping[str, str]) -> None:
    answer, document = get(addresses["baseUrl"] + "/openapi.json")
    _, card = get(addresses["cardUrl"])

    assert answer.status_code == 200
    assert document["servers"] == [{"url": addresses["baseUrl"]}]
    assert set(document["components"]["securitySchemes"]) == set(card["securitySchemes"])
    assert document["security"] == [{"jwt": card["securityRequirements"][0]["schemes"]["jwt"].get("list", [])}]


def test_the_published_keys_of_notifications_are_ed25519_and_a_tenant_s_are_others_but_for_that_of_tokens(
    addresses: Mapping[str, str],
) -> None:
    answer, keys = get(addresses["jwksUrl"])
    _, tenants = get(addresses["baseUrl"] + "/some-tenant/.well-known/jwks.json")

    assert answer.status_code == 200
    *notifications, of_tokens, of_card = keys["keys"]
    *tenants_own, of_tenants_tokens = tenants["keys"]
    assert (of_card["kty"], of_card["crv"], of_card["alg"], of_card["use"]) == ("EC", "P-256", "ES256", "sig")
    assert (of_tokens["kty"], of_tokens["alg"], of_tokens["use"], of_tokens["e"]) == ("RSA", "RS256", "sig", "AQAB")
    assert of_tenants_tokens == of_tokens
    for key in (*notifications, *tenants_own):
        assert (key["kty"], key["crv"], key["alg"], key["use"]) == ("OKP", "Ed25519", "EdDSA", "sig")
        assert len(base64.urlsafe_b64decode(key["x"] + "=")) == 32
        assert "d" not in key
    assert {key["x"] for key in notifications}.isdisjoint({key["x"] for key in tenants_own})


def test_the_card_is_signed_with_the_key_that_the_deployment_publishes(addresses: Mapping[str, str]) -> None:
    answer, card = get(addresses["cardUrl"])

    def key(kid: str | None, jku: str | None) -> PyJWK:
        assert jku == addresses["jwksUrl"]
        [found] = [each for each in get(jku)[1]["keys"] if each["kid"] == kid]
        return PyJWK.from_dict(found)

    verify = create_signature_verifier(key, ["ES256"])
    verify(ParseDict(card, AgentCard()))
    with pytest.raises(InvalidSignaturesError):
        verify(ParseDict({**card, "name": "another"}, AgentCard()))
    known = httpx.get(
        addresses["cardUrl"], headers={"If-None-Match": answer.headers["etag"]}, timeout=60, trust_env=False
    )
    assert known.status_code == 304


def test_a_task_that_does_not_exist_is_told_so_in_the_protocol_s_shape(client: Client) -> None:
    status, error = client.refused("GET", "/tasks/there-is-none")

    assert (status, error["status"]) == (404, "NOT_FOUND")
    assert error["details"][0]["reason"] == "TASK_NOT_FOUND"


def test_an_operation_that_is_not_offered_is_told_so_in_the_protocol_s_shape(client: Client) -> None:
    status, error = client.refused("POST", "/message:stream", {"message": message({"text": "hi"})})

    assert error["details"][0]["reason"] == "UNSUPPORTED_OPERATION"
    assert status == 400


def test_callers_get_the_extended_card(addresses: Mapping[str, str], client: Client) -> None:
    _, public = get(addresses["cardUrl"])

    extended = client.call("GET", "/extendedAgentCard")

    more = {skill["id"] for skill in extended["skills"]} - {skill["id"] for skill in public["skills"]}
    assert more == {"follow-a-script"}
    assert public["capabilities"]["extendedAgentCard"] is True
