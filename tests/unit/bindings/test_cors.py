"""CORS: off by default; where a site is named, its scripts can ask, call, and read every answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from builders.api import ApiBench, sending
from builders.events import rest_event
from herald.bindings.cors import OFF, Cors
from herald.bindings.http import Request

SITE = "https://app.example.com"
OTHER = "https://evil.example.com"
ASKING = {"access-control-request-method": "POST", "access-control-request-headers": "a2a-version,authorization"}
NOBODY: dict[str, Any] = {"owner": ""}


def request(method: str = "POST", origin: str = SITE, headers: Mapping[str, str] | None = None) -> Request:
    return Request(method, "/", headers={**({"origin": origin} if origin else {}), **(headers or {})})


@pytest.mark.parametrize("text", ["", " ", ","])
def test_nothing_is_off(text: str) -> None:
    assert Cors.parse(text) == OFF
    assert OFF.headers(request()) == {}
    assert OFF.preflight(request("OPTIONS", headers=ASKING)) is None


def test_sites_are_read_in_any_case_and_with_spaces() -> None:
    assert Cors.parse("https://App.example.com, http://localhost:3000").origins == {SITE, "http://localhost:3000"}


@pytest.mark.parametrize(
    "text", ["*,https://a.example", "https://a.example/", "a.example", "null", "https://*.example"]
)
def test_what_is_no_origin_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="isn't an origin such as"):
        Cors.parse(text)


def test_a_named_sites_script_may_read_the_answer() -> None:
    assert Cors.parse(SITE).headers(request()) == {
        "access-control-allow-origin": SITE,
        "access-control-expose-headers": "A2A-Extensions, ETag, Retry-After, WWW-Authenticate",
        "vary": "Origin",
    }


@pytest.mark.parametrize("origin", [OTHER, "", "null", SITE + ".evil.example", SITE + ":8443"])
def test_nobody_else_may_and_caches_know_that_it_depends(origin: str) -> None:
    assert Cors.parse(SITE).headers(request(origin=origin)) == {"vary": "Origin"}


@pytest.mark.parametrize("origin", [SITE, OTHER, "null", ""])
def test_any_site_may_if_the_operator_says_so(origin: str) -> None:
    assert Cors.parse("*").headers(request(origin=origin)) == {
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "A2A-Extensions, ETag, Retry-After, WWW-Authenticate",
    }


@pytest.mark.parametrize("text", ["*", f"{SITE},http://localhost:3000"])
def test_a_preflight_is_answered(text: str) -> None:
    answer = Cors.parse(text).preflight(request("OPTIONS", headers=ASKING))
    assert answer is not None
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers == {
        "access-control-allow-methods": "GET, HEAD, POST, DELETE, OPTIONS",
        "access-control-allow-headers": (
            "A2A-Version, A2A-Extensions, Authorization, Content-Type, If-None-Match, traceparent, "
            "X-Amz-Content-Sha256, X-Amz-Date, X-Amz-Security-Token"
        ),
        "access-control-max-age": "3600",
    }


@pytest.mark.parametrize(
    "asked",
    [
        request("OPTIONS", OTHER, ASKING),
        request("OPTIONS", "", ASKING),
        request("OPTIONS"),  # asks for nothing
        request("POST", SITE, ASKING),
    ],
)
def test_what_is_no_preflight_of_a_named_site_is_a_request_like_others(asked: Request) -> None:
    assert Cors.parse(SITE).preflight(asked) is None


# ---- through the function ----


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]

    @property
    def of_cors(self) -> dict[str, str]:
        return {name: value for name, value in self.headers.items() if name.startswith(("access-control-", "vary"))}


def answer(cors: Cors, method: str, path: str, body: object = None, **event: Any) -> Answer:
    """What the whole API answers to a script of SITE."""
    headers = {"Origin": SITE, **event.pop("headers", {})}
    told = ApiBench(cors=cors).http(rest_event(method, path, body, headers=headers, **event))
    return Answer(told["statusCode"], told["headers"])


EVERYTHING: list[tuple[str, str, object, int]] = [
    ("POST", "/message:send", sending(), 200),
    ("GET", "/tasks/nope", None, 404),
    ("GET", "/nowhere/at/all", None, 404),
    ("POST", "/message:send", "not json", 400),
    ("POST", "/", {"jsonrpc": "2.0"}, 200),
    ("GET", "/", None, 405),
    ("GET", "/.well-known/agent-card.json", None, 200),
    ("GET", "/openapi.json", None, 200),
]


@pytest.mark.parametrize(("method", "path", "body", "status"), EVERYTHING)
def test_every_answer_can_be_read_by_the_site_errors_included(
    method: str, path: str, body: object, status: int
) -> None:
    found = answer(Cors.parse(SITE), method, path, body)
    assert found.status == status
    assert found.of_cors["access-control-allow-origin"] == SITE
    assert found.of_cors["vary"] == "Origin"


@pytest.mark.parametrize(("method", "path", "body", "status"), EVERYTHING)
def test_no_answer_has_a_header_of_cors_by_default(method: str, path: str, body: object, status: int) -> None:
    found = answer(OFF, method, path, body)
    assert found.status == status
    assert found.of_cors == {}


@pytest.mark.parametrize("path", ["/", "/message:send", "/acme/tasks/t", "/.well-known/agent-card.json"])
def test_a_preflight_needs_no_credentials(path: str) -> None:
    found = answer(Cors.parse(SITE), "OPTIONS", path, headers=ASKING, **NOBODY)
    assert found.status == 204
    assert found.of_cors["access-control-allow-origin"] == SITE
    assert found.of_cors["access-control-allow-methods"] == "GET, HEAD, POST, DELETE, OPTIONS"


def test_nothing_else_is_let_in_by_that() -> None:
    found = answer(Cors.parse(SITE), "OPTIONS", "/tasks", **NOBODY)
    assert found.status == 405
    assert found.of_cors["access-control-allow-origin"] == SITE


def test_a_site_that_isnt_named_is_told_nothing() -> None:
    found = answer(Cors.parse(OTHER), "OPTIONS", "/tasks/t", headers=ASKING)
    assert found.status == 405
    assert found.of_cors == {"vary": "Origin"}
