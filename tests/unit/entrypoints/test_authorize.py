"""authorize: a policy for the whole stage, what the other functions are told, and what is never kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from builders.events import LambdaContext
from builders.issuer import ISSUER, NOW, Gate, claims, key, token
from herald.authorization.refusal import Reason
from herald.entrypoints.authorize import NotNow, handler_for
from herald.ports import Unavailable

ARN = "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/POST/acme/tasks/x:cancel"
STAGE = "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/*"


def ask(text: str | None, gate: Gate | None = None, arn: str = ARN) -> dict[str, Any]:
    event: dict[str, Any] = {"type": "TOKEN", "methodArn": arn}
    if text is not None:
        event["authorizationToken"] = f"Bearer {text}"
    answer: dict[str, Any] = handler_for((gate or Gate()).verifier)(event, LambdaContext())  # type: ignore[arg-type]
    return answer


def test_a_token_that_is_taken_opens_the_whole_stage() -> None:
    assert ask(token(claims(tenant="acme"))) == {
        "principalId": f"{ISSUER}#alice",
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": STAGE}],
        },
        "context": {"owner": f"{ISSUER}#alice", "tenant": "acme", "missing": "", "expires": str(NOW + 3660)},
    }


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/GET/",
        "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/prod/DELETE/a/b/c",
    ],
)
def test_the_answer_for_one_method_is_the_answer_for_all(arn: str) -> None:
    """API Gateway keeps it by token: a policy for one method would refuse the next."""
    assert ask(token(), arn=arn) == ask(token())


def test_everything_that_is_told_is_text() -> None:
    """API Gateway takes no other values in a context."""
    assert all(isinstance(value, str) for value in ask(token())["context"].values())


def test_a_missing_scope_is_told_and_the_api_function_answers_it() -> None:
    answer = ask(token(claims(scope="other")))

    assert answer["policyDocument"]["Statement"][0]["Effect"] == "Allow"
    assert answer["context"]["missing"] == "herald/call"


def test_what_is_refused_for_good_is_denied_with_a_sentence() -> None:
    answer = ask(token(claims(exp=NOW - 100)))

    [statement] = answer["policyDocument"]["Statement"]
    assert (statement["Effect"], statement["Resource"]) == ("Deny", STAGE)
    assert answer["context"] == {"reason": "The access token has expired: get a new one."}


@pytest.mark.parametrize("text", [None, "", "x", token(claims(iss="https://other.example.com"))])
def test_every_refusal_names_nobody(text: str | None) -> None:
    answer = ask(text)

    assert answer["policyDocument"]["Statement"][0]["Effect"] == "Deny"
    assert set(answer["context"]) == {"reason"}
    assert answer["principalId"] == "nobody"


@pytest.mark.parametrize("text", [token(by=key("P-256", "new")), token(claims(nbf=NOW + 3600))])
def test_what_may_be_taken_soon_is_a_401_that_nobody_keeps(text: str) -> None:
    with pytest.raises(NotNow, match=r"^Unauthorized$"):
        ask(text)


def test_an_issuer_that_cannot_be_reached_is_no_bad_token() -> None:
    gate = Gate()
    gate.issuer.documents.clear()

    with pytest.raises(Unavailable):
        ask(token(), gate)


@pytest.mark.parametrize("reason", Reason)
def test_a_sentence_fits_into_the_gateways_json_as_it_is(reason: Reason) -> None:
    assert json.loads(f'"{reason.sentence}"') == reason.sentence
    assert reason.sentence.isascii()


def test_a_forged_and_an_unknown_signature_are_told_alike() -> None:
    assert Reason.SIGNATURE.sentence == Reason.UNKNOWN_KEY.sentence


def test_neither_token_nor_claims_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    text = token(claims(exp=NOW - 100, sub="alice-in-the-log"))
    with caplog.at_level("INFO", "herald"):
        ask(text)

    logged = str([vars(record) for record in caplog.records])
    assert "'reason': 'EXPIRED'" in logged
    assert "alice-in-the-log" not in logged
    assert text.split(".")[1] not in logged
    assert text.split(".")[2] not in logged
