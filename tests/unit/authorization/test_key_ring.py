"""The issuer's keys: kept, asked for again when it is worth it, and never more often than twice a minute."""

from __future__ import annotations

import json
from typing import Any

import pytest

from builders.issuer import DISCOVERY_URL, ISSUER, JWKS_URL, FakeIssuerDocuments, Gate, claims, key, public, token
from fakes.clock import FakeClock
from herald.authorization.key_ring import KeyRing
from herald.ports import Unavailable

HOUR, DAY = 3_600, 86_400


@pytest.fixture
def gate() -> Gate:
    return Gate()


def lasting(**header: Any) -> str:
    """A token that is good for a week."""
    return token(claims(exp=1_767_225_600 + 7 * DAY), **header)


def reads(gate: Gate) -> int:
    return len(gate.issuer.read_urls)


def test_keys_are_asked_for_once(gate: Gate) -> None:
    assert reads(gate) == 0
    for _ in range(3):
        assert gate.refusal(lasting()) == ""

    assert gate.issuer.read_urls == [JWKS_URL]


def test_keys_are_asked_for_again_after_an_hour(gate: Gate) -> None:
    gate.refusal(lasting())
    gate.clock.advance(HOUR - 1)
    gate.refusal(lasting())
    assert reads(gate) == 1

    gate.clock.advance(1)
    gate.refusal(lasting())
    assert reads(gate) == 2


def test_a_withdrawn_key_is_forgotten_within_the_hour(gate: Gate) -> None:
    assert gate.refusal(lasting()) == ""
    gate.issuer.publish(public(key("P-256", "k2")))
    gate.clock.advance(HOUR)

    assert gate.refusal(lasting()) == "UNKNOWN_KEY"
    assert gate.refusal(lasting(by=key("P-256", "k2"))) == ""


def test_a_new_key_is_found_at_once(gate: Gate) -> None:
    gate.refusal(lasting())
    gate.issuer.publish(public(key()), public(key("P-256", "k2")))
    gate.clock.advance(30)

    assert gate.refusal(lasting(by=key("P-256", "k2"))) == ""
    assert gate.refusal(lasting()) == ""
    assert reads(gate) == 2


def test_made_up_key_names_ask_the_issuer_once_in_half_a_minute(gate: Gate) -> None:
    for number in range(100):
        assert gate.refusal(lasting(kid=f"made up {number}")) == "UNKNOWN_KEY"
    assert reads(gate) == 1

    gate.clock.advance(29)
    gate.refusal(lasting(kid="made up"))
    assert reads(gate) == 1

    gate.clock.advance(1)
    gate.refusal(lasting(kid="made up"))
    gate.refusal(lasting(kid="made up, too"))
    assert reads(gate) == 2


def test_keys_go_on_being_used_while_the_issuer_cannot_be_reached(gate: Gate) -> None:
    gate.refusal(lasting())
    gate.issuer.documents.clear()
    for _ in range(23):
        gate.clock.advance(HOUR)
        assert gate.refusal(lasting()) == ""

    gate.clock.advance(HOUR)
    with pytest.raises(Unavailable):
        gate.refusal(lasting())


def test_an_issuer_that_cannot_be_reached_makes_no_token_a_bad_one(gate: Gate) -> None:
    gate.issuer.documents.clear()
    for _ in range(3):
        with pytest.raises(Unavailable):
            gate.refusal(lasting())
    assert reads(gate) == 1

    gate.issuer.publish(public(key()))
    gate.clock.advance(30)
    assert gate.refusal(lasting()) == ""


def test_an_unknown_key_of_an_issuer_that_cannot_be_reached_may_be_a_new_one(gate: Gate) -> None:
    gate.refusal(lasting())
    gate.issuer.documents.clear()
    gate.clock.advance(30)

    for _ in range(2):
        with pytest.raises(Unavailable):
            gate.refusal(lasting(kid="k2"))
    assert gate.refusal(lasting()) == ""


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"keys":{}}',
        b'{"keys":[]}',
        b'{"keys":[5,null,"x",{}]}',
        b'{"keys":[],"keys":[]}',
        json.dumps({"keys": [public(key())] * 101}).encode(),
        json.dumps({"keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "k1"}]}).encode(),
        json.dumps({"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "k1"}]}).encode(),
        json.dumps({"keys": [public(key("RSA1024", "k1"))]}).encode(),
    ],
)
def test_a_document_without_a_key_that_verifies_replaces_nothing(gate: Gate, document: bytes) -> None:
    gate.refusal(lasting())
    gate.issuer.documents[JWKS_URL] = document
    gate.clock.advance(HOUR)

    assert gate.refusal(lasting()) == ""


def test_keys_that_cannot_be_read_do_not_spoil_the_others(gate: Gate) -> None:
    gate.issuer.publish(
        {"kty": "EC", "crv": "P-999", "kid": "a"},
        {"kty": "EC", "crv": "P-256", "x": 5, "y": 5, "kid": "b"},
        {"kty": ["EC"], "crv": {}, "kid": "c"},
        {**public(key("P-384", "d")), "alg": ["ES384"]},
        {**public(key()), "x5c": "not a list", "oth": 5},
    )

    assert gate.refusal(lasting()) == ""


# ---- discovery ----


def ring(discovery: object) -> tuple[KeyRing, FakeIssuerDocuments]:
    documents = FakeIssuerDocuments({DISCOVERY_URL: json.dumps(discovery).encode()})
    documents.publish(public(key()))
    return KeyRing(documents, ISSUER, "", FakeClock()), documents


def test_without_an_address_the_issuer_is_asked_where_its_keys_are() -> None:
    keys, documents = ring({"issuer": ISSUER, "jwks_uri": JWKS_URL})

    assert keys.find("k1", "ES256") is not None
    assert documents.read_urls == [DISCOVERY_URL, JWKS_URL]


@pytest.mark.parametrize(
    "discovery",
    [
        {"issuer": "https://other.example.com", "jwks_uri": JWKS_URL},
        {"jwks_uri": JWKS_URL},
        {"issuer": ISSUER},
        {"issuer": ISSUER, "jwks_uri": 5},
        [],
    ],
)
def test_a_discovery_document_that_is_not_this_issuers_tells_nothing(discovery: object) -> None:
    keys, documents = ring(discovery)

    with pytest.raises(Unavailable):
        keys.find("k1", "ES256")
    assert documents.read_urls == [DISCOVERY_URL]


def test_an_issuer_whose_name_ends_in_a_slash_is_asked_below_it_once() -> None:
    documents = FakeIssuerDocuments()
    with pytest.raises(Unavailable):
        KeyRing(documents, "https://tenant.auth0.example/", "", FakeClock()).find("k1", "ES256")

    assert documents.read_urls == ["https://tenant.auth0.example/.well-known/openid-configuration"]
