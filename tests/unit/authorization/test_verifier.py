"""What a token must be: each check has a token that only this check refuses."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from joserfc.jwk import OctKey, RSAKey

from builders.issuer import AUDIENCE, ISSUER, NOW, Gate, assembled, claims, key, public, token
from herald.authorization.claims import Expected, Identity
from herald.authorization.refusal import Reason, Refused

POOL = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Pool"


@pytest.fixture
def gate() -> Gate:
    return Gate()


def test_a_good_token_is_of_its_issuers_subject(gate: Gate) -> None:
    identity = gate.verifier.identify(f"Bearer {token(claims(tenant='acme'))}")

    assert identity == Identity(f"{ISSUER}#alice", "acme", (), NOW + 3660)


# ---- the header of the request ----


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
def test_the_scheme_is_bearer_however_it_is_written(gate: Gate, scheme: str) -> None:
    assert gate.verifier.identify(f"{scheme} {token()}").owner == f"{ISSUER}#alice"


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "{}", "Basic {}", "Bearer {} x", "Bearer {}, Bearer {}"])
def test_any_other_header_is_malformed(gate: Gate, header: str) -> None:
    with pytest.raises(Refused) as refused:
        gate.verifier.identify(header.replace("{}", token()))

    assert refused.value.reason is Reason.MALFORMED


# ---- form ----

HEADER = json.dumps({"alg": "ES256", "kid": "k1"}).encode()
BODY = json.dumps(claims()).encode()


@pytest.mark.parametrize(
    "text",
    [
        "a.b",
        "a.b.c",
        "a..c",
        "....",
        token() + ".e.f",
        token() + "=",
        token()[:-1] + "+",
        token().replace(".", ". "),
        assembled(b"{", BODY),
        assembled(b"[]", BODY),
        assembled(b"\xff", BODY),
        assembled(b"[" * 3_000, BODY),
        assembled(b'{"alg":"ES256","kid":5}', BODY),
        assembled(b'{"alg":"ES256","kid":"k1","kid":"k1"}', BODY),
        assembled(b'{"alg":"ES256","kid":"k1","n":NaN}', BODY),
        assembled(b'{"alg":"ES256","kid":"k1","n":' + b"9" * 5_000 + b"}", BODY),
    ],
)
def test_what_is_no_jwt_is_malformed(gate: Gate, text: str) -> None:
    assert gate.refusal(text) == "MALFORMED"
    assert gate.issuer.read_urls == []


def test_a_token_has_a_greatest_length(gate: Gate) -> None:
    assert gate.refusal(token(claims(padding="x" * 5_000))) == ""
    assert gate.refusal(token(claims(padding="x" * 6_000))) == "MALFORMED"


def test_another_spelling_of_the_same_bytes_is_another_token() -> None:
    """The last character of a 64-byte signature holds four bits that say nothing."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    text = token()
    twin = text[:-1] + alphabet[alphabet.index(text[-1]) + 1]

    assert urlsafe_b64decode(twin.split(".")[2] + "==") == urlsafe_b64decode(text.split(".")[2] + "==")
    assert Gate().refusal(twin) == "MALFORMED"


@pytest.mark.parametrize("payload", [b"", b"alice", b"[]", b'"a"', b"\xff", b"[" * 3_000, b'{"sub":1e999999x}'])
def test_signed_claims_that_are_no_object_are_malformed(gate: Gate, payload: bytes) -> None:
    assert gate.refusal(token(payload)) == "MALFORMED"


@pytest.mark.parametrize("name", ["iss", "sub", "aud", "exp", "tenant", "other"])
def test_a_claim_that_comes_twice_is_malformed(gate: Gate, name: str) -> None:
    said = json.dumps(claims(tenant="acme", other=1))
    twice = said[:-1] + f', "{name}": {json.dumps(claims(tenant="acme", other=1)[name])}}}'

    assert gate.refusal(token(said.encode())) == ""
    assert gate.refusal(token(twice.encode())) == "MALFORMED"


@pytest.mark.parametrize(
    "header", [{"crit": ["exp"], "exp": NOW}, {"crit": []}, {"crit": ["b64"], "b64": False}, {"cty": "JWT"}]
)
def test_what_a_header_calls_critical_is_not_understood(gate: Gate, header: dict[str, Any]) -> None:
    good = assembled(json.dumps({"alg": "ES256", "kid": "k1", **header}).encode(), BODY)

    assert gate.refusal(good) == "MALFORMED"


@pytest.mark.parametrize("kind", ["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", None])
def test_these_types_are_access_tokens(gate: Gate, kind: str | None) -> None:
    assert gate.refusal(token(typ=kind)) == ""


