"""publish_keys: the JWKS of a tenant."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import jwt
import pytest

from builders.events import LambdaContext, rest_event
from fakes.card_key import FakeCardKey
from fakes.clock import START
from fakes.secret_versions import FakeVersion, FakeVersions
from fakes.token_key import FakeTokenKey
from herald.bindings.cors import Cors
from herald.delivery.published_keys import PublishedKeys
from herald.delivery.signing import SigningKeys
from herald.entrypoints.publish_keys import handler_for
from herald.ports import CardKey, TokenKey, Unavailable
from herald.webhooks import keys_from_jwks


class Unreadable(FakeVersions):
    def published(self) -> NoReturn:
        raise Unavailable("GetSecretValue: s3cret")


def get(
    *ids: str,
    tenant: str | None = None,
    method: str = "GET",
    card: CardKey | None = None,
    tokens: TokenKey | None = None,
    **headers: str,
) -> dict[str, Any]:
    """The answer while the secret has these versions: current, pending, previous; with none it can't be read."""
    path = "/.well-known/jwks.json" if tenant is None else f"/{tenant}/.well-known/jwks.json"
    event = rest_event(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    event["pathParameters"] = None if tenant is None else {"tenant": tenant}
    stages = zip(("current", "pending", "previous"), ids, strict=False)
    made = {"current": START}  # a moment ago
    found: dict[str, Any] = {
        stage: FakeVersion(name, f"secret of {name}", made.get(stage, 0)) for stage, name in stages
    }
    versions = FakeVersions(**found)
    keys = SigningKeys(versions if ids else Unreadable())
    answer: dict[str, Any] = handler_for(PublishedKeys(keys, card, tokens))(event, LambdaContext())  # type: ignore[arg-type]
    return answer


def keys(answer: dict[str, Any]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(answer["body"])["keys"]
    return found


def reason(answer: dict[str, Any]) -> str:
    """Of an error, in the shape that all of Herald's errors have."""
    found: str = json.loads(answer["body"])["error"]["details"][0]["reason"]
    return found


def test_the_keys_are_okp_ed25519_for_signatures_with_the_standard_webhooks_form_beside() -> None:
    answer = get("v1")

    [key] = keys(answer)
    assert {name: key[name] for name in ("kty", "crv", "use", "alg")} == {
        "kty": "OKP",
        "crv": "Ed25519",
        "use": "sig",
        "alg": "EdDSA",
    }
    assert key["whpk"].startswith("whpk_")
    assert len(key["kid"]) == 43
    assert keys_from_jwks(json.loads(answer["body"]))
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, False)
    assert answer["headers"]["content-type"] == "application/jwk-set+json"
    assert answer["headers"]["cache-control"] == "public, max-age=300"


def test_current_pending_and_previous_keys_are_there_as_they_exist() -> None:
    signing, newest, pending = keys(get("v2", "v3", "v1"))

    assert [signing, newest, pending] == [keys(get(version))[0] for version in ("v1", "v2", "v3")]


def test_each_tenant_has_keys_of_its_own_and_any_name_has_some() -> None:
    tenants = [None, "acme", "other", "no such tenant", "a%20b"]

    assert len({keys(get("v1", tenant=tenant))[0]["x"] for tenant in tenants}) == 5


def test_a_tenant_is_the_same_percent_encoded_or_not() -> None:
    assert keys(get("v1", tenant="a%20b")) == keys(get("v1", tenant="a b"))


def test_an_unchanged_set_answers_304() -> None:
    etag = get("v1")["headers"]["etag"]

    for known in (etag, f'"x", W/{etag}', "*"):
        answer = get("v1", if_none_match=known)
        assert (answer["statusCode"], answer["body"]) == (304, "")
        assert answer["headers"]["etag"] == etag
    assert get("v2", if_none_match=etag)["statusCode"] == 200


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_only_reading_is_possible(method: str) -> None:
    answer = get("v1", method=method)

    assert (answer["statusCode"], answer["headers"]["allow"]) == (405, "GET, HEAD")
    assert reason(answer) == "METHOD_NOT_ALLOWED"


def test_keys_that_cannot_be_read_are_unavailable_without_a_word_of_why() -> None:
    answer = get()

    assert answer["statusCode"] == 503
    assert answer["headers"]["cache-control"] == "no-store"
    assert reason(answer) == "UNAVAILABLE"
    assert "s3cret" not in json.dumps(answer)


def test_a_name_without_end_has_no_keys() -> None:
    answer = get("v1", tenant="x" * 257)

    assert (answer["statusCode"], reason(answer)) == (404, "METHOD_NOT_FOUND")


def test_the_cards_key_is_beside_the_notifications_keys() -> None:
    answer = get("v2", "v3", card=FakeCardKey())

    assert [key["kty"] for key in keys(answer)] == ["OKP", "OKP", "EC"]
    card = keys(answer)[-1]
    assert {name: card[name] for name in ("crv", "kid", "use", "alg")} == {
        "crv": "P-256",
        "kid": "card-key",
        "use": "sig",
        "alg": "ES256",
    }
    assert len(keys_from_jwks(json.loads(answer["body"]))) == 2  # receivers look past it


def test_a_tenants_set_holds_no_card_key() -> None:
    assert [key["kty"] for key in keys(get("v1", tenant="acme", card=FakeCardKey()))] == ["OKP"]


def test_every_set_holds_the_key_of_tokens_and_its_jwt_libraries_find_it() -> None:
    for tenant in (None, "acme"):
        answer = get("v1", tenant=tenant, tokens=FakeTokenKey(), card=FakeCardKey())

        kinds = [key["kty"] for key in keys(answer)]
        assert kinds == (["OKP", "RSA", "EC"] if tenant is None else ["OKP", "RSA"])
        token = keys(answer)[1]
        assert {name: token[name] for name in ("kid", "use", "alg", "e")} == {
            "kid": "token-key",
            "use": "sig",
            "alg": "RS256",
            "e": "AQAB",
        }
        assert jwt.PyJWKSet.from_json(answer["body"])["token-key"].algorithm_name == "RS256"


def test_a_token_key_that_is_gone_takes_no_other_key_along() -> None:
    gone = FakeTokenKey()
    gone.fail_next("jwk", LookupError("disabled"))

    assert [key["kty"] for key in keys(get("v1", tokens=gone, card=FakeCardKey()))] == ["OKP", "EC"]


def test_a_token_key_that_does_not_answer_is_not_left_out_of_what_caches_keep() -> None:
    silent = FakeTokenKey()
    silent.fail_next("jwk", Unavailable("GetPublicKey"))

    assert get("v1", tokens=silent)["statusCode"] == 503


def test_a_card_key_that_is_gone_takes_no_other_key_along() -> None:
    gone = FakeCardKey()
    gone.fail_next("jwk", LookupError("disabled"))

    assert [key["kty"] for key in keys(get("v1", card=gone))] == ["OKP"]


def test_a_card_key_that_does_not_answer_is_not_left_out_of_what_caches_keep() -> None:
    silent = FakeCardKey()
    silent.fail_next("jwk", Unavailable("GetPublicKey"))

    assert get("v1", card=silent)["statusCode"] == 503


def test_head_is_get_without_the_body() -> None:
    found, head = get("v1"), get("v1", method="HEAD")

    assert (head["statusCode"], head["body"]) == (200, "")
    assert head["headers"] == {**found["headers"], "content-length": str(len(found["body"]))}


def test_scripts_of_named_sites_may_read_the_keys_and_nobody_elses_by_default() -> None:
    versions = FakeVersions(current=FakeVersion("v1", "secret of v1"))
    site, asking = {"Origin": "https://app.example.com"}, {"Access-Control-Request-Method": "GET"}
    published = PublishedKeys(SigningKeys(versions), None)
    handler, closed = handler_for(published, Cors.parse("https://app.example.com")), handler_for(published)

    def answer(method: str, headers: dict[str, str], handler: Any = handler) -> dict[str, Any]:
        found: dict[str, Any] = handler(rest_event(method, "/.well-known/jwks.json", headers=headers), LambdaContext())
        return found

    assert answer("GET", site)["headers"]["access-control-allow-origin"] == "https://app.example.com"
    assert answer("GET", {})["headers"]["vary"] == "Origin"
    preflight = answer("OPTIONS", site | asking)
    assert (preflight["statusCode"], preflight["body"]) == (204, "")
    assert preflight["headers"]["access-control-allow-origin"] == "https://app.example.com"
    for method in ("GET", "OPTIONS"):
        told = answer(method, site | asking, closed)["headers"]
        assert not [name for name in told if name.startswith(("access-control", "vary"))]
