"""Extensions: which are in use, who is told, and what is left alone (A2A specification section 4.6)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from builders.api import CARD, ApiBench, sending
from builders.events import rest_event, rpc_event

Json = dict[str, Any]

DECLARING = (
    CARD
    + """
capabilities:
  extensions:
    - {uri: "https://example.com/b/v1"}
    - {uri: "https://example.com/a/v1", description: A.}
    - {uri: "urn:c"}
"""
)
REQUIRING = DECLARING.replace('{uri: "urn:c"}', '{uri: "urn:c", required: true}')
PUSH = "urn:herald:extensions:signed-push:v1"


@pytest.fixture
def api() -> ApiBench:
    return ApiBench(card_text=DECLARING)


def stored(api: ApiBench, answer: Json) -> Json:
    """The body of a sent task's message entry."""
    body = json.loads(answer["body"])
    task = (body.get("result") or body)["task"]
    [entry] = api.world.entries(api.ref(task["id"]))
    parsed: Json = json.loads(entry.body)
    return parsed


def send(api: ApiBench, binding: str, *values: str, **members: Any) -> Json:
    """Send a message with these A2A-Extensions headers; the answer as Lambda gives it."""
    request = sending(**members)
    rpc = binding == "JSON-RPC"
    event = rpc_event("SendMessage", request) if rpc else rest_event("POST", "/message:send", request)
    event["multiValueHeaders"]["A2A-Extensions"] = list(values)
    event["headers"]["A2A-Extensions"] = values[-1] if values else ""
    return api.http(event | {"requestContext": rest_event(owner="alice")["requestContext"]})


BOTH = pytest.mark.parametrize("binding", ["JSON-RPC", "HTTP+JSON"])


@BOTH
@pytest.mark.parametrize(
    ("values", "in_use"),
    [
        (["urn:c"], ["urn:c"]),
        (["urn:c,https://example.com/b/v1"], ["https://example.com/b/v1", "urn:c"]),
        (["  urn:c ,\thttps://example.com/a/v1  "], ["https://example.com/a/v1", "urn:c"]),
        (["urn:c", "https://example.com/a/v1,urn:x"], ["https://example.com/a/v1", "urn:c"]),
        (["urn:c", "urn:c,urn:c"], ["urn:c"]),
        (["urn:x", "urn:c", ",,"], ["urn:c"]),
        ([PUSH], [PUSH]),
    ],
)
def test_e14_those_asked_for_and_declared_are_echoed_and_handed_to_the_agent(
    api: ApiBench, binding: str, values: list[str], in_use: list[str]
) -> None:
    answer = send(api, binding, *values)

    assert answer["statusCode"] == 200
    assert answer["headers"]["a2a-extensions"] == ", ".join(in_use)
    assert stored(api, answer)["extensions"] == in_use


@BOTH
@pytest.mark.parametrize(
    "value",
    [
        "",
        ",",
        "urn:unknown",
        "https://example.com/a/v2",
        "https://example.com/a/v1/",
        "HTTPS://EXAMPLE.COM/A/V1",
        "https://example.com/a/v1;q=1",
        "é, \ud800, \x00, \"'; DROP",
        "x" * 100_000,
        ",".join(f"urn:{number}" for number in range(20_000)),
    ],
    ids=["empty", "comma", "unknown", "version", "slash", "case", "parameter", "garbage", "long", "many"],
)
def test_what_the_card_does_not_declare_is_ignored(api: ApiBench, binding: str, value: str) -> None:
    answer = send(api, binding, value)

    assert answer["statusCode"] == 200
    assert "a2a-extensions" not in answer["headers"]
    assert "extensions" not in stored(api, answer)


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(rpc_event("GetTask", {"id": "nope"}), id="error over JSON-RPC"),
        pytest.param(rest_event("GET", "/tasks/nope"), id="error over HTTP+JSON"),
        pytest.param(rest_event("POST", "/", b"{"), id="no JSON"),
        pytest.param(rest_event("GET", "/"), id="wrong verb"),
        pytest.param(rest_event("GET", "/nothing/here"), id="unknown path"),
        pytest.param(rest_event("GET", "/tasks/t", owner=""), id="nobody"),
        pytest.param(rest_event("GET", "/tasks/t", headers={"A2A-Version": "0.3"}), id="version"),
    ],
)
def test_an_error_says_which_are_in_use_as_well(api: ApiBench, event: Json) -> None:
    event["multiValueHeaders"]["A2A-Extensions"] = ["urn:x", "urn:c"]

    assert api.http(event)["headers"]["a2a-extensions"] == "urn:c"


