"""API Gateway's events as they come (REST API, payload 1.0), each written out: shapes, encodings, addresses."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from builders.api import ApiBench
from herald.bindings.service import Service

Json = dict[str, Any]

MESSAGE = (
    '{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi é"}]},'
    '"configuration":{"returnImmediately":true}}'
)


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


def context(**members: Any) -> Json:
    return {
        "resourceId": "r1",
        "resourcePath": "/{proxy+}",
        "operationName": None,
        "extendedRequestId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
        "requestTime": "01/Jan/2026:00:00:00 +0000",
        "path": "/prod/message:send",
        "accountId": "123456789012",
        "protocol": "HTTP/1.1",
        "stage": "prod",
        "domainPrefix": "a1b2c3d4e5",
        "requestTimeEpoch": 1767225600000,
        "requestId": "0f1e2d3c-0000-4000-8000-000000000001",
        "identity": {"sourceIp": "198.51.100.7", "userAgent": "curl/8.5.0", "user": None},
        "domainName": "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com",
        "httpMethod": "POST",
        "apiId": "a1b2c3d4e5",
        "authorizer": {"principalId": "alice", "owner": "alice", "tenant": "", "integrationLatency": 12},
        **members,
    }


def event(**members: Any) -> Json:
    """A REST API's event for POST /message:send, with what API Gateway and CloudFront add to the headers."""
    whole: Json = {
        "resource": "/{proxy+}",
        "path": "/message:send",
        "httpMethod": "POST",
        "headers": {
            "Accept": "*/*",
            "CloudFront-Viewer-Country": "FR",
            "Content-Type": "application/json",
            "A2A-Version": "1.0",
            "Host": "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com",
            "User-Agent": "curl/8.5.0",
            "X-Amzn-Trace-Id": "Root=1-67748580-0123456789abcdef01234567",
            "X-Forwarded-For": "198.51.100.7, 203.0.113.9",
            "X-Forwarded-Port": "443",
            "X-Forwarded-Proto": "https",
        },
        "multiValueHeaders": {
            "Accept": ["*/*"],
            "CloudFront-Viewer-Country": ["FR"],
            "Content-Type": ["application/json"],
            "A2A-Version": ["1.0"],
            "Host": ["a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com"],
            "User-Agent": ["curl/8.5.0"],
            "X-Amzn-Trace-Id": ["Root=1-67748580-0123456789abcdef01234567"],
            "X-Forwarded-For": ["198.51.100.7, 203.0.113.9"],
            "X-Forwarded-Port": ["443"],
            "X-Forwarded-Proto": ["https"],
        },
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": {"proxy": "message:send"},
        "stageVariables": None,
        "requestContext": context(),
        "body": MESSAGE,
        "isBase64Encoded": False,
    }
    return {**whole, **members}


def get(path: str, **members: Any) -> Json:
    """A GET as API Gateway makes it of a path below the stage, percent-encoded as the client sent it."""
    first, _, rest = path.lstrip("/").partition("/")
    parameters = {"tenant": first, "proxy": rest} if rest else {"tenant": first}
    return event(
        **{
            "resource": "/{tenant}/{proxy+}" if rest else "/{tenant}",
            "path": path,
            "httpMethod": "GET",
            "pathParameters": parameters,
            "body": None,
            **members,
        }
    )


def told(answer: Json) -> tuple[int, str]:
    """Status and reason of a refusal in HTTP+JSON's shape."""
    error = json.loads(answer["body"])["error"]
    assert error["code"] == answer["statusCode"]
    return answer["statusCode"], error["details"][0]["reason"]


# ---- headers and queries, in one value or several ----

SINGLE = {"Content-Type": "application/json", "A2A-Version": "1.0"}
MANY = {"Content-Type": ["application/json"], "A2A-Version": ["1.0"]}


