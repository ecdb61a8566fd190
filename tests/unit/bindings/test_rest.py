"""The HTTP+JSON binding: routes, tenants, media types."""

from __future__ import annotations

import pytest

from builders.api import HOOK, ApiBench, sending
from herald.bindings.rest import ROUTES, match
from herald.protocol.errors import InvalidParamsError, MethodNotAllowedError, MethodNotFoundError
from herald.protocol.requests import ListTasksRequest

A2A = {"Content-Type": "application/a2a+json"}


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


@pytest.mark.parametrize(
    ("method", "path", "operation", "fields"),
    [
        ("POST", "/message:send", "SendMessage", {}),
        ("POST", "/message:send/", "SendMessage", {}),
        ("POST", "/acme/message:send", "SendMessage", {"tenant": "acme"}),
        ("POST", "/message:stream", "SendStreamingMessage", {}),
        ("GET", "/tasks", "ListTasks", {}),
        ("GET", "/tasks/", "ListTasks", {}),
        ("GET", "/acme/tasks", "ListTasks", {"tenant": "acme"}),
        ("GET", "/tasks/T", "GetTask", {"id": "T"}),
        ("GET", "/acme/tasks/T", "GetTask", {"tenant": "acme", "id": "T"}),
        ("GET", "/tasks/tasks", "GetTask", {"id": "tasks"}),
        ("POST", "/tasks/T:cancel", "CancelTask", {"id": "T"}),
        ("POST", "/acme/tasks/T:cancel", "CancelTask", {"tenant": "acme", "id": "T"}),
        ("POST", "/tasks/T:subscribe", "SubscribeToTask", {"id": "T"}),
        ("GET", "/tasks/T:subscribe", "SubscribeToTask", {"id": "T"}),
        ("POST", "/acme/tasks/T:subscribe", "SubscribeToTask", {"tenant": "acme", "id": "T"}),
        ("GET", "/acme/tasks/T:subscribe", "SubscribeToTask", {"tenant": "acme", "id": "T"}),
        ("POST", "/tasks/T/pushNotificationConfigs", "CreateTaskPushNotificationConfig", {"taskId": "T"}),
        ("GET", "/tasks/T/pushNotificationConfigs/", "ListTaskPushNotificationConfigs", {"taskId": "T"}),
        ("GET", "/tasks/T/pushNotificationConfigs/c:1", "GetTaskPushNotificationConfig", {"taskId": "T", "id": "c:1"}),
        (
            "DELETE",
            "/acme/tasks/T/pushNotificationConfigs/c",
            "DeleteTaskPushNotificationConfig",
            {"tenant": "acme", "taskId": "T", "id": "c"},
        ),
        ("GET", "/extendedAgentCard", "GetExtendedAgentCard", {}),
        ("GET", "/acme/extendedAgentCard", "GetExtendedAgentCard", {"tenant": "acme"}),
    ],
)
def test_d1_a_path_has_its_operation(method: str, path: str, operation: str, fields: dict[str, str]) -> None:
    found = match(method, path)

    assert found.route.operation == operation
    assert found.fields == fields


@pytest.mark.parametrize(
    "path",
    [
        "/nope",
        "/acme",
        "/tasks/T:explode",
        "/tasks/T:cancel/x",
        "/tasks/T/U",
        "/tasks/message:send",
        "/message:send/message:send",
        "/message:send/tasks/T",
        "/extendedAgentCard/tasks/T",
        "/.well-known/tasks",
        "/.well-known/jwks.json",
        "/openapi.json/tasks",
        "/a/b/tasks/T",
        "//tasks/T",
        "/./tasks/T",
        "/../tasks/T",
        "/openapi.json/tasks/T",
        "/v1/message:send/x",
        "/Tasks",
    ],
)
def test_a_fixed_path_is_never_taken_for_a_tenant_and_what_is_unknown_is_not_found(path: str) -> None:
    with pytest.raises(MethodNotFoundError):
        match("POST" if "message" in path else "GET", path)


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/message:send", "POST"),
        ("DELETE", "/tasks/T", "GET"),
        ("GET", "/tasks/T:cancel", "POST"),
        ("PUT", "/acme/tasks/T:subscribe", "GET, POST"),
        ("PATCH", "/tasks/T/pushNotificationConfigs", "GET, POST"),
    ],
)
def test_a_wrong_verb_is_told_the_right_ones(api: ApiBench, method: str, path: str, allow: str) -> None:
    with pytest.raises(MethodNotAllowedError):
        match(method, path)
    answer = api.rest(method, path)

    assert (answer.status, answer.headers["allow"]) == (405, allow)
    assert answer.reason == "METHOD_NOT_ALLOWED"


def test_a_gateways_404_is_never_mistaken_for_an_unknown_task(api: ApiBench) -> None:
    answer = api.rest("GET", "/v2/nothing/here", headers={"Content-Type": ""})

    assert answer.status == 404
    assert answer.reason == "METHOD_NOT_FOUND"
    assert answer.headers["content-type"] == "application/a2a+json"
    assert answer.body["error"]["status"] == "NOT_FOUND"


def test_each_route_is_served_below_a_tenant() -> None:
    for route in ROUTES:
        path = route.path.replace("{", "").replace("}", "")
        assert match(route.method, f"/acme{path}").fields["tenant"] == "acme"


# ---- path, query and body ----


def test_a_percent_encoded_colon_is_a_colon(api: ApiBench) -> None:
    task_id = api.send()["id"]

    assert api.rest("POST", f"/tasks/{task_id}%3Acancel").body["status"]["state"] == "TASK_STATE_CANCELED"