@pytest.mark.parametrize("kind", ["logout+jwt", "secevent+jwt", "dpop+jwt", "JWE", "", 5])
def test_other_types_are_not(gate: Gate, kind: object) -> None:
    made = assembled(json.dumps({"alg": "ES256", "kid": "k1", "typ": kind}).encode(), BODY)

    assert gate.refusal(made) == "TYPE"


# ---- algorithm and key ----


@pytest.mark.parametrize(
    ("kind", "algorithm"),
    [
        ("RSA", "RS256"), ("RSA", "RS384"), ("RSA", "RS512"), ("RSA", "PS256"), ("RSA", "PS384"), ("RSA", "PS512"),
        ("P-256", "ES256"), ("P-384", "ES384"), ("P-521", "ES512"), ("Ed25519", "EdDSA"), ("Ed25519", "Ed25519"),
    ],
)  # fmt: skip
def test_signatures_by_a_private_key_are_taken(gate: Gate, kind: str, algorithm: str) -> None:
    private = key(kind, f"{kind}-key")
    gate.issuer.publish(public(key()), public(private))
    made = token(by=private, alg=algorithm)

    assert gate.refusal(made) == ""


def test_alg_none_is_not_taken_signed_or_not(gate: Gate) -> None:
    for name in ("none", "None", "NONE", "nOnE", ""):
        header = json.dumps({"alg": name, "kid": "k1"}).encode()
        assert gate.refusal(assembled(header, BODY)) == "ALGORITHM"
        assert gate.refusal(assembled(header, BODY, b"")) == "MALFORMED"
    assert gate.refusal(assembled(b'{"kid":"k1"}', BODY)) == "ALGORITHM"
    assert gate.refusal(assembled(b'{"alg":["ES256"],"kid":"k1"}', BODY)) == "ALGORITHM"


@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
def test_a_public_key_is_no_shared_secret(gate: Gate, algorithm: str) -> None:
    published = key("RSA", "rsa")
    assert isinstance(published, RSAKey)
    gate.issuer.publish(public(published))
    bits = algorithm.removeprefix("HS")
    for secret in (published.as_pem(private=False), json.dumps(public(published)).encode()):
        unsigned = assembled(json.dumps({"alg": algorithm, "kid": "rsa"}).encode(), BODY).rpartition(".")[0]
        signature = urlsafe_b64encode(hmac.digest(secret, unsigned.encode(), f"sha{bits}")).rstrip(b"=").decode()

        assert gate.refusal(f"{unsigned}.{signature}") == "ALGORITHM"


def test_a_shared_secret_that_an_issuer_publishes_is_no_key(gate: Gate) -> None:
    secret = OctKey.generate_key(256, {"kid": "shared"})
    gate.issuer.publish(public(key()), {**secret.as_dict(private=True), "alg": "HS256"})

    assert gate.refusal(token(by=secret, alg="HS256")) == "ALGORITHM"


@pytest.mark.parametrize("algorithm", ["ES256K", "Ed448", "RSA1_5", "dir", "ES257", "es256"])
def test_no_other_algorithm_is_taken(gate: Gate, algorithm: str) -> None:
    made = assembled(json.dumps({"alg": algorithm, "kid": "k1"}).encode(), BODY)

    assert gate.refusal(made) == "ALGORITHM"


def test_another_keys_signature_is_refused(gate: Gate) -> None:
    assert gate.refusal(token(by=key("P-256", "theirs"), kid="k1")) == "SIGNATURE"


def test_what_was_signed_is_what_is_read(gate: Gate) -> None:
    header, _, signature = token().split(".")
    payload = urlsafe_b64encode(json.dumps(claims(sub="bob")).encode()).rstrip(b"=").decode()

    assert gate.refusal(f"{header}.{payload}.{signature}") == "SIGNATURE"


def test_an_algorithm_of_another_kind_of_key_finds_no_key(gate: Gate) -> None:
    gate.issuer.publish(public(key("RSA", "k1")))

    assert gate.refusal(token()) == "UNKNOWN_KEY"


def test_a_key_verifies_the_algorithm_that_it_names_and_no_other(gate: Gate) -> None:
    private = key("RSA", "rsa")
    gate.issuer.publish(public(private, alg="RS256"))

    assert gate.refusal(token(by=private, alg="RS256")) == ""
    assert gate.refusal(token(by=private, alg="PS256")) == "UNKNOWN_KEY"