@pytest.mark.parametrize(
    "members",
    [
        {"headers": SINGLE, "multiValueHeaders": MANY},
        {"headers": SINGLE, "multiValueHeaders": None},
        {"headers": None, "multiValueHeaders": MANY},
        {"headers": {"content-type": "application/json"}, "multiValueHeaders": {"a2a-version": ["1.0"]}},
        {"headers": {"A2A-VERSION": "0.3"}, "multiValueHeaders": {"A2A-VERSION": ["1.0"]}},
        {"headers": SINGLE | {"X-Empty": None}, "multiValueHeaders": MANY | {"X-None": [], "X-Null": [None]}},
        {
            "headers": None,
            "multiValueHeaders": None,
            "queryStringParameters": {"A2A-Version": "1.0"},
            "multiValueQueryStringParameters": {"A2A-Version": ["1.0"]},
        },
    ],
    ids=["both", "single", "many", "split", "many first", "empty", "none"],
)
def test_headers_come_in_one_map_or_in_both(api: ApiBench, members: Json) -> None:
    answer = api.http(event(**members))

    assert (answer["statusCode"], "task" in json.loads(answer["body"])) == (200, True)


def test_a_request_without_any_header_speaks_0_3(api: ApiBench) -> None:
    assert told(api.http(event(headers=None, multiValueHeaders=None))) == (400, "VERSION_NOT_SUPPORTED")


@pytest.mark.parametrize(
    "more",
    [
        {"Host": ["a:b:c"]},
        {"Host": ["[::1]:8080"]},
        {"X-Forwarded-Port": ["443", "x"]},
        {"X-Forwarded-Port": ["443, 80"]},
        {"X-Forwarded-Proto": [""]},
        {"X-Garbage": ["\x00\x7fé漢\ud800"]},
        {"Ünïcode": ["x"]},
        {"Cookie": ["a=b", "c=d"]},
        {"Accept": ["\ud800"]},
        {"traceparent": ["00-é"]},
        {"X-Long": ["x" * 10_000]},
    ],
    ids=str,
)
def test_no_header_that_a_client_sends_breaks_anything(api: ApiBench, more: dict[str, list[str]]) -> None:
    given = event()
    given["multiValueHeaders"] |= more
    given["headers"] |= {name: values[-1] for name, values in more.items()}

    assert api.http(given)["statusCode"] == 200


@pytest.mark.parametrize(
    ("single", "many", "history"),
    [
        ({"historyLength": "0"}, {"historyLength": ["0"]}, 0),
        ({"historyLength": "0"}, None, 0),
        (None, {"historyLength": ["0"]}, 0),
        (None, {"historyLength": ["5", "0"]}, 0),
        ({"historyLength": "5"}, {"historyLength": ["0", "5"]}, 1),
        ({"other": ""}, {"other": [""]}, 1),
        ({}, {}, 1),
        (None, None, 1),
    ],
)
def test_of_a_query_parameter_the_last_value_counts(
    api: ApiBench, single: dict[str, str] | None, many: dict[str, list[str]] | None, history: int
) -> None:
    task_id = api.send()["id"]

    answer = api.http(get(f"/tasks/{task_id}", queryStringParameters=single, multiValueQueryStringParameters=many))

    assert len(json.loads(answer["body"]).get("history", [])) == history


