"""The JSON-RPC envelope."""

from __future__ import annotations

import json
from typing import Any

import pytest

from builders.api import ApiBench, sending
from builders.events import rest_event

MISSING = object()


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


def post(api: ApiBench, body: object, **event: Any) -> dict[str, Any]:
    """Post to the endpoint; the response as Lambda gives it, its body parsed."""
    answer = api.http(rest_event("POST", "/", body, **event))
    return {**answer, "body": json.loads(answer["body"])}


def envelope(**members: Any) -> dict[str, Any]:
    whole = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}, **members}
    return {name: value for name, value in whole.items() if value is not MISSING}


@pytest.mark.parametrize(
    ("members", "code", "echoed"),
    [
        ({"jsonrpc": MISSING}, -32600, 1),
        ({"jsonrpc": "1.0"}, -32600, 1),
        ({"jsonrpc": 2.0}, -32600, 1),
        ({"id": {"a": 1}}, -32600, None),
        ({"id": [1]}, -32600, None),
        ({"id": True}, -32600, None),
        ({"id": MISSING}, -32600, None),
        ({"method": MISSING}, -32600, 1),
        ({"method": 5}, -32600, 1),
        ({"method": "message/send"}, -32601, 1),
        ({"method": "getTask"}, -32601, 1),
        ({"params": "x"}, -32602, 1),
        ({"params": [1]}, -32602, 1),
        ({"params": MISSING}, -32602, 1),
        ({"params": None}, -32602, 1),
        ({}, -32001, 1),
    ],
)
def test_a1_a2_a20_a_wrong_envelope_is_told_with_200_and_the_id_that_can_be_read(
    api: ApiBench, members: dict[str, Any], code: int, echoed: object
) -> None:
    answer = post(api, envelope(**members))

    assert answer["statusCode"] == 200
    assert answer["headers"]["content-type"] == "application/json"
    assert answer["body"]["error"]["code"] == code
    assert answer["body"]["id"] == echoed
    assert "result" not in answer["body"]


def test_a20_a_notification_runs_nothing(api: ApiBench) -> None:
    post(api, envelope(id=MISSING, method="SendMessage", params=sending()))

    assert not api.world.items


@pytest.mark.parametrize("text", ["[]", "5", '"x"', "null", '[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]'])
def test_what_is_no_object_is_no_request(api: ApiBench, text: str) -> None:
    body = post(api, text)["body"]

    assert (body["error"]["code"], body["id"]) == (-32600, None)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe{", b'{"a":NaN}', b'"\\ud800"', b"[" * 5000, b"1" * 5000], ids=repr
)
def test_a19_what_is_no_json_is_a_parse_error_with_200(api: ApiBench, body: bytes) -> None:
    answer = post(api, body, base64_body=True)

    assert answer["statusCode"] == 200
    assert answer["body"]["error"]["code"] == -32700
    assert answer["body"]["error"]["data"][0]["reason"] == "PARSE_ERROR"
    assert answer["body"]["id"] is None


@pytest.mark.parametrize("rpc_id", ["abc", "", 0, -7, 12345678901234567890123, None])
def test_a4_the_id_comes_back_as_it_was(api: ApiBench, rpc_id: object) -> None:
    body = post(api, envelope(id=rpc_id))["body"]

    assert body["id"] == rpc_id
    assert type(body["id"]) is type(rpc_id)


def test_a4_a_number_comes_back_digit_for_digit(api: ApiBench) -> None:
    answer = api.http(rest_event("POST", "/", '{"jsonrpc":"2.0","id":1.50,"method":"GetTask","params":{"id":"x"}}'))

    assert answer["body"].startswith('{"jsonrpc":"2.0","id":1.50,')


def test_a6_a_success_has_no_error_and_an_error_no_result(api: ApiBench) -> None:
    fine = post(api, envelope(method="SendMessage", params=sending()))["body"]
    wrong = post(api, envelope())["body"]

    assert set(fine) == {"jsonrpc", "id", "result"}
    assert set(fine["result"]) == {"task"}
    assert set(wrong) == {"jsonrpc", "id", "error"}


def test_a18_more_members_of_the_envelope_are_ignored(api: ApiBench) -> None:
    more = {"foo": 1, "result": None, "error": {"code": 1}, "auth": "x"}

    assert set(post(api, envelope(method="SendMessage", params=sending(), **more))["body"]) == {
        "jsonrpc",
        "id",
        "result",
    }


def test_of_a_member_that_comes_twice_the_last_one_counts(api: ApiBench) -> None:
    text = '{"jsonrpc":"1.0","jsonrpc":"2.0","id":1,"id":2,"method":"GetTask","params":{"id":"a","id":"b"}}'

    body = post(api, text)["body"]

    assert body["id"] == 2
    assert body["error"]["data"][0]["metadata"] == {"taskId": "b"}


@pytest.mark.parametrize("version", ["1.0", "2", "2.00", "", " 2.0", 2, 2.0, None, ["2.0"]])
def test_a2_another_json_rpc_is_no_request_and_keeps_its_id(api: ApiBench, version: object) -> None:
    answer = post(api, envelope(jsonrpc=version))

    assert (answer["statusCode"], answer["body"]["error"]["code"], answer["body"]["id"]) == (200, -32600, 1)
    assert answer["body"]["error"]["message"] == '"jsonrpc" must be "2.0".'


@pytest.mark.parametrize(
    "media_type",
    ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "application/a2a+json", ""],
)
def test_a5_f12_json_is_taken_and_answered_as_application_json(api: ApiBench, media_type: str) -> None:
    answer = post(api, envelope(method="SendMessage", params=sending()), headers={"Content-Type": media_type})

    assert "result" in answer["body"]
    assert answer["headers"]["content-type"] == "application/json"


