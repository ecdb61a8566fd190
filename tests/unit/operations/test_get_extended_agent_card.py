"""GetExtendedAgentCard: the second card, and the right one of the errors without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from builders.api import CARD, ApiBench
from builders.turns import result_of
from fakes.card_key import FakeCardKey
from herald.bindings import card
from herald.bindings.cors import Cors
from herald.operations.call import Call
from herald.operations.get_extended_agent_card import GetExtendedAgentCard
from herald.protocol.card import AgentCard
from herald.protocol.errors import ExtendedAgentCardNotConfiguredError
from herald.protocol.requests import GetExtendedAgentCardRequest
from herald.records import Caller

BASE = "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/prod"
PUBLIC = "/.well-known/agent-card.json"
EXTENDED = """
description: Does more for those it knows.
skills:
  - {id: more, name: More, description: Another skill., tags: [test], inputModes: [text/csv]}
"""


@pytest.fixture
def api() -> ApiBench:
    return ApiBench(extended_text=EXTENDED)


def both(api: ApiBench, **event: Any) -> list[Any]:
    """The answers over JSON-RPC and HTTP+JSON: results, or codes and reasons."""
    told = api.rpc("GetExtendedAgentCard", {}, **event)
    answer = api.rest("GET", "/extendedAgentCard", **event)
    if "error" in told:
        return [(told["error"]["code"], told["error"]["data"][0]["reason"]), (answer.status, answer.reason)]
    return [told["result"], answer.body]


# ---- the answer ----


def test_e23_the_extended_card_is_the_public_one_and_what_the_second_file_says(api: ApiBench) -> None:
    public = api.rest("GET", PUBLIC).body

    for extended in both(api):
        assert AgentCard.parse(extended).wire() == extended
        assert extended["description"] == "Does more for those it knows."
        assert [skill["id"] for skill in extended["skills"]] == ["s", "more"]
        told = {"description", "skills"}
        assert {name: value for name, value in extended.items() if name not in told} == {
            name: value for name, value in public.items() if name not in told
        }


def test_the_public_card_declares_it_and_tells_nothing_of_it(api: ApiBench) -> None:
    public = api.rest("GET", PUBLIC)

    assert public.body["capabilities"]["extendedAgentCard"] is True
    assert [skill["id"] for skill in public.body["skills"]] == ["s"]
    assert public.body["supportedInterfaces"][0]["url"] == f"{BASE}/"


def test_the_extended_card_is_signed_too() -> None:
    api = ApiBench(extended_text=EXTENDED, card_signer=FakeCardKey())
    public = api.rest("GET", PUBLIC).body

    extended, _ = both(api)

    assert len(extended["signatures"]) >= 1
    assert extended["signatures"] != public["signatures"]


def test_every_caller_gets_the_same_one_and_an_open_api_gives_it_to_anybody(api: ApiBench) -> None:
    assert both(api, owner="alice") == both(api, owner="bob", tenant="acme")
    assert both(ApiBench(extended_text=EXTENDED, auth="none"), owner="")[0]["name"] == "test-agent"


def test_what_only_authenticated_callers_skills_take_is_taken_in_messages(api: ApiBench) -> None:
    assert api.written.input_modes == ("text/plain", "text/csv")


def test_a_client_may_keep_it_for_itself(api: ApiBench) -> None:
    answer = api.rest("GET", "/extendedAgentCard")

    assert answer.headers["cache-control"] == "private, max-age=300"
    assert answer.headers["vary"] == "authorization"


def test_it_is_kept_by_caller_also_where_answers_vary_by_site() -> None:
    api = ApiBench(extended_text=EXTENDED, cors=Cors.parse("https://app.example.com"))

    answer = api.rest("GET", "/extendedAgentCard")

    assert answer.headers["cache-control"] == "private, max-age=300"
    assert answer.headers["vary"] == "authorization, Origin"


# ---- the errors ----


def test_e23_an_agent_without_one_does_not_support_the_operation() -> None:
    assert both(ApiBench()) == [(-32004, "UNSUPPORTED_OPERATION"), (400, "UNSUPPORTED_OPERATION")]


def test_e23_one_that_is_declared_and_is_not_there_is_not_configured(api: ApiBench) -> None:
    api.operations = {
        **api.operations,
        "GetExtendedAgentCard": replace(
            api.operations["GetExtendedAgentCard"], run=GetExtendedAgentCard(declared=True, card=None)
        ),
    }

    assert both(api) == [
        (-32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
        (400, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
    ]
    with pytest.raises(ExtendedAgentCardNotConfiguredError):
        result_of(GetExtendedAgentCard(True, None)(Call(Caller("", "alice")), GetExtendedAgentCardRequest()))


@pytest.mark.parametrize("extended", ["", EXTENDED])
def test_e23_nobody_without_credentials_is_told_even_whether_there_is_one(extended: str) -> None:
    api = ApiBench(extended_text=extended)

    answer = api.rest("GET", "/extendedAgentCard", owner="")

    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


# ---- the file ----


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("capabilities: {streaming: true}", "capabilities: are the same for all callers: write them in card.yaml"),
        ("signatures: []", "signatures: is filled in by Herald"),
        ("supportedInterfaces: []", "supportedInterfaces: is filled in by Herald"),
        ("", "must be a mapping of what authenticated callers see"),
        ("name: ''", "name: must not be empty"),
        ("skills: [{id: a}]", r"skills\[0\].name: is required"),
        (
            "skills: [{id: a, name: A, description: A, tags: [a], inputModes: [csv]}]",
            r"skills\[0\].inputModes\[0\]: must be a media type",
        ),
        (
            "skills: [{id: a, name: A, description: A, tags: [a]}, {id: a, name: B, description: B, tags: [b]}]",
            r"skills\[1\].id: 'a' is the id of skills\[0\] already",
        ),
        ("securityRequirements: [{schemes: {key: {}}}]", "schemes.key: isn't defined in securitySchemes"),
        ("desciption: A", "desciption: is no member of an Agent Card"),
    ],
)
def test_e20_a_wrong_extended_card_is_refused_by_field(text: str, sentence: str) -> None:
    with pytest.raises(card.CardError, match=rf"^extended_card.yaml: .*{sentence}"):
        card.read(CARD, text, modified=0)


def test_e20_a_card_that_denies_the_extended_one_beside_it_is_refused() -> None:
    with pytest.raises(card.CardError, match="is false, but there is an extended_card"):
        card.read(CARD + "capabilities: {extendedAgentCard: false}", EXTENDED, modified=0)


def test_a_card_may_declare_the_extended_one_beside_it() -> None:
    assert card.read(CARD + "capabilities: {extendedAgentCard: true}", EXTENDED, modified=0).extended is not None


def test_a_skill_of_the_same_id_takes_the_place_of_the_public_one() -> None:
    again = "skills: [{id: s, name: Skill, description: More of it., tags: [test]}]"

    extended = card.read(CARD, again, modified=0).extended

    assert extended is not None
    assert [(skill["id"], skill["description"]) for skill in extended["skills"]] == [("s", "More of it.")]


def test_schemes_come_beside_the_public_ones() -> None:
    public = CARD + "securitySchemes: {a: {mtlsSecurityScheme: {}}}"

    extended = card.read(public, "securitySchemes: {b: {mtlsSecurityScheme: {}}}", modified=0).extended

    assert extended is not None
    assert set(extended["securitySchemes"]) == {"a", "b"}