@pytest.mark.parametrize("members", [{"use": "enc"}, {"key_ops": ["sign"]}, {"key_ops": "verify"}, {"kid": 5}])
def test_a_key_for_something_else_verifies_nothing(gate: Gate, members: dict[str, Any]) -> None:
    gate.issuer.publish(public(key("P-256", "other")), public(key(), **members))

    assert gate.refusal(token()) == "UNKNOWN_KEY"


def test_a_token_brings_no_key_along(gate: Gate) -> None:
    mine = key("P-256", "mine")
    headers: list[dict[str, Any]] = [
        {"jwk": public(mine)},
        {"jku": "https://evil.example/keys"},
        {"x5u": "https://evil.example/crt"},
    ]
    for header in headers:
        assert gate.refusal(token(by=mine, **header)) == "UNKNOWN_KEY"
        assert gate.refusal(token(by=mine, **{**header, "kid": "k1"})) == "SIGNATURE"
    assert not [url for url in gate.issuer.read_urls if "evil" in url]


def test_a_token_that_names_no_key_is_of_the_only_one(gate: Gate) -> None:
    assert gate.refusal(token(kid=None)) == ""

    gate.issuer.publish(public(key()), public(key("P-256", "k2")))
    gate.clock.advance(3_600)
    assert gate.refusal(token(claims(exp=NOW + 9_000), kid=None)) == "UNKNOWN_KEY"


# ---- claims ----


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"iss": None}, "ISSUER"),
        ({"iss": ISSUER + "/"}, "ISSUER"),
        ({"iss": ISSUER.upper()}, "ISSUER"),
        ({"iss": [ISSUER]}, "ISSUER"),
        ({"aud": None}, "AUDIENCE"),
        ({"aud": "https://others.example.com"}, "AUDIENCE"),
        ({"aud": []}, "AUDIENCE"),
        ({"aud": ["https://others.example.com", 5]}, "AUDIENCE"),
        ({"aud": {AUDIENCE: True}}, "AUDIENCE"),
        ({"aud": None, "client_id": AUDIENCE}, "AUDIENCE"),
        ({"exp": None}, "MALFORMED"),
        ({"exp": "9999999999"}, "MALFORMED"),
        ({"exp": True}, "MALFORMED"),
        ({"exp": 1e300}, "MALFORMED"),
        ({"exp": -1}, "MALFORMED"),
        ({"exp": NOW - 60}, "EXPIRED"),
        ({"nbf": NOW + 61}, "NOT_YET_VALID"),
        ({"nbf": "soon"}, "MALFORMED"),
        ({"iat": NOW + 61}, "NOT_YET_VALID"),
        ({"iat": "now"}, "MALFORMED"),
        ({"token_use": "id"}, "TYPE"),
        ({"token_use": None, "sub": None}, "SUBJECT"),
        ({"sub": ""}, "SUBJECT"),
        ({"sub": 5}, "SUBJECT"),
        ({"sub": "x" * 256}, "SUBJECT"),
        ({"sub": "älice"}, "SUBJECT"),
        ({"sub": "a\nb"}, "SUBJECT"),
        ({"tenant": ""}, "TENANT"),
        ({"tenant": 5}, "TENANT"),
        ({"tenant": ["acme"]}, "TENANT"),
        ({"tenant": "a/b"}, "TENANT"),
        ({"tenant": "x" * 65}, "TENANT"),
    ],
)
def test_a_claim_that_is_not_as_it_must_be(gate: Gate, changed: dict[str, Any], reason: str) -> None:
    assert gate.refusal(token(claims(**changed))) == reason


@pytest.mark.parametrize(
    "changed",
    [
        {"aud": [AUDIENCE]},
        {"aud": ["https://others.example.com", AUDIENCE]},
        {"exp": NOW - 59},
        {"exp": NOW + 0.5},
        {"nbf": NOW + 60},
        {"nbf": NOW - 9_999_999},
        {"iat": NOW + 60},
        {"iat": None},
        {"token_use": "access"},
        {"sub": "a" * 255},
        {"sub": "auth0|5f7c"},
        {"tenant": "a"},
    ],
)
def test_what_is_within_bounds_is_taken(gate: Gate, changed: dict[str, Any]) -> None:
    assert gate.refusal(token(claims(**changed))) == ""


