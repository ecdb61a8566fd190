"""The verifier says of every request in clients/vectors/vectors.json what stands there, as the JavaScript one does."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from clients.vectors import make

from herald.webhooks import Jwks, Notification, VerificationError, verify, verify_jwt

VECTORS: dict[str, Any] = json.loads(make.FILE.read_text())
CASES: list[dict[str, Any]] = VECTORS["cases"]
BY_NAME = {case["name"]: case for case in CASES}


class Pairs(dict[str, str]):
    """Headers as they came, where a name may stand twice, as frameworks give them."""

    def __init__(self, pairs: list[list[str]]) -> None:
        super().__init__()
        self._pairs = [(name, value) for name, value in pairs]

    def items(self) -> Any:
        return self._pairs


def said(case: Mapping[str, Any], jwks: Jwks | None = None) -> Any:
    """What the verifier says of a case: what it read, or a reason, or "mistake"."""
    options = dict(case["options"])
    if jwks is not None:
        options["jwks"] = jwks
    elif "jwks" in options:
        options["jwks"] = VECTORS["sets"][options["jwks"]]
    body = base64.b64decode(case["bodyBase64"]) if "bodyBase64" in case else case["body"].encode()
    functions: dict[str, Callable[..., Notification]] = {"signature": verify, "jwt": verify_jwt}
    try:
        got = functions[case["profile"]](body, Pairs(case["headers"]), **options)
    except VerificationError as error:
        return error.reason.value
    except ValueError:
        return "mistake"
    assert got.event == json.loads(body)
    return {
        "id": got.id,
        "timestamp": got.timestamp,
        "number": got.number,
        "kind": got.kind,
        "taskId": got.task_id,
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_request_is_read_or_refused_for_the_reason_that_stands_in_the_table(case: dict[str, Any]) -> None:
    assert said(case) == case["expect"]


@pytest.mark.parametrize("walk", VECTORS["walks"], ids=lambda walk: walk["name"])
def test_keys_are_loaded_when_the_table_says(walk: dict[str, Any]) -> None:
    time = 0.0
    answer: str | None = None
    loads = 0

    def fetch(url: str) -> bytes:
        nonlocal loads
        assert url == "https://agent.example/jwks.json"
        loads += 1
        if answer is None:
            raise ConnectionError
        return (json.dumps(VECTORS["sets"][answer]) if answer in VECTORS["sets"] else answer).encode()

    jwks = Jwks("https://agent.example/jwks.json", fetch=fetch, clock=lambda: 1_000.0 + time)
    for step in walk["steps"]:
        time, answer = step["at"], step["answer"]
        got = said(BY_NAME[step["case"]], jwks)
        assert ("accepted" if isinstance(got, dict) else got, loads) == (step["expect"], step["loads"]), step


def test_the_table_is_what_its_script_makes() -> None:
    assert make.FILE.read_text() == make.text(), "run: python -m clients.vectors.make"


def test_every_case_has_a_name_of_its_own_and_every_reason_has_a_case() -> None:
    def reasons() -> Iterator[str]:
        yield from (case["expect"] for case in CASES if isinstance(case["expect"], str))
        yield from (step["expect"] for walk in VECTORS["walks"] for step in walk["steps"])

    assert len(BY_NAME) == len(CASES)
    assert set(reasons()) == {
        "missing_header",
        "malformed_header",
        "too_old",
        "too_new",
        "unknown_key",
        "wrong_signature",
        "wrong_claims",
        "wrong_body",
        "unknown_body",
        "keys_unavailable",
        "mistake",
        "accepted",
    }
