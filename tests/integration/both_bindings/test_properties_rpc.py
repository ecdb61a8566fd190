"""JSON-RPC envelopes that hypothesis makes: valid ones, nearly valid ones and garbage, through the function's handler.

Every answer is JSON-RPC with the request's id, a result that fits its schema or an error of the table, and none is a
fault of ours. EXAMPLES as in test_properties_rest.
"""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode

from builders.api import HOOK, ApiBench, message
from builders.front_door import event
from herald.bindings import openapi, schemas
from herald.bindings.jsonrpc import METHODS
from integration.both_bindings.errors import ROWS
from integration.both_bindings.examples import EXAMPLES, SECONDS, bounded, requests_of_operations

Json = dict[str, Any]

HEADERS = [("Content-Type", "application/json"), ("A2A-Version", "1.0")]
CODES = {code for code, *_ in ROWS.values()}
OURS = {-32603, -32006}  # faults of ours, or the agent's

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)
rpc_ids = st.none() | st.integers() | st.text(max_size=20) | st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def api() -> ApiBench:
    return ApiBench(auth="none")


@pytest.fixture(scope="module")
def task_id(api: ApiBench) -> str:
    found: str = api.send("anonymous")["id"]
    api.call("CreateTaskPushNotificationConfig", {"taskId": found, "id": "c", "url": HOOK}, "anonymous")
    return found


def post(api: ApiBench, body: bytes) -> Json:
    answer = api.http(event("POST", "/", HEADERS, body))
    assert answer["statusCode"] in {200, 413, 429}
    assert answer["headers"]["content-type"] == "application/json"
    assert answer["isBase64Encoded"] is False
    found: Json = json.loads(answer["body"])
    assert found["jsonrpc"] == "2.0"
    assert found.keys() in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
    if "error" in found:
        error = found["error"]
        assert error.keys() == {"code", "message", "data"}
        assert error["code"] in CODES - OURS
        assert error["code"] == ROWS[error["data"][0]["reason"]][0]
        assert error["message"]
    return found


@pytest.fixture(scope="module")
def requests() -> Any:
    return requests_of_operations()


def fits(operation: str, result: object) -> None:
    """A result is what the operation's schema says."""
    kind = openapi.SHAPES[operation].result
    if operation == "DeleteTaskPushNotificationConfig":
        assert result is None
        return
    assert isinstance(kind, type), operation
    schema = {**schemas.reference(kind), "components": {"schemas": schemas.closure([kind])}}
    jsonschema.Draft202012Validator(schema).validate(result)


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("method", METHODS)
def test_a_valid_envelope_is_answered_with_its_id_and_a_result_that_fits(
    api: ApiBench, task_id: str, requests: Any, method: str
) -> None:
    @bounded
    @given(case=requests[f"/{method}"]["POST"].as_strategy(), rpc_id=rpc_ids, there=st.booleans())
    def check(case: Any, rpc_id: object, there: bool) -> None:
        assert isinstance(case.body, dict)
        params = _aimed(method, case.body, task_id) if there else case.body
        answer = post(api, json.dumps({"jsonrpc": "2.0", "id": rpc_id, "method": method, "params": params}).encode())

        assert answer["id"] == rpc_id
        if "result" in answer:
            fits(method, answer["result"])

    check()


def _aimed(method: str, params: Json, task_id: str) -> Json:
    names = {member.name for member in openapi.SHAPES[method].request.members}
    if "taskId" in names:
        return {**params, "taskId": task_id}
    if "id" in names:
        return {**params, "id": task_id}
    if "message" in names:
        return {**params, "message": {**message(), "taskId": task_id}}
    return params


def _is_sent(case: Any) -> bool:
    return isinstance(case.body, bytes | str | int | float | list | dict | None)


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("method", METHODS)
def test_params_that_do_not_fit_are_answered_in_shape(api: ApiBench, requests: Any, method: str) -> None:
    @bounded
    @given(case=requests[f"/{method}"]["POST"].as_strategy(GenerationMode.NEGATIVE).filter(_is_sent))
    def check(case: Any) -> None:
        # Some of them are no JSON at all; then there is no id that could be read.
        raw = case.body if isinstance(case.body, bytes) else json.dumps(case.body).encode()
        envelope = b'{"jsonrpc":"2.0","id":"n","method":"%s","params":%s}' % (method.encode(), raw)

        answer = post(api, envelope)

        assert answer["id"] == "n" or answer["error"]["code"] == -32700

    check()


VALID = {
    "SendMessage": {"message": message(), "configuration": {"returnImmediately": True, "historyLength": 1}},
    "GetTask": {"id": "{task}", "historyLength": 1},
    "ListTasks": {"pageSize": 2, "status": "TASK_STATE_SUBMITTED", "contextId": "c"},
    "CancelTask": {"id": "nope", "metadata": {}},
    "CreateTaskPushNotificationConfig": {
        "taskId": "{task}",
        "id": "c",
        "url": HOOK,
        "token": "t",
        "authentication": {"scheme": "Bearer", "credentials": "x"},
    },
    "ListTaskPushNotificationConfigs": {"taskId": "{task}", "pageSize": 1},
    "GetTaskPushNotificationConfig": {"taskId": "{task}", "id": "c"},
}


def _places(value: object, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, member in inner for place in _places(member, (*at, key)))]


@st.composite
def spoiled(draw: st.DrawFn) -> Any:
    """A valid envelope with one or two places of it changed, left out, doubled or misspelled."""
    method = draw(st.sampled_from(sorted(VALID)))
    whole: Any = {"jsonrpc": "2.0", "id": 1, "method": method, "params": json.loads(json.dumps(VALID[method]))}
    for _ in range(draw(st.integers(1, 2))):
        place: tuple[Any, ...] = draw(st.sampled_from(_places(whole)))
        *above, last = ("", *place)
        holder: Any = {"": whole}
        for step in above:
            holder = holder[step]
        match draw(st.sampled_from(["change", "leave out", "wrap", "misspell"])):
            case "change":
                holder[last] = draw(values)
            case "leave out" if last != "":
                del holder[last]
            case "wrap":
                holder[last] = draw(st.sampled_from([[holder[last]], {"x": holder[last]}, str(holder[last])]))
            case "misspell" if isinstance(holder, dict) and last != "":
                holder[draw(st.sampled_from([str(last).upper(), f"{last}_", f"_{last}"]))] = holder.pop(last)
        whole = holder[""] if last == "" else whole
        if not isinstance(whole, dict):
            break
    return whole


@pytest.mark.timeout(SECONDS)
def test_a_nearly_valid_envelope_is_answered_in_shape(api: ApiBench, task_id: str) -> None:
    @settings(bounded, max_examples=EXAMPLES or 200)
    @given(whole=spoiled())
    def check(whole: Any) -> None:
        answer = post(api, json.dumps(whole).replace("{task}", task_id).encode())

        if isinstance(whole, dict) and whole.get("id") == 1 and whole["id"] is not True:
            assert answer["id"] == 1

    check()


@pytest.mark.timeout(SECONDS)
def test_garbage_is_answered_in_shape(api: ApiBench) -> None:
    text = st.text().map(str.encode)
    cut = values.map(json.dumps).map(lambda told: told[: len(told) // 2].encode())
    envelopes = st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params"]), values).map(json.dumps)

    @settings(bounded, max_examples=EXAMPLES or 100)
    @given(body=st.binary() | text | cut | values.map(json.dumps).map(str.encode) | envelopes.map(str.encode))
    def check(body: bytes) -> None:
        assert "error" in post(api, body)

    check()
