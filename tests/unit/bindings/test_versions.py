"""Which version a request speaks, over both bindings (A2A specification sections 3.6 and 14.2.1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from builders.api import ApiBench
from builders.events import rest_event, rpc_event

Json = dict[str, Any]

BOTH = pytest.mark.parametrize("binding", ["JSON-RPC", "HTTP+JSON"])


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


def ask(api: ApiBench, binding: str, header: str | None, query: str | None) -> Json:
    """GetTask in a version; the answer's body."""
    task_id = api.send()["id"]
    more: Json = {"owner": "alice", "query": None if query is None else {"A2A-Version": query}}
    rpc = binding == "JSON-RPC"
    event = rpc_event("GetTask", {"id": task_id}, **more) if rpc else rest_event("GET", f"/tasks/{task_id}", **more)
    for name in ("headers", "multiValueHeaders"):
        del event[name]["A2A-Version"]
    if header is not None:
        event["headers"]["a2a-version"] = header
        event["multiValueHeaders"]["a2a-version"] = [header]
    body: Json = json.loads(api.http(event)["body"])
    return body


@BOTH
@pytest.mark.parametrize(
    ("header", "query"),
    [
        ("1.0", None),
        ("1.0.0", None),
        ("1.0.17", None),
        (" 1.0 ", None),
        (None, "1.0"),
        (None, "1.0.1"),
        ("", "1.0"),
        ("1.0", ""),
        ("1.0", "0.3"),  # the header counts
        ("1.0.1", "2.0"),
    ],
)
def test_w3_1_0_and_its_patches_are_served_as_header_or_query(
    api: ApiBench, binding: str, header: str | None, query: str | None
) -> None:
    body = ask(api, binding, header, query)

    assert (body.get("result") or body)["status"]["state"] == "TASK_STATE_SUBMITTED"


@BOTH
@pytest.mark.parametrize(
    ("header", "query", "asked", "sentence"),
    [
        (
            None,
            None,
            "0.3",
            "A request without A2A-Version speaks A2A 0.3, which isn't supported; send A2A-Version: 1.0.",
        ),
        (
            "",
            None,
            "0.3",
            "A request without A2A-Version speaks A2A 0.3, which isn't supported; send A2A-Version: 1.0.",
        ),
        ("", " ", "0.3", "A request without A2A-Version speaks A2A 0.3, which isn't supported; send A2A-Version: 1.0."),
        ("0.3", None, "0.3", "A2A version 0.3 isn't supported; send A2A-Version: 1.0."),
        (None, "0.3", "0.3", "A2A version 0.3 isn't supported; send A2A-Version: 1.0."),
        ("0.3", "1.0", "0.3", "A2A version 0.3 isn't supported; send A2A-Version: 1.0."),  # the header counts
        ("1.1", None, "1.1", "A2A version 1.1 isn't supported; send A2A-Version: 1.0."),
        ("1", None, "1", "A2A version 1 isn't supported; send A2A-Version: 1.0."),
        ("10.0", None, "10.0", "A2A version 10.0 isn't supported; send A2A-Version: 1.0."),
        ("99" * 100, None, "9" * 20, f"A2A version {'9' * 20} isn't supported; send A2A-Version: 1.0."),
    ],
)
def test_w3_any_other_is_refused_with_what_is_supported(
    api: ApiBench, binding: str, header: str | None, query: str | None, asked: str, sentence: str
) -> None:
    error = ask(api, binding, header, query)["error"]

    assert error["code"] == (-32009 if binding == "JSON-RPC" else 400)
    assert error["message"] == sentence
    assert (error.get("data") or error["details"])[0] == {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "VERSION_NOT_SUPPORTED",
        "domain": "a2a-protocol.org",
        "metadata": {"requestedVersion": asked, "supportedVersions": "1.0"},
    }


@pytest.mark.parametrize("path", ["/.well-known/agent-card.json", "/openapi.json"])
@pytest.mark.parametrize("version", ["", "0.3", "2.0"])
def test_w3_documents_need_no_version(api: ApiBench, path: str, version: str) -> None:
    assert api.rest("GET", path, headers={"A2A-Version": version}).status == 200


def test_an_unknown_path_or_method_is_told_whatever_the_version(api: ApiBench) -> None:
    assert api.rest("GET", "/nothing/here", headers={"A2A-Version": ""}).reason == "METHOD_NOT_FOUND"