def test_a5_f12_text_plain_is_refused_in_json(api: ApiBench) -> None:
    answer = post(api, envelope(), headers={"Content-Type": "text/plain"})

    assert answer["statusCode"] == 200
    assert answer["headers"]["content-type"] == "application/json"
    assert answer["body"]["error"]["code"] == -32005
    assert "application/json" in answer["body"]["error"]["message"]


@pytest.mark.parametrize("size", [4 * 1024 * 1024 + 1, 7_000_000])
def test_f11_a_body_above_4_mb_is_refused_clearly(api: ApiBench, size: int) -> None:
    answer = post(api, b" " * size)

    assert answer["statusCode"] == 413
    assert answer["body"]["error"]["data"][0]["reason"] == "REQUEST_TOO_LARGE"
    assert "4 MiB" in answer["body"]["error"]["message"]


def test_f11_a_body_of_4_mb_is_taken(api: ApiBench) -> None:
    text = json.dumps(envelope(method="SendMessage", params=sending()))

    assert "result" in post(api, text.ljust(4 * 1024 * 1024))["body"]


@pytest.mark.parametrize("shape", ["root", "proxy", "empty"])
def test_e18_the_endpoint_is_served_with_and_without_a_slash(api: ApiBench, shape: str) -> None:
    event = rest_event("POST", "/", envelope(method="SendMessage", params=sending()))
    if shape == "root":
        event |= {"resource": "/", "path": "/", "pathParameters": None}
    if shape == "empty":
        event |= {"resource": "/", "path": "", "pathParameters": None}

    answer = api.http(event)

    assert answer["statusCode"] == 200
    assert "result" in json.loads(answer["body"])


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_verbs_at_the_endpoint_are_refused_by_name_in_its_shape(api: ApiBench, method: str) -> None:
    answer = api.rest(method, "/")

    assert answer.status == 405
    assert answer.headers["allow"] == "POST"
    assert answer.headers["content-type"] == "application/json"
    assert answer.body == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {
            "code": -32600,
            "message": "Use POST at this path.",
            "data": [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "METHOD_NOT_ALLOWED",
                    "domain": "a2a-protocol.org",
                    "metadata": {"allow": "POST"},
                }
            ],
        },
    }


def test_head_at_the_endpoint_is_refused_without_a_body(api: ApiBench) -> None:
    answer = api.http(rest_event("HEAD", "/"))

    assert (answer["statusCode"], answer["headers"]["allow"], answer["body"]) == (405, "POST", "")


@pytest.mark.parametrize(
    "rpc_id",
    ["x" * 999, '"' * 500, "\u0001" * 200, float("1." + "1" * 17), 10**1000],
    ids=["long", "quotes", "controls", "float", "int"],
)
def test_an_id_is_at_most_1_000_characters_long_since_it_comes_back(api: ApiBench, rpc_id: object) -> None:
    body = post(api, envelope(id=rpc_id))["body"]

    assert (body["error"]["code"], body["id"]) in ((-32600, None), (-32001, rpc_id))
    assert (body["id"] is None) is (len(json.dumps(rpc_id)) > 1000)


def test_a_fault_after_the_envelope_was_read_keeps_the_id(
    api: ApiBench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("herald.bindings.service.Service.check_parameters", crash)

    answer = post(api, envelope(id="abc"))

    assert answer["statusCode"] == 200
    assert answer["body"] == {
        "jsonrpc": "2.0",
        "id": "abc",
        "error": {
            "code": -32603,
            "message": "Internal error",
            "data": [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "INTERNAL_ERROR",
                    "domain": "a2a-protocol.org",
                    "metadata": {"correlationId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"},
                }
            ],
        },
    }
    assert "secret" in caplog.text


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate, gzip"])
def test_a_compressed_body_is_refused_clearly(api: ApiBench, encoding: str) -> None:
    answer = post(api, envelope(), headers={"Content-Encoding": encoding})

    assert answer["statusCode"] == 200
    assert answer["body"]["error"]["data"][0]["reason"] == "UNSUPPORTED_MEDIA_TYPE"
    assert answer["body"]["error"]["message"] == "Content-Encoding isn't supported: send the JSON as it is."


def test_identity_is_no_encoding(api: ApiBench) -> None:
    assert (
        "result"
        in post(api, envelope(method="SendMessage", params=sending()), headers={"Content-Encoding": "Identity"})["body"]
    )
