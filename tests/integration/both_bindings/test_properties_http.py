"""Any HTTP request at all, as hypothesis makes them: paths, verbs, queries, headers and bodies, through the handler.

Whatever comes, the answer is in the protocol's shape and no fault of ours. EXAMPLES as in test_properties_rest.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, quote_from_bytes, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.api import HOOK, ApiBench, sending
from builders.front_door import event
from integration.both_bindings.errors import ROWS
from integration.both_bindings.examples import EXAMPLES, SECONDS, bounded

Json = dict[str, Any]

VERBS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
WORDS = [
    "",
    "tasks",
    "{task}",
    "{task}:cancel",
    "{task}%3Asubscribe",
    "{task}:explode",
    "message:send",
    "message:stream",
    "pushNotificationConfigs",
    "c",
    "extendedAgentCard",
    "acme",
    ".well-known",
    "agent-card.json",
    "openapi.json",
    ".",
    "..",
    "%2e%2e",
    "%2F",
    "%00",
    "%0A",
    "%FF",
    "%",
    "%zz",
    "*",
    ":",
    "é",
]
NAMES = [
    "id",
    "taskId",
    "tenant",
    "historyLength",
    "pageSize",
    "pageToken",
    "status",
    "A2A-Version",
    "includeArtifacts",
]
HEADERS = [
    "Content-Type",
    "Accept",
    "A2A-Version",
    "a2a-extensions",
    "A2A-Extensions",
    "Content-Encoding",
    "Content-Length",
    "traceparent",
    "X-Amzn-Trace-Id",
    "If-None-Match",
    "If-Modified-Since",
    "Host",
    "Origin",
    "Authorization",
]
VALUES = [
    "",
    "1.0",
    "0.3",
    "application/json",
    "application/a2a+json",
    "text/event-stream",
    "*",
    "gzip",
    "-1",
    ",,",
    "é",
]

segments = (
    st.sampled_from(WORDS)
    | st.text(max_size=5).map(lambda t: quote(t, safe=""))
    | st.binary(max_size=3).map(quote_from_bytes)
)
paths = st.lists(segments, max_size=5).map(lambda parts: "/" + "/".join(parts))
queries = st.lists(st.tuples(st.sampled_from(NAMES) | st.text(max_size=4), st.text(max_size=6)), max_size=3)
headers = st.lists(st.tuples(st.sampled_from(HEADERS), st.sampled_from(VALUES) | st.text(max_size=8)), max_size=4)
bodies = (
    st.just(b"")
    | st.just(json.dumps(sending()).encode())
    | st.just(json.dumps({"url": HOOK}).encode())
    | st.sampled_from([b"{}", b"null", b"[]", b'"x"', b"{", b"\xff"])
    | st.binary(max_size=20)
)


@pytest.fixture(scope="module")
def api() -> ApiBench:
    return ApiBench(auth="none")


def check_shape(answer: Json, *, rpc: bool) -> None:
    status, body = answer["statusCode"], answer["body"]
    assert answer["isBase64Encoded"] is False
    assert answer["headers"]["content-type"] in {"application/json", "application/a2a+json"}
    assert status < 500, body
    if not body:
        assert status in {200, 204, 304} or status >= 400
        return
    told = json.loads(body)
    if rpc:
        assert told["jsonrpc"] == "2.0"
        if "error" in told:
            code, over_rpc, *_ = ROWS[told["error"]["data"][0]["reason"]]
            assert (told["error"]["code"], status) == (code, over_rpc)
    elif status != 200:
        error = told["error"]
        assert (error["code"], error["status"]) == ROWS[error["details"][0]["reason"]][2:]
        assert error["code"] == status
        assert error["message"]


@pytest.mark.timeout(SECONDS)
def test_whatever_comes_is_answered_in_shape(api: ApiBench) -> None:
    task_id = api.send("anonymous")["id"]

    @settings(bounded, max_examples=EXAMPLES or 300)
    @given(verb=st.sampled_from(VERBS), path=paths, query=queries, more=headers, body=bodies, version=st.booleans())
    def check(verb: str, path: str, query: list[Any], more: list[Any], body: bytes, version: bool) -> None:
        search = urlencode(query, errors="surrogatepass")
        target = path.replace("{task}", task_id) + (f"?{search}" if search else "")
        said = [("A2A-Version", "1.0"), *more] if version else more

        answer = api.http(event(verb, target, said, body, owner=""))

        check_shape(answer, rpc=not path.strip("/"))
        if verb == "HEAD":
            assert answer["body"] == ""

    check()


@pytest.mark.timeout(SECONDS)
def test_an_event_with_parts_missing_is_answered_in_shape(api: ApiBench) -> None:
    """API Gateway leaves members out, or null, where there is nothing to say."""
    whole = event("POST", "/message:send", [("A2A-Version", "1.0")], json.dumps(sending()).encode(), owner="")

    @settings(bounded, max_examples=EXAMPLES or 100)
    @given(
        left_out=st.sets(st.sampled_from(sorted(whole)), max_size=3),
        nulls=st.sets(st.sampled_from(sorted(whole)), max_size=3),
    )
    def check(left_out: set[str], nulls: set[str]) -> None:
        made = {name: None if name in nulls else value for name, value in whole.items() if name not in left_out}

        answer = api.http(made)

        assert answer["isBase64Encoded"] is False
        told = json.loads(answer["body"])
        assert "task" in told or told["error"]["message"]

    check()