def test_no_claim_is_believed_before_the_signature() -> None:
    gate = Gate()
    for changed in ({"iss": "x"}, {"aud": "x"}, {"exp": 0}, {"sub": ""}):
        assert gate.refusal(token(claims(**changed), by=key("P-256", "theirs"), kid="k1")) == "SIGNATURE"


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ({"scope": "herald/call"}, ()),
        ({"scope": "openid herald/call other"}, ()),
        ({"scope": None, "scp": "herald/call"}, ()),
        ({"scope": None, "scp": ["other", "herald/call"]}, ()),
        ({"scope": None}, ("herald/call",)),
        ({"scope": ""}, ("herald/call",)),
        ({"scope": "herald/calls xherald/call HERALD/CALL"}, ("herald/call",)),
        ({"scope": 5, "scp": {"herald/call": 1}}, ("herald/call",)),
    ],
)
def test_a_token_that_lacks_a_scope_is_one_and_says_which(
    gate: Gate, said: dict[str, Any], missing: tuple[str, ...]
) -> None:
    assert gate.verifier.identify(f"Bearer {token(claims(**said))}").missing == missing


def test_where_there_are_no_tenants_the_claim_says_nothing() -> None:
    gate = Gate(Expected(ISSUER, frozenset({AUDIENCE})))

    assert gate.verifier.identify(f"Bearer {token(claims(tenant=5))}").tenant == ""


def test_a_claim_that_is_absent_is_no_tenant(gate: Gate) -> None:
    assert gate.verifier.identify(f"Bearer {token()}").tenant == ""


# ---- Cognito ----


def cognito(**members: Any) -> str:
    """An access token of a user pool by client credentials: no aud, the client is its subject."""
    said = {"iss": POOL, "aud": None, "sub": "client-1", "client_id": "client-1", "token_use": "access"}
    return token(claims(**{**said, **members}))


@pytest.mark.parametrize(
    ("audiences", "members", "reason"),
    [
        ((), {}, ""),
        (("client-0", "client-1"), {}, ""),
        (("client-0",), {}, "AUDIENCE"),
        (("client-1",), {"token_use": "id", "aud": "client-1"}, "TYPE"),
        (("client-1",), {"token_use": None}, "AUDIENCE"),
        (("client-1",), {"client_id": ["client-1"]}, "AUDIENCE"),
        ((), {"aud": "https://others.example.com"}, "AUDIENCE"),
        (("client-1",), {"aud": "https://others.example.com"}, "AUDIENCE"),
    ],
)
def test_cognitos_tokens_name_no_audience_but_a_client(
    audiences: tuple[str, ...], members: dict[str, Any], reason: str
) -> None:
    gate = Gate(Expected(POOL, frozenset(audiences), ("herald/call",)))

    assert gate.refusal(cognito(**members)) == reason


# ---- owners ----


def test_owners_of_two_issuers_or_subjects_are_never_one() -> None:
    issuers = ("https://a.example", "https://a.example/b", "https://a.example/")
    subjects = ("alice", "b#alice", "#alice", "/b#alice")
    owners = set()
    for issuer in issuers:
        gate = Gate(Expected(issuer, frozenset({AUDIENCE})))
        for subject in subjects:
            owners.add(gate.verifier.identify(f"Bearer {token(claims(iss=issuer, sub=subject))}").owner)

    assert len(owners) == len(issuers) * len(subjects)


# ---- tampering ----


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_token_that_differs_in_a_character_is_taken(data: st.DataObject) -> None:
    text = GOOD
    at = data.draw(st.integers(0, len(text) - 1))
    put = data.draw(st.sampled_from("ABCZabcz019-_.= \x00é"))
    if text[at] == put:
        return

    assert GATE.refusal(text[:at] + put + text[at + 1 :]) != ""


@settings(max_examples=300, deadline=None)
@given(text=st.one_of(st.text(max_size=300), st.from_regex(r"[\w-]{0,80}\.[\w-]{0,80}\.[\w-]{0,80}", fullmatch=True)))
def test_junk_is_refused_and_never_raises_anything_else(text: str) -> None:
    assert GATE.refusal(text) != ""


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(
    said=st.sampled_from([{}, {"aud": None, "token_use": "access"}]),
    name=st.sampled_from(["iss", "aud", "sub", "exp", "nbf", "iat", "scope", "tenant", "token_use", "client_id"]),
    value=JSON_VALUES,
)
def test_claims_of_any_shape_are_taken_or_refused(said: dict[str, Any], name: str, value: Any) -> None:
    GATE.refusal(token({**claims(**said), name: value}))


@settings(max_examples=200, deadline=None)
@given(header=st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "cty", "jwk", "b64"]), JSON_VALUES))
def test_headers_of_any_shape_are_refused(header: dict[str, Any]) -> None:
    assert GATE.refusal(assembled(json.dumps(header).encode(), BODY)) != ""


GATE = Gate()
GOOD = token()