@BOTH
def test_a_message_names_its_own_extensions_and_they_pass_through(api: ApiBench, binding: str) -> None:
    answer = send(api, binding, extensions=["urn:c", "urn:anything"])

    body = stored(api, answer)
    assert body["message"]["extensions"] == ["urn:c", "urn:anything"]
    assert "extensions" not in body  # a message says what it is made with; the header, what the client asks for
    assert "a2a-extensions" not in answer["headers"]


@BOTH
def test_metadata_keyed_by_extension_passes_through_untouched(api: ApiBench, binding: str) -> None:
    metadata = {"https://example.com/a/v1": {"n": 0, "f": False, "s": "", "deep": [None, {"x": 1.5}]}, "urn:x": None}
    request = sending(metadata=metadata)
    request["message"]["metadata"] = metadata
    request["message"]["parts"][0]["metadata"] = metadata
    rpc = binding == "JSON-RPC"
    event = rpc_event("SendMessage", request) if rpc else rest_event("POST", "/message:send", request)
    answer = api.http(event | {"requestContext": rest_event(owner="alice")["requestContext"]})

    body = stored(api, answer)
    assert body["metadata"] == body["message"]["metadata"] == body["message"]["parts"][0]["metadata"] == metadata


@BOTH
@pytest.mark.parametrize("values", [(), ("",), ("https://example.com/a/v1",), ("urn:c/v2",)])
def test_e14_a_required_one_that_is_missing_is_told_with_the_way_out(binding: str, values: tuple[str, ...]) -> None:
    api = ApiBench(card_text=REQUIRING)

    answer = send(api, binding, *values, extensions=["urn:c"])

    body = json.loads(answer["body"])["error"]
    assert (answer["statusCode"], body["code"]) == ((200, -32008) if binding == "JSON-RPC" else (400, 400))
    assert body["message"] == "This agent requires extensions. Send A2A-Extensions: urn:c"
    assert (body.get("data") or body["details"])[0] == {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "EXTENSION_SUPPORT_REQUIRED",
        "domain": "a2a-protocol.org",
        "metadata": {"requiredExtensions": "urn:c"},
    }
    assert not api.world.items


@BOTH
def test_e14_with_the_required_one_the_request_is_served(binding: str) -> None:
    api = ApiBench(card_text=REQUIRING)

    answer = send(api, binding, "https://example.com/a/v1", "urn:c")

    assert answer["headers"]["a2a-extensions"] == "https://example.com/a/v1, urn:c"
    assert stored(api, answer)["extensions"] == ["https://example.com/a/v1", "urn:c"]


def test_a_follow_up_has_extensions_of_its_own(api: ApiBench) -> None:
    from herald.protocol.states import TaskState

    task_id = api.send()["id"]
    ref = api.ref(task_id)
    api.put_status(ref, TaskState.INPUT_REQUIRED)

    request = sending(taskId=task_id, messageId="m2")
    api.rpc("SendMessage", request, headers={"A2A-Extensions": "urn:c"})

    bodies = [json.loads(entry.body) for entry in api.world.entries(ref) if entry.kind == "message"]
    assert [body.get("extensions") for body in bodies] == [None, ["urn:c"]]


def test_documents_that_anyone_may_read_know_no_extensions(api: ApiBench) -> None:
    headers = {"A2A-Extensions": "urn:c"}
    answer = api.rest("GET", "/.well-known/agent-card.json", headers=headers)

    assert answer.status == 200
    assert "a2a-extensions" not in answer.headers