@pytest.mark.parametrize("body", [None, "", {}, "same", {"id": "", "metadata": {"a": 1}}])
def test_the_body_of_a_cancel_may_be_empty_or_the_whole_request(api: ApiBench, body: object) -> None:
    task_id = api.send(tenant="acme")["id"]
    sent = {"id": task_id, "tenant": "acme"} if body == "same" else body

    answer = api.rest("POST", f"/acme/tasks/{task_id}:cancel", sent, tenant="acme")

    assert answer.body["status"]["state"] == "TASK_STATE_CANCELED"


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/acme/message:send", {**sending(), "tenant": "other"}, "tenant"),
        ("/tasks/T:cancel", {"id": "U"}, "id"),
        ("/tasks/T/pushNotificationConfigs", {"taskId": "U", "url": HOOK}, "taskId"),
        ("/tasks/T/pushNotificationConfigs", {"task_id": "U", "url": HOOK}, "taskId"),
    ],
)
def test_a_body_that_says_otherwise_than_the_path_is_refused(
    api: ApiBench, path: str, body: dict[str, object], field: str
) -> None:
    answer = api.rest("POST", path, body)

    assert (answer.status, answer.reason) == (400, "INVALID_PARAMS")
    assert answer.body["error"]["details"][1]["fieldViolations"][0]["field"] == field


def test_a_query_that_says_otherwise_than_the_path_is_refused(api: ApiBench) -> None:
    assert api.rest("GET", "/acme/tasks/T", query={"tenant": "other"}).status == 400


def test_query_parameters_are_the_requests_fields(api: ApiBench) -> None:
    task_id = api.send()["id"]

    assert "history" not in api.rest("GET", f"/tasks/{task_id}", query={"historyLength": "0"}).body


@pytest.mark.parametrize("body", ["[]", "5", '"x"', "null"])
def test_a_body_that_is_no_object_is_refused(api: ApiBench, body: str) -> None:
    answer = api.rest("POST", "/message:send", body)

    assert (answer.status, answer.reason) == (400, "INVALID_PARAMS")


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe{"])
def test_a19_a_body_that_is_no_json_is_a_parse_error(api: ApiBench, body: bytes) -> None:
    answer = api.rest("POST", "/message:send", body, base64_body=True)

    assert (answer.status, answer.reason) == (400, "PARSE_ERROR")


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ({"includeArtifacts": "true"}, None),
        ({"include_artifacts": "false"}, None),
        ({"contextId": "true"}, None),  # a text stays one
        ({"includeArtifacts": "TRUE"}, "includeArtifacts"),
        ({"includeArtifacts": "1"}, "includeArtifacts"),
        ({"includeArtifacts": ""}, "includeArtifacts"),
        ({"pageSize": ""}, "pageSize"),
        ({"pageSize": "5 "}, "pageSize"),
        ({"status": ""}, "status"),
        ({"status": "foo"}, "status"),
        ({"status": "2"}, None),  # an enum's number is a text in a query
        ({"status": "0"}, "status"),
        ({"status": "02"}, "status"),
    ],
)
def test_a16_a_query_has_the_types_of_the_requests_fields(query: dict[str, str], wrong: str | None) -> None:
    try:
        ListTasksRequest.parse(ListTasksRequest.from_query(query))
        told = None
    except InvalidParamsError as error:
        told = error.violations[0].field

    assert told == wrong


# ---- media types ----


@pytest.mark.parametrize(
    ("headers", "answered"),
    [
        ({"Content-Type": "application/a2a+json"}, "application/a2a+json"),
        ({"Content-Type": "application/a2a+json; charset=utf-8"}, "application/a2a+json"),
        ({"Content-Type": "application/json"}, "application/json"),
        ({"Content-Type": "Application/JSON; charset=UTF-8"}, "application/json"),
        ({"Content-Type": ""}, "application/a2a+json"),
        ({"Content-Type": "", "Accept": "application/json"}, "application/json"),
        ({"Content-Type": "", "Accept": "*/*"}, "application/a2a+json"),
    ],
)
def test_e16_f12_answers_are_in_kind_and_a2a_json_otherwise(
    api: ApiBench, headers: dict[str, str], answered: str
) -> None:
    fine = api.rest("POST", "/message:send", sending(), headers=headers)
    wrong = api.rest("POST", "/message:send", {}, headers=headers)

    assert (fine.status, fine.headers["content-type"]) == (200, answered)
    assert (wrong.status, wrong.headers["content-type"]) == (400, answered)


@pytest.mark.parametrize("media_type", ["text/plain", "application/xml", "multipart/form-data; boundary=x"])
def test_f12_another_media_type_is_refused_clearly(api: ApiBench, media_type: str) -> None:
    answer = api.rest("POST", "/message:send", sending(), headers={"Content-Type": media_type})

    assert (answer.status, answer.reason) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert answer.headers["content-type"] == "application/a2a+json"
    assert "application/a2a+json" in answer.body["error"]["message"]


def test_f11_a_body_above_4_mb_is_refused(api: ApiBench) -> None:
    answer = api.rest("POST", "/message:send", b" " * 7_000_000, headers=A2A)

    assert (answer.status, answer.reason) == (413, "REQUEST_TOO_LARGE")


def test_a_service_that_does_not_answer_says_when_to_come_back(api: ApiBench) -> None:
    from herald.ports import Unavailable

    api.log.fail_next("create", Unavailable("x"))

    assert api.rest("POST", "/message:send", sending()).headers["retry-after"] == "1"
