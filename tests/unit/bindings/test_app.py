"""The application behind Lambda: bytes in, bytes out, and no way for an exception to get through."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from typing import Any

import pytest

from builders.api import HOOK, ApiBench, sending
from builders.events import rest_event, rpc_event
from herald.bindings import app
from herald.operations import answer

A2A = {"Content-Type": "application/a2a+json"}


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


def test_f1_answers_are_text_never_base64(api: ApiBench) -> None:
    task_id = api.send(text="é")["id"]

    answer = api.http(rest_event("GET", f"/tasks/{task_id}", headers=A2A))

    assert answer["isBase64Encoded"] is False
    assert answer["headers"]["content-type"] == "application/a2a+json"
    assert json.loads(answer["body"])["id"] == task_id


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(rpc_event("SendMessage", sending()), id="result"),
        pytest.param(rpc_event("GetTask", {"id": "x"}), id="error over JSON-RPC"),
        pytest.param(rest_event("GET", "/tasks/x", headers=A2A), id="error over HTTP+JSON"),
        pytest.param(rest_event("GET", "/nothing/here"), id="unknown path"),
        pytest.param(rest_event("PUT", "/"), id="wrong verb"),
        pytest.param(rest_event("POST", "/", " " * 4_194_305), id="too large"),
        pytest.param(rest_event("GET", "/.well-known/agent-card.json"), id="card"),
        pytest.param(rest_event("HEAD", "/.well-known/agent-card.json"), id="no body"),
        pytest.param(
            rest_event("GET", "/.well-known/agent-card.json", headers={"If-None-Match": "*"}), id="not modified"
        ),
        pytest.param({}, id="unreadable event"),
    ],
)
def test_f8_no_answer_relies_on_base64(api: ApiBench, event: dict[str, Any]) -> None:
    answer = api.http(event)

    assert answer["isBase64Encoded"] is False
    assert answer["body"] == "" or isinstance(json.loads(answer["body"]), dict)


@pytest.mark.parametrize("now", [True, False], ids=["at once", "blocking"])
def test_f7_when_a_request_is_answered_nothing_of_it_is_left_to_be_done(api: ApiBench, now: bool) -> None:
    api.rpc("GetTask", {"id": "x"})  # the application starts with its first request
    threads = set(threading.enumerate())

    sent = api.rpc("SendMessage", sending(now=now))["result"]["task"]
    left = asyncio.all_tasks(app._loop())

    assert not left
    assert set(threading.enumerate()) <= threads
    # What is to be done lies in the table: the stream starts the worker, and sweep does where the stream doesn't.
    header = api.header(api.ref(sent["id"]))
    assert header.due_at == header.created_at + 60_000
    assert [entry.kind for entry in api.world.entries(header.ref)] == ["message"]


@pytest.mark.parametrize("encoded", [False, True])
def test_f9_text_beyond_ascii_comes_back_equal(api: ApiBench, encoded: bool) -> None:
    answer = api.http(rpc_event("SendMessage", sending(text="é 漢 🎈"), base64_body=encoded))

    assert "é 漢 🎈" in answer["body"]


@pytest.mark.parametrize(
    "event",
    [{}, {"resource": "/", "requestContext": {}}, {"resource": "/", "requestContext": {"requestId": "r-1"}}, [], "x"],
    ids=str,
)
def test_an_event_that_is_none_of_api_gateways_is_answered_in_shape(api: ApiBench, event: Any) -> None:
    answer = api.http(event)

    assert answer["statusCode"] == 500
    assert answer["headers"] == {"content-type": "application/a2a+json"}
    assert json.loads(answer["body"])["error"]["details"][0]["reason"] == "INTERNAL_ERROR"


@pytest.mark.parametrize("body", ["%%%", "YWJ", "é", "YWJj\n", "{}", " "])
@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/message:send", 400)])
def test_a_body_that_is_not_the_base64_it_should_be_is_a_parse_error(
    api: ApiBench, path: str, status: int, body: str
) -> None:
    answer = api.http(rest_event("POST", path, owner="alice") | {"body": body, "isBase64Encoded": True})

    error = json.loads(answer["body"])["error"]
    assert answer["statusCode"] == status
    assert (error.get("data") or error["details"])[0]["reason"] == "PARSE_ERROR"
    assert "base64" in error["message"]


def test_a_crash_inside_a_binding_is_an_internal_error(
    api: ApiBench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("herald.bindings.rest.match", crash)

    answer = api.rest("GET", "/tasks/t")

    assert (answer.status, answer.reason) == (500, "INTERNAL_ERROR")
    assert answer.body["error"]["message"] == "Internal error"
    assert "secret" not in str(answer)
    assert "secret" in caplog.text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        pytest.param('"' * 1_600_000, False, id="quotes, which count twice"),
        pytest.param("字" * 550_000, True, id="what old runtimes escape to six bytes"),
    ],
)
def test_a_task_above_what_lambda_can_answer_is_told_clearly_in_both_shapes(
    api: ApiBench, monkeypatch: pytest.MonkeyPatch, text: str, *, escaped: bool
) -> None:
    monkeypatch.setattr(answer, "ESCAPED", escaped)
    ref = api.ref(api.send()["id"])
    for number in range(2):
        api.put_artifact(ref, f"a{number}", text)

    rpc = api.rpc("GetTask", {"id": ref.task_id}, rpc_id="big")
    rest = api.rest("GET", f"/tasks/{ref.task_id}")

    assert rpc["id"] == "big"
    assert rpc["error"]["code"] == -32603
    assert "6 MB" in rpc["error"]["message"]
    assert rest.status == 500
    assert "6 MB" in rest.body["error"]["message"]


def test_each_request_is_logged_by_names_and_codes_and_never_by_content(
    api: ApiBench, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    config = {
        "taskPushNotificationConfig": {
            "url": f"{HOOK}?key=url-secret",
            "token": "the-token",
            "authentication": {"scheme": "Bearer", "credentials": "the-credentials"},
        }
    }

    api.rpc("SendMessage", sending(text="the-text", config=config), headers={"Authorization": "the-signature"})
    api.rpc("SendMessage", sending(text="the-text", config={"historyLength": -1}))

    fine, wrong = (record for record in caplog.records if record.message == "answered")
    assert vars(fine) | {"binding": "JSONRPC", "operation": "SendMessage", "status": 200} == vars(fine)
    assert vars(wrong)["error"] == "INVALID_PARAMS"
    for secret in ("the-text", "url-secret", "the-token", "the-credentials", "the-signature"):
        assert secret not in caplog.text
        assert all(secret not in str(vars(record)) for record in caplog.records)


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/docs/oauth2-redirect"])
def test_fastapis_own_pages_are_off(api: ApiBench, path: str) -> None:
    assert api.rest("GET", path).status == 404
