"""The card's signature: what is signed, by which name, and what becomes of a card whose key doesn't answer."""

from __future__ import annotations

import base64
import json
import logging
from typing import Any

import pytest

from builders.api import CARD, ApiBench
from fakes.card_key import FakeCardKey
from herald.bindings.card_signature import payloads
from herald.ports import Unavailable

BASE = "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/prod"
PATH = "/.well-known/agent-card.json"
SCOPED: dict[str, Any] = {"token_url": "https://login.example.com/token", "scopes": ("herald/call",)}


@pytest.fixture
def key() -> FakeCardKey:
    return FakeCardKey()


@pytest.fixture
def api(key: FakeCardKey) -> ApiBench:
    return ApiBench(card_signer=key, **SCOPED)


def decoded(text: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


# ---- what is signed ----


def test_the_specifications_example_of_canonical_form() -> None:
    """Section 8.4.1, after ProtoJSON has left out ``extensions``; REQUIRED members stay even when they are empty."""
    card = {
        "name": "Example Agent",
        "description": "",
        "capabilities": {"streaming": False, "pushNotifications": False},
        "skills": [],
        "signatures": [{"protected": "x", "signature": "y"}],
    }

    assert payloads(card)[0] == (
        b'{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent",'
        b'"skills":[]}'
    )


def test_keys_are_ordered_by_utf_16_and_text_is_not_escaped() -> None:
    card = {"z": 1, "\U0001f600": 2, "\ufb33": 3, "é": 'a"\\\n\u2028'}

    assert payloads(card) == ['{"z":1,"é":"a\\"\\\\\\n\u2028","\U0001f600":2,"\ufb33":3}'.encode()]


@pytest.mark.parametrize(
    ("params", "canonical"),
    [
        ({"n": 0, "f": False}, b'{"p":{"f":false,"n":0}}'),
        ({"n": 1.0, "m": 1e21, "k": 0.002, "l": -0.0}, b'{"p":{"k":0.002,"l":0,"m":1e+21,"n":1}}'),
    ],
)
def test_a12_zero_and_false_are_values(params: dict[str, Any], canonical: bytes) -> None:
    assert payloads({"p": params}) == [canonical]


def test_a12_where_verifiers_disagree_about_what_is_empty_both_forms_are_signed() -> None:
    card = {"p": {"n": 0, "s": "", "l": [], "o": {"x": None}, "k": [1, ""]}}

    assert payloads(card) == [
        b'{"p":{"k":[1,""],"l":[],"n":0,"o":{"x":null},"s":""}}',
        b'{"p":{"k":[1],"n":0}}',
    ]


# ---- the signature ----


def test_the_protected_header_names_algorithm_key_and_where_the_key_is(api: ApiBench, key: FakeCardKey) -> None:
    [signature] = api.rest("GET", PATH).body["signatures"]

    assert set(signature) == {"protected", "signature"}
    assert decoded(signature["protected"]) == {
        "alg": "ES256",
        "typ": "JOSE",
        "kid": key.kid,
        "jku": f"{BASE}/.well-known/jwks.json",
    }
    assert len(signature["signature"]) == 86  # 64 bytes


def test_a_card_with_empty_values_bears_two_signatures(key: FakeCardKey) -> None:
    text = CARD + "capabilities: {extensions: [{uri: 'urn:a', params: {s: ''}}]}"

    signatures = ApiBench(card_text=text, card_signer=key, **SCOPED).rest("GET", PATH).body["signatures"]

    assert len({each["signature"] for each in signatures}) == 2


def test_a_custom_domain_names_the_key_set_there(key: FakeCardKey) -> None:
    api = ApiBench(card_signer=key, public_url="https://agents.example.com", **SCOPED)

    card = api.rest("GET", PATH, headers={"Host": "evil.example.com"}).body

    assert decoded(card["signatures"][0]["protected"])["jku"] == "https://agents.example.com/.well-known/jwks.json"
    assert [each["url"] for each in card["supportedInterfaces"]] == [
        "https://agents.example.com/",
        "https://agents.example.com",
    ]


def test_a_card_is_signed_once_and_not_at_all_for_who_has_it(api: ApiBench, key: FakeCardKey) -> None:
    etag = api.cards.public.tag(BASE)
    assert api.rest("GET", PATH, headers={"If-None-Match": etag}).status == 304
    assert key.calls["sign"] == 0

    assert api.rest("GET", PATH).body == api.rest("GET", PATH).body
    assert key.calls["sign"] == 1


def test_two_processes_sign_differently_and_have_one_etag(key: FakeCardKey) -> None:
    one, other = (ApiBench(card_signer=key, **SCOPED).rest("GET", PATH) for _ in range(2))

    assert one.body["signatures"] != other.body["signatures"]
    assert one.headers == other.headers
    assert one.headers["etag"].startswith('W/"')


def test_the_etag_follows_the_key() -> None:
    one, other = (ApiBench(card_signer=FakeCardKey(kid)).rest("GET", PATH) for kid in ("a", "b"))

    assert one.headers["etag"] != other.headers["etag"]


# ---- a key that fails ----


@pytest.mark.parametrize("error", [Unavailable("Sign: TimeoutError"), LookupError("gone"), RuntimeError("s3cret")])
def test_a_card_whose_key_fails_is_served_unsigned_kept_by_no_cache_and_tried_again(
    api: ApiBench, key: FakeCardKey, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    key.fail_next("sign", error)

    with caplog.at_level(logging.ERROR):
        unsigned = api.rest("GET", PATH)
    signed = api.rest("GET", PATH)

    assert (unsigned.status, "signatures" in unsigned.body) == (200, False)
    assert unsigned.headers["cache-control"] == "no-store"
    assert {"etag", "last-modified"}.isdisjoint(unsigned.headers)
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert told == ["the card is served without its signature"]
    assert len(signed.body["signatures"]) == 1
    assert {**unsigned.body, "signatures": signed.body["signatures"]} == signed.body
    assert signed.headers["cache-control"] == "public, max-age=300"


def test_a_client_that_has_the_signed_card_keeps_it_while_the_key_fails(api: ApiBench, key: FakeCardKey) -> None:
    etag = api.rest("GET", PATH).headers["etag"]
    silent = ApiBench(card_signer=key, **SCOPED)
    key.fail_next("sign", Unavailable("Sign"))

    assert silent.rest("GET", PATH, headers={"If-None-Match": etag}).status == 304