@pytest.mark.parametrize(
    "value",
    [
        "ctx a",  # a plus or %20 of the client's: API Gateway has decoded it
        "ctx+a",  # %2B of the client's
        "ctx%20a",  # %2520 of the client's
        "a&b=c;d#e",
        "é漢",
        "",
    ],
)
def test_a_query_is_decoded_once_and_that_by_api_gateway(
    api: ApiBench, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(Service, "check_parameters", lambda _, request: seen.append(dict(request.query)))

    for single, many in (({"q": value}, {"q": [value]}), ({"q": value}, None), (None, {"q": [value]})):
        api.http(get("/tasks/t", queryStringParameters=single, multiValueQueryStringParameters=many))

    assert seen == [{"q": value}] * 3


# ---- addresses ----


@pytest.mark.parametrize(
    ("members", "requested"),
    [
        ({}, {}),
        ({"path": "/prod/message:send"}, {}),
        ({}, {"path": "/message:send"}),
        (
            {"path": "/agents/message:send"},
            {"path": "/agents/message:send", "domainName": "api.example.com", "domainPrefix": "api"},
        ),
        (
            {"path": "/prod/message:send"},
            {"path": "/prod/message:send", "domainName": "api.example.com", "domainPrefix": "api"},
        ),
        (
            {"resource": "/{tenant}", "pathParameters": {"tenant": "message:send"}},
            {"resourcePath": "/{tenant}"},
        ),
        (
            {"resource": "/{tenant}", "path": "/agents/message%3Asend", "pathParameters": {"tenant": "message%3Asend"}},
            {"path": "/agents/message%3Asend", "domainName": "api.example.com"},
        ),
    ],
    ids=["plain", "stage in the path", "no stage", "base path", "base path like the stage", "tenant", "encoded"],
)
def test_f4_the_path_is_found_below_stage_and_base_path(api: ApiBench, members: Json, requested: Json) -> None:
    answer = api.http(event(**members, requestContext=context(**requested)))

    assert (answer["statusCode"], "task" in json.loads(answer["body"])) == (200, True)


@pytest.mark.parametrize(
    ("path", "answered"),
    [
        ("/prod", (404, "METHOD_NOT_FOUND")),
        ("/production/x", (404, "METHOD_NOT_FOUND")),
        ("/prod/tasks/nope", (404, "TASK_NOT_FOUND")),  # a tenant that is named as the stage is
    ],
)
def test_f4_nothing_is_cut_off_that_only_looks_like_the_stage(path: str, answered: tuple[int, str]) -> None:
    api = ApiBench(auth="none")

    assert told(api.http(get(path))) == answered


@pytest.mark.parametrize(
    ("path", "answered"),
    [
        ("/tasks/a%20b", (404, "TASK_NOT_FOUND")),
        ("/tasks/a+b", (404, "TASK_NOT_FOUND")),
        ("/tasks/a%2Fb", (404, "TASK_NOT_FOUND")),
        ("/tasks/t%2FpushNotificationConfigs", (404, "TASK_NOT_FOUND")),
        ("/tasks%2Ft", (404, "METHOD_NOT_FOUND")),
        ("/tasks/%00", (404, "TASK_NOT_FOUND")),
        ("/tasks/a%0Ab", (404, "TASK_NOT_FOUND")),
        ("/tasks/%zz", (404, "TASK_NOT_FOUND")),
        ("/tasks/%", (404, "TASK_NOT_FOUND")),
        ("/tasks/%ff%fe", (404, "TASK_NOT_FOUND")),
        ("/tasks/%ED%A0%80", (404, "TASK_NOT_FOUND")),
        ("/tasks/\ud800", (404, "TASK_NOT_FOUND")),
        ("/tasks/é", (404, "TASK_NOT_FOUND")),
        ("/tasks/.", (404, "TASK_NOT_FOUND")),
        ("/tasks/..", (404, "TASK_NOT_FOUND")),
        ("/tasks/%2e%2e", (404, "TASK_NOT_FOUND")),
        ("/tasks/" + "x" * 8000, (404, "TASK_NOT_FOUND")),
        ("/../tasks/t", (404, "METHOD_NOT_FOUND")),
        ("/%2e/tasks/t", (404, "METHOD_NOT_FOUND")),
        ("/tasks//t", (404, "METHOD_NOT_FOUND")),
        ("/tasks/t//", (404, "METHOD_NOT_FOUND")),
        ("/a\nb", (404, "METHOD_NOT_FOUND")),
        ("/%0A", (404, "METHOD_NOT_FOUND")),
        ("/tasks/t:subscribe", (400, "UNSUPPORTED_OPERATION")),
        ("/tasks/t%3Asubscribe", (400, "UNSUPPORTED_OPERATION")),
        ("/tasks/t%3asubscribe", (400, "UNSUPPORTED_OPERATION")),
        ("/tasks/t%253Asubscribe", (404, "TASK_NOT_FOUND")),
        ("/tasks/t:cancel", (405, "METHOD_NOT_ALLOWED")),
        ("/tasks/t%3Acancel", (405, "METHOD_NOT_ALLOWED")),
        ("/tasks/t/pushNotificationConfigs/a%2Fb", (404, "TASK_NOT_FOUND")),
        ("/a%20b/tasks/t", (400, "INVALID_PARAMS")),
    ],
)
def test_a_path_is_decoded_once_by_segment_and_what_is_unknown_is_told_in_shape(
    api: ApiBench, path: str, answered: tuple[int, str]
) -> None:
    answer = api.http(get(path))

    assert told(answer) == answered
    assert answer["headers"]["content-type"] == "application/json"
    assert len(answer["body"]) < 1000


def test_a_percent_encoded_id_is_the_id(api: ApiBench) -> None:
    task_id = api.send()["id"]
    encoded = "".join(f"%{ord(letter):02X}" for letter in task_id)

    assert json.loads(api.http(get(f"/tasks/{encoded}"))["body"])["id"] == task_id


def test_a_webhooks_id_is_decoded_and_a_plus_in_it_is_a_plus(api: ApiBench) -> None:
    task_id = api.send()["id"]
    made = {"taskId": task_id, "id": "a+b:c%d", "url": "https://hooks.example.com/in"}
    api.call("CreateTaskPushNotificationConfig", made)

    answer = api.http(get(f"/tasks/{task_id}/pushNotificationConfigs/a+b%3Ac%25d"))

    assert json.loads(answer["body"]) == made


# ---- bodies ----


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"body": base64.b64encode(MESSAGE.encode()).decode(), "isBase64Encoded": True},
        {"isBase64Encoded": None},
    ],
    ids=["text", "base64", "unsaid"],
)
def test_a_body_comes_as_text_or_as_base64(api: ApiBench, members: Json) -> None:
    task = json.loads(api.http(event(**members))["body"])["task"]

    assert task["history"][0]["parts"] == [{"text": "hi é"}]


