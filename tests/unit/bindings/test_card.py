"""The Agent Card: the adopter's file, and what a deployment makes of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from builders.api import CARD, ApiBench
from builders.events import rest_event
from herald.bindings import card
from herald.protocol.card import AgentCard

BASE = "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/prod"
PATH = "/.well-known/agent-card.json"


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


# ---- the file ----


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (CARD.replace("name: test-agent", ""), "card.yaml: name: is required"),
        (CARD.split("skills:")[0], "card.yaml: skills: is required"),
        (CARD.split("skills:")[0] + "skills: []", "card.yaml: skills: must not be empty"),
        (CARD.replace("tags: [test]", "tags: []"), r"card.yaml: skills\[0\].tags: must not be empty"),
        (CARD.replace("version: 1.2.3", "version: 1.2"), "card.yaml: version: must be a string"),
        (CARD + "supportedInterfaces: []", "supportedInterfaces: is filled in by Herald"),
        (CARD + "supported_interfaces: []", "supportedInterfaces: is filled in by Herald"),
        (CARD + "signatures: []", "signatures: is filled in by Herald"),
        (CARD + "capabilities: {streaming: true}", r"capabilities.streaming: isn't offered"),
        (CARD + "capabilities: {pushNotifications: maybe}", r"capabilities.pushNotifications: must be true or false"),
        (
            CARD + "capabilities: {extendedAgentCard: true}",
            r"capabilities.extendedAgentCard: there is no extended_card.yaml beside this file",
        ),
        (CARD + "capabilities: {extended_agent_card: true}", r"capabilities.extendedAgentCard: there is no"),
        (CARD + "capabilities: [streaming]", "capabilities: must be an object"),
        (
            CARD.replace("defaultInputModes: [text/plain]", "defaultInputModes: [text/plain, text]"),
            r"card.yaml: defaultInputModes\[1\]: must be a media type like text/plain, or a range",
        ),
        (
            CARD.replace("tags: [test]", "tags: [test], inputModes: ['*/png']"),
            r"skills\[0\].inputModes\[0\]: must be a",
        ),
        (
            CARD + "capabilities: {extensions: [{uri: 'urn:a'}, {uri: 'urn:a,b'}]}",
            r"capabilities.extensions\[1\].uri: must be a URI in ASCII, without spaces and commas",
        ),
        (CARD + "capabilities: {extensions: [{required: true}]}", r"capabilities.extensions\[0\].uri: must be a URI"),
        (
            CARD + "capabilities: {extensions: [{uri: 'urn:a'}, {uri: 'urn:a'}]}",
            r"capabilities.extensions\[1\].uri: 'urn:a' is the uri of capabilities.extensions\[0\] already",
        ),
        (
            CARD + "capabilities: {extensions: [{uri: 'urn:herald:extensions:signed-push:v1'}]}",
            r"capabilities.extensions\[0\].uri: is announced by Herald",
        ),
        (
            CARD + "capabilities: {extensions: [{uri: 'urn:a', params: {a: [{n: 9007199254740992}]}}]}",
            r"capabilities.extensions\[0\].params.a\[0\].n: is an integer beyond 2\^53",
        ),
        (
            CARD + "  - {id: s, name: B, description: B, tags: [b]}",
            r"skills\[1\].id: 's' is the id of skills\[0\] already",
        ),
        (
            CARD.replace("tags: [test]", "tags: [test], outputModes: [json]"),
            r"skills\[0\].outputModes\[0\]: must be a media type",
        ),
        (
            CARD.replace("defaultOutputModes: [text/plain]", "defaultOutputModes: [png]"),
            r"defaultOutputModes\[0\]: must be",
        ),
        (
            CARD + "securityRequirements: [{schemes: {key: {}}}]",
            r"securityRequirements\[0\].schemes.key: isn't defined in securitySchemes",
        ),
        (
            CARD.replace("tags: [test]", "tags: [test], securityRequirements: [{schemes: {key: {}}}]"),
            r"skills\[0\].securityRequirements\[0\].schemes.key: isn't defined in securitySchemes",
        ),
        (
            CARD + "securitySchemes: {awsSigV4: {mtlsSecurityScheme: {}}}",
            "securitySchemes.awsSigV4: is filled in by Herald",
        ),
        (
            CARD + "securitySchemes: {jwt: {mtlsSecurityScheme: {}}}",
            "securitySchemes.jwt: says how callers get an access token, so it must be one of oauth2SecurityScheme",
        ),
        (CARD + "securitySchemes: {key: {}}", "securitySchemes.key: must have exactly one of apiKeySecurityScheme"),
        (CARD + "provider: {organization: O, url: example.com}", "provider.url: 'example.com' must be an absolute URL"),
        (CARD + "iconUrl: icon.svg", "iconUrl: 'icon.svg' must be an absolute URL"),
        (CARD + "documentationURL: https://example.com", "documentationURL: is no member of an Agent Card"),
        (
            CARD.replace("tags: [test]", "tags: [test], exmaples: [a]"),
            r"skills\[0\].exmaples: is no member of an Agent Card",
        ),
        (CARD + "capabilities: {streams: true}", "capabilities.streams: is no member of an Agent Card"),
        ("- a\n- b\n", "must be a mapping"),
        ("", "must be a mapping"),
        ("name: [", "isn't valid YAML"),
        ("name: !!python/object/apply:os.system [ls]", "isn't valid YAML"),
    ],
)
def test_e20_a_wrong_card_is_refused_by_field(text: str, sentence: str) -> None:
    with pytest.raises(card.CardError, match=sentence):
        card.parse(text)


def test_e20_everything_that_is_wrong_is_said_at_once() -> None:
    text = CARD.replace("[text/plain]", "[text]") + "iconUrl: icon.svg"

    with pytest.raises(card.CardError) as caught:
        card.parse(text)

    assert str(caught.value) == (
        "card.yaml: defaultInputModes[0]: must be a media type like text/plain, or a range like image/* or */*; "
        "defaultOutputModes[0]: must be a media type like text/plain, or a range like image/* or */*; "
        "iconUrl: 'icon.svg' must be an absolute URL"
    )


def test_a_card_may_say_what_is_so_anyway_and_leave_members_empty() -> None:
    text = (
        CARD + "capabilities: {streaming: false, extendedAgentCard: false}\nprovider:\nsecuritySchemes: {}\nextra: ''"
    )

    assert card.parse(text)["capabilities"] == {"streaming": False, "extendedAgentCard": False}


def test_members_may_have_the_protos_names() -> None:
    text = CARD.replace("defaultInputModes", "default_input_modes").replace("tags:", "input_modes: [text/csv], tags:")

    parsed = card.parse(text)

    assert parsed["defaultInputModes"] == ["text/plain"]
    assert parsed["skills"][0]["inputModes"] == ["text/csv"]


def test_a_card_is_found_beside_the_agent_package_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "agent"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('heavy')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "agent", raising=False)
    with pytest.raises(card.CardError, match=r"no agent/card\.yaml"):
        card.find()

    (package / "card.yaml").write_text(CARD)

    assert card.load(card.find()).card["name"] == "test-agent"


def test_the_cards_of_the_agents_page_are_valid() -> None:
    page = (Path(__file__).parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")
    public, extended = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)

    written = card.read(public, extended, modified=0)

    assert written.extended is not None
    assert [skill["id"] for skill in written.extended["skills"]] == ["greet", "greet-in-person"]


def test_the_card_that_ships_is_valid() -> None:
    assert card.load(card.find()).card["skills"]


# ---- as served ----


def test_e19_the_card_names_both_bindings_at_the_apis_address_and_what_is_deployed(api: ApiBench) -> None:
    served = api.rest("GET", PATH, owner="", headers={"A2A-Version": "", "Host": "evil.example.com"}).body

    assert served["supportedInterfaces"] == [
        {"url": f"{BASE}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": BASE, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
    ]
    capabilities = served["capabilities"]
    assert (capabilities["streaming"], capabilities["pushNotifications"], capabilities["extendedAgentCard"]) == (
        False,
        True,
        False,
    )
    assert AgentCard.parse(served).wire() == served


@pytest.mark.parametrize(
    "event",
    [
        pytest.param({}, id="below the stage"),
        pytest.param({"domain": "agents.example.com"}, id="at a custom domain's root"),
        pytest.param({"domain": "agents.example.com", "base_path": "/v1"}, id="below a base path"),
    ],
)
@pytest.mark.parametrize("public_url", ["", "https://agents.example.com"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_e19_the_card_is_the_same_wherever_it_is_asked_for(method: str, public_url: str, event: dict[str, str]) -> None:
    api = ApiBench(public_url=public_url)
    base = public_url or BASE

    answer = api.rest(method, PATH, owner="", headers={"X-Forwarded-Host": "evil.example.com"}, **event)

    assert (answer.status, answer.headers["etag"]) == (200, api.cards.public.tag(base))
    if method == "GET":
        assert [each["url"] for each in answer.body["supportedInterfaces"]] == [f"{base}/", base]


def test_the_card_announces_how_notifications_are_signed_and_repeated(api: ApiBench) -> None:
    [extension] = api.rest("GET", PATH).body["capabilities"]["extensions"]

    assert extension["uri"] == "urn:herald:extensions:signed-push:v1"
    assert extension.get("required", False) is False
    params = extension["params"]
    assert params["jwksUrl"] == f"{BASE}/.well-known/jwks.json"
    assert params["headers"]["signature"] == "webhook-signature"
    assert set(params["algorithms"]) == {"v1a", "v1"}
    assert params["timeoutSeconds"] == 15
    assert params["retryAfterSeconds"] == [5, 30, 120, 600, 1800, 7200, 18000, 36000, 36000, 36000, 36000]


def test_the_card_announces_the_token_where_receivers_get_one_and_only_there() -> None:
    [extension] = ApiBench(webhook_tokens=True).rest("GET", PATH).body["capabilities"]["extensions"]

    params = extension["params"]
    assert params["algorithms"]["jwt"] == (
        "RS256, public key at jwksUrl, where the authentication is Bearer without credentials"
    )
    assert params["jwt"] == {
        "issuer": BASE,
        "claims": ["iat", "exp", "iss", "jti", "taskId", "request_body_sha256"],
    }
    [without] = ApiBench().rest("GET", PATH).body["capabilities"]["extensions"]
    assert "jwt" not in without["params"] | without["params"]["algorithms"]


def test_a_card_that_turns_push_off_says_so_and_announces_nothing() -> None:
    api = ApiBench(card_text=CARD + "capabilities: {pushNotifications: false}")

    assert api.rest("GET", PATH).body["capabilities"] == {
        "streaming": False,
        "pushNotifications": False,
        "extendedAgentCard": False,
    }


def test_the_adopters_members_are_kept() -> None:
    text = CARD + 'iconUrl: "https://example.com/i.svg"\ncapabilities: {extensions: [{uri: "https://example.com/x"}]}'

    served = ApiBench(card_text=text).rest("GET", PATH).body

    assert served["iconUrl"] == "https://example.com/i.svg"
    assert [each["uri"] for each in served["capabilities"]["extensions"]] == [
        "https://example.com/x",
        "urn:herald:extensions:signed-push:v1",
    ]


# ---- caches ----


def test_the_card_is_cacheable(api: ApiBench) -> None:
    headers = api.rest("GET", PATH).headers

    assert headers["content-type"] == "application/json"
    assert headers["cache-control"] == "public, max-age=300"
    assert headers["last-modified"] == "Thu, 01 Jan 2026 00:00:00 GMT"
    assert headers["etag"] == api.rest("GET", PATH).headers["etag"]


def test_the_etag_follows_the_content(api: ApiBench) -> None:
    other = ApiBench(card_text=CARD.replace("1.2.3", "1.2.4"))

    assert api.rest("GET", PATH).headers["etag"] != other.rest("GET", PATH).headers["etag"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If-None-Match": "{etag}"}, 304),
        ({"If-None-Match": '{opaque}, "x"'}, 304),
        ({"If-None-Match": "*"}, 304),
        ({"If-None-Match": '"x"'}, 200),
        ({"If-None-Match": '"x"', "If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT"}, 200),
        ({"If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT"}, 304),
        ({"If-Modified-Since": "Wed, 31 Dec 2025 23:59:59 GMT"}, 200),
        ({"If-Modified-Since": "rubbish"}, 200),
    ],
)
def test_a_client_that_has_the_card_is_told_so(api: ApiBench, headers: dict[str, str], status: int) -> None:
    etag = api.rest("GET", PATH).headers["etag"]

    opaque = etag.removeprefix("W/")

    told = {name: text.replace("{etag}", etag).replace("{opaque}", opaque) for name, text in headers.items()}
    answer = api.rest("GET", PATH, headers=told)

    assert answer.status == status
    assert (answer.body is None) is (status == 304)
    assert answer.headers["etag"] == etag


def test_head_is_get_without_the_body(api: ApiBench) -> None:
    get = api.http(rest_event("GET", PATH))
    head = api.http(rest_event("HEAD", PATH))

    assert head["statusCode"] == 200
    assert head["body"] == ""
    assert head["headers"] == {**get["headers"], "content-length": str(len(get["body"].encode()))}


def test_another_verb_is_refused(api: ApiBench) -> None:
    answer = api.rest("POST", PATH, {})

    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_the_card_is_json_text_not_base64(api: ApiBench) -> None:
    answer = api.http(rest_event("GET", PATH))

    assert answer["isBase64Encoded"] is False
    assert json.loads(answer["body"])["name"] == "test-agent"


def test_what_a_message_may_hold_is_what_the_card_and_its_skills_take() -> None:
    text = CARD.replace("[text/plain]", "[Text/Plain, application/json; charset=utf-8]", 1).replace(
        "tags: [test]", "tags: [test], inputModes: [image/*, text/plain]"
    )

    written = card.WrittenCard(card.parse(text), modified=0)

    assert written.input_modes == ("text/plain", "application/json", "image/*")


@pytest.mark.parametrize(
    ("more", "extensions"),
    [
        ("", ("urn:herald:extensions:signed-push:v1",)),
        (
            "capabilities: {extensions: [{uri: 'urn:b', required: true}, {uri: 'urn:a'}]}",
            ("urn:b", "urn:a", "urn:herald:extensions:signed-push:v1"),
        ),
        ("capabilities: {pushNotifications: false, extensions: [{uri: 'urn:a'}]}", ("urn:a",)),
    ],
)
def test_the_extensions_that_clients_may_ask_for_are_those_of_the_served_card(
    more: str, extensions: tuple[str, ...]
) -> None:
    written = card.WrittenCard(card.parse(CARD + more), modified=0)
    served = ApiBench(card_text=CARD + more).rest("GET", PATH).body["capabilities"].get("extensions", [])

    assert written.extensions == extensions == tuple(each["uri"] for each in served)
