"""The same request over both bindings, as schemathesis makes it of the operations' schemas: the same answer.

Two worlds with the same time and the same names, one behind each binding, live through the same requests. EXAMPLES as
in test_properties_rest.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

from builders.api import HOOK, ApiBench, message
from builders.front_door import event
from herald.bindings import openapi, schemas
from herald.bindings.jsonrpc import METHODS
from herald.bindings.rest import ROUTES
from integration.both_bindings.examples import EXAMPLES, SECONDS, bounded, requests_of_operations

Json = dict[str, Any]

JSON = [("Content-Type", "application/json"), ("A2A-Version", "1.0")]


def over_rpc(api: ApiBench, operation: str, params: Json) -> Json:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": operation, "params": params}).encode()
    answer: Json = json.loads(api.http(event("POST", "/", JSON, body))["body"])
    if "result" in answer:
        return {"result": answer["result"] or {}}
    return {"message": answer["error"]["message"], "details": answer["error"]["data"]}


def over_rest(api: ApiBench, operation: str, params: Json) -> Json:
    route = next(route for route in ROUTES if route.operation == operation)
    rest = dict(params)
    path = re.sub(r"\{(\w+)\}", lambda found: quote(rest.pop(found[1]), safe=""), route.path)
    if route.method == "POST":
        sent = event("POST", path, JSON, json.dumps(rest).encode())
    else:
        said = {name: json.dumps(value) if isinstance(value, bool) else value for name, value in rest.items()}
        sent = event(route.method, f"{path}?{urlencode(said)}", JSON[1:])
    answer = api.http(sent)
    told: Json = json.loads(answer["body"])
    if answer["statusCode"] == 200:
        return {"result": told}
    return {"message": told["error"]["message"], "details": told["error"]["details"]}


def can_be_said_over_rest(operation: str, params: object) -> bool:
    """Whether a path and a query can say these params: they know text only, and no part of a path is empty."""
    if not isinstance(params, dict):
        return False
    route = next(route for route in ROUTES if route.operation == operation)
    first, *others = [params.get(name) for name in re.findall(r"\{(\w+)\}", route.path)] or [None]
    named = [first, *others] if "{" in route.path else []
    if not all(isinstance(name, str) and name and "/" not in name and name not in (".", "..") for name in named):
        return False
    if named and ":" in str(first):  # a verb's
        return False
    if route.method == "POST":
        return True
    fields = schemas.properties(openapi.SHAPES[operation].request)
    return all(_is_same_in_a_query(fields.get(name, {}).get("type"), value) for name, value in params.items())


def _is_same_in_a_query(kind: str | None, value: object) -> bool:
    """Whether a query can say this value of a field of that JSON type, and mean what it is in JSON."""
    if kind == "boolean":
        return isinstance(value, bool)
    return isinstance(value, str) or (kind == "integer" and type(value) is int)


@pytest.fixture
def worlds() -> tuple[ApiBench, ApiBench]:
    return ApiBench(auth="none"), ApiBench(auth="none")


@pytest.fixture(scope="module")
def requests() -> Any:
    return requests_of_operations()


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
@pytest.mark.parametrize("operation", [name for name in METHODS if openapi.SHAPES[name].result is not None])
def test_the_same_request_has_the_same_answer_over_both(
    worlds: tuple[ApiBench, ApiBench], requests: Any, operation: str, mode: GenerationMode
) -> None:
    one, other = worlds
    task_id = one.send("anonymous")["id"]
    assert other.send("anonymous")["id"] == task_id
    for api in worlds:
        api.call("CreateTaskPushNotificationConfig", {"taskId": task_id, "id": "c", "url": HOOK}, "anonymous")
    names = {member.name for member in openapi.SHAPES[operation].request.members}

    @settings(bounded, max_examples=EXAMPLES or 10)
    @given(case=requests[f"/{operation}"]["POST"].as_strategy(mode), there=st.booleans())
    def check(case: Any, there: bool) -> None:
        params = case.body
        if there and isinstance(params, dict):
            if "message" in names:
                params = {**params, "message": {**message(messageId="m2"), "taskId": task_id}}
            else:
                params = {**params, "taskId" if "taskId" in names else "id": task_id}
        if not can_be_said_over_rest(operation, params):
            return

        told = over_rpc(one, operation, params)

        assert over_rest(other, operation, params) == told

    check()