@pytest.mark.parametrize("members", [{"body": None}, {"body": ""}, {"body": "", "isBase64Encoded": True}])
def test_an_empty_body_is_null(api: ApiBench, members: Json) -> None:
    task_id = api.send()["id"]
    path = f"{task_id}:cancel"
    sent = event(
        resource="/{tenant}/{proxy+}",
        path=f"/tasks/{path}",
        pathParameters={"tenant": "tasks", "proxy": path},
        **members,
    )

    assert json.loads(api.http(sent)["body"])["status"]["state"] == "TASK_STATE_CANCELED"
    assert told(api.http(event(**members))) == (400, "INVALID_PARAMS")  # a message is required


def test_an_event_without_body_and_parameters_is_read(api: ApiBench) -> None:
    sent = event(httpMethod="GET")
    for name in (
        "body",
        "isBase64Encoded",
        "queryStringParameters",
        "multiValueQueryStringParameters",
        "stageVariables",
    ):
        del sent[name]

    assert told(api.http(sent)) == (405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("body", ['"\ud800"', "\udfff{", '{"message":"\ud83d"}'])
def test_half_a_pair_in_a_body_is_no_utf_8(api: ApiBench, body: str) -> None:
    answer = api.http(event(body=body))

    assert told(answer) == (400, "PARSE_ERROR")
    assert "UTF-8" in answer["body"]


def test_the_answer_has_the_shape_that_api_gateway_takes(api: ApiBench) -> None:
    answer = api.http(event())

    assert answer == {
        "statusCode": 200,
        "headers": {"content-type": "application/json"},
        "multiValueHeaders": {},
        "body": answer["body"],
        "isBase64Encoded": False,
    }
