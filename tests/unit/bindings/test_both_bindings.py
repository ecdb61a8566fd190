"""Each operation and each error, over both bindings."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from builders.api import HOOK, ApiBench, message, sending
from builders.events import rest_event, rpc_event
from herald.bindings import errors
from herald.bindings.jsonrpc import METHODS
from herald.bindings.rest import ROUTES
from herald.operations.call import Limits
from herald.ports import Unavailable
from herald.protocol.errors import A2AError
from herald.protocol.states import TaskState

Json = dict[str, Any]

INFO = "type.googleapis.com/google.rpc.ErrorInfo"
BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"


@dataclass(frozen=True)
class Reply:
    """What a client gets, whatever the binding: a result, or code or status, reason, message and details."""

    result: Any = None
    code: int = 0
    message: str = ""
    details: tuple[Json, ...] = ()

    @property
    def reason(self) -> str:
        return str(self.details[0]["reason"])

    @property
    def fields(self) -> list[str]:
        return [each["field"] for each in self.details[1]["fieldViolations"]] if len(self.details) > 1 else []


class Client(Protocol):
    name: str

    def __call__(self, api: ApiBench, operation: str, params: Json, **event: Any) -> Reply: ...


class RpcClient:
    name = "JSON-RPC"

    def __call__(self, api: ApiBench, operation: str, params: Json, **event: Any) -> Reply:
        answer = api.rpc(operation, params, **event)
        assert answer["jsonrpc"] == "2.0"
        assert answer["id"] == 1
        if "error" in answer:
            assert "result" not in answer
            error = answer["error"]
            assert isinstance(error["data"], list)
            return Reply(None, error["code"], error["message"], tuple(error["data"]))
        return Reply(answer["result"])


PATHS: dict[str, Callable[[Json], tuple[str, str]]] = {
    "SendMessage": lambda _: ("POST", "/message:send"),
    "SendStreamingMessage": lambda _: ("POST", "/message:stream"),
    "GetTask": lambda p: ("GET", f"/tasks/{p['id']}"),
    "ListTasks": lambda _: ("GET", "/tasks"),
    "CancelTask": lambda p: ("POST", f"/tasks/{p['id']}:cancel"),
    "SubscribeToTask": lambda p: ("POST", f"/tasks/{p['id']}:subscribe"),
    "CreateTaskPushNotificationConfig": lambda p: ("POST", f"/tasks/{p['taskId']}/pushNotificationConfigs"),
    "ListTaskPushNotificationConfigs": lambda p: ("GET", f"/tasks/{p['taskId']}/pushNotificationConfigs"),
    "GetTaskPushNotificationConfig": lambda p: (
        "GET",
        f"/tasks/{p['taskId']}/pushNotificationConfigs/{p['id']}",
    ),
    "DeleteTaskPushNotificationConfig": lambda p: (
        "DELETE",
        f"/tasks/{p['taskId']}/pushNotificationConfigs/{p['id']}",
    ),
    "GetExtendedAgentCard": lambda _: ("GET", "/extendedAgentCard"),
}


class RestClient:
    name = "HTTP+JSON"

    def __call__(self, api: ApiBench, operation: str, params: Json, **event: Any) -> Reply:
        method, path = PATHS[operation](params)
        if method == "POST":
            answer = api.rest(method, path, params, **event)
        else:
            query = {name: str(value) for name, value in params.items() if f"/{value}" not in path}
            answer = api.rest(method, path, query=query or None, **event)
        if answer.status == 200:
            return Reply(answer.body)
        error = answer.body["error"]
        assert error["code"] == answer.status
        return Reply(None, answer.status, error["message"], tuple(error["details"]))


@pytest.fixture(params=[RpcClient(), RestClient()], ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    found: Client = request.param
    return found


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


# ---- operations ----


def test_send_get_cancel(api: ApiBench, client: Client) -> None:
    task = client(api, "SendMessage", sending()).result["task"]

    assert task["status"]["state"] == "TASK_STATE_SUBMITTED"
    assert client(api, "GetTask", {"id": task["id"]}).result == task
    assert "history" not in client(api, "GetTask", {"id": task["id"], "historyLength": 0}).result
    assert client(api, "CancelTask", {"id": task["id"]}).result["status"]["state"] == "TASK_STATE_CANCELED"


def test_webhooks(api: ApiBench, client: Client) -> None:
    task_id = client(api, "SendMessage", sending()).result["task"]["id"]
    config = {"id": "c:1", "taskId": task_id, "url": HOOK}

    assert client(api, "CreateTaskPushNotificationConfig", config).result == config
    assert client(api, "GetTaskPushNotificationConfig", {"taskId": task_id, "id": "c:1"}).result == config
    assert client(api, "ListTaskPushNotificationConfigs", {"taskId": task_id}).result == {"configs": [config]}
    deleted = client(api, "DeleteTaskPushNotificationConfig", {"taskId": task_id, "id": "c:1"}).result
    assert deleted == (None if client.name == "JSON-RPC" else {})
    assert client(api, "ListTaskPushNotificationConfigs", {"taskId": task_id}).result == {}


def test_both_bindings_meet_the_same_task(api: ApiBench) -> None:
    task = api.rpc("SendMessage", sending())["result"]["task"]

    assert api.rest("GET", f"/tasks/{task['id']}").body == task


def test_snake_case_is_taken_too(api: ApiBench, client: Client) -> None:
    request = {
        "message": {"message_id": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}], "context_id": "c"},
        "configuration": {"return_immediately": True, "history_length": 0},
    }

    task = client(api, "SendMessage", request).result["task"]

    assert task["contextId"] == "c"
    assert "history" not in task


def test_e8_unknown_members_are_ignored(api: ApiBench, client: Client) -> None:
    assert "task" in client(api, "SendMessage", {**sending(), "foo": 1}).result


# ---- errors ----

SENT_TASK = "{task}"
INVALID_PARAMS = (-32602, 400, "INVALID_PARAMS")
UNSUPPORTED = (-32004, 400, "UNSUPPORTED_OPERATION")
NOT_FOUND = (-32001, 404, "TASK_NOT_FOUND")

# operation, params, (JSON-RPC code, HTTP status, reason), fields at fault
ERRORS: dict[str, tuple[str, Json, tuple[int, int, str], list[str]]] = {
    "a7 unknown task": ("GetTask", {"id": "nope"}, NOT_FOUND, []),
    "a8 no parts": ("SendMessage", {"message": message() | {"parts": []}}, INVALID_PARAMS, ["message.parts"]),
    "a8 no messageId": (
        "SendMessage",
        {"message": {"role": "ROLE_USER", "parts": [{"text": "x"}]}},
        INVALID_PARAMS,
        ["message.messageId"],
    ),
    "wrong role": ("SendMessage", {"message": message(role="ROLE_AGENT")}, INVALID_PARAMS, ["message.role"]),
    "no message": ("SendMessage", {}, INVALID_PARAMS, ["message"]),
    "two contents": (
        "SendMessage",
        {"message": message() | {"parts": [{"text": "x", "url": "y"}]}},
        INVALID_PARAMS,
        ["message.parts[0]"],
    ),
    "a24 negative history": ("GetTask", {"id": "t", "historyLength": -1}, INVALID_PARAMS, ["historyLength"]),
    "history that is no number": ("GetTask", {"id": "t", "historyLength": "x"}, INVALID_PARAMS, ["historyLength"]),
    "b3 own task id": ("SendMessage", {"message": message(taskId="nope")}, NOT_FOUND, []),
    "cancel of an unknown task": ("CancelTask", {"id": "nope"}, NOT_FOUND, []),
    "c20 not a url": (
        "CreateTaskPushNotificationConfig",
        {"taskId": SENT_TASK, "url": "not a url"},
        INVALID_PARAMS,
        ["url"],
    ),
    "c5 line break in credentials": (
        "CreateTaskPushNotificationConfig",
        {
            "taskId": SENT_TASK,
            "url": HOOK,
            "authentication": {"scheme": "Bearer", "credentials": "a\r\nX-Evil: 1"},
        },
        INVALID_PARAMS,
        ["authentication.credentials"],
    ),
    "c6 metadata address inline": (
        "SendMessage",
        {
            "message": message(),
            "configuration": {"taskPushNotificationConfig": {"url": "https://169.254.169.254/"}},
        },
        INVALID_PARAMS,
        ["configuration.taskPushNotificationConfig.url"],
    ),
    "unknown config": ("GetTaskPushNotificationConfig", {"taskId": SENT_TASK, "id": "nope"}, NOT_FOUND, []),
    "a tenant that is no name": ("GetTask", {"id": "t", "tenant": "a b"}, INVALID_PARAMS, ["tenant"]),
    "d7 streaming": ("SendStreamingMessage", sending(), UNSUPPORTED, []),
    "d7 subscribing": ("SubscribeToTask", {"id": SENT_TASK}, UNSUPPORTED, []),
    "a16 an unknown state": ("ListTasks", {"status": "working"}, INVALID_PARAMS, ["status"]),
    "e7 an empty page": ("ListTasks", {"pageSize": 0}, INVALID_PARAMS, ["pageSize"]),
    "e7 too large a page": ("ListTasks", {"pageSize": 101}, INVALID_PARAMS, ["pageSize"]),
    "a token that never was": ("ListTasks", {"pageToken": "garbage"}, INVALID_PARAMS, ["pageToken"]),
    "e23 extended card": ("GetExtendedAgentCard", {}, UNSUPPORTED, []),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_has_its_code_reason_and_fields(api: ApiBench, client: Client, name: str) -> None:
    operation, params, (code, status, reason), fields = ERRORS[name]
    task_id = api.send()["id"]
    params = {key: task_id if value == SENT_TASK else value for key, value in params.items()}

    reply = client(api, operation, params)

    assert reply.code == (code if client.name == "JSON-RPC" else status)
    assert reply.details[0]["@type"] == INFO
    assert reply.details[0]["domain"] == "a2a-protocol.org"
    assert reply.reason == reason
    assert reply.fields == fields
    assert reply.message


@pytest.mark.parametrize(
    ("state", "operation", "code"),
    [
        (TaskState.COMPLETED, "CancelTask", (-32002, 400, "TASK_NOT_CANCELABLE")),
        (TaskState.CANCELED, "CancelTask", (-32002, 400, "TASK_NOT_CANCELABLE")),
        (TaskState.COMPLETED, "SendMessage", UNSUPPORTED),
    ],
)
def test_a1_b6_b11_e15_a_tasks_state_decides(
    api: ApiBench, client: Client, state: TaskState, operation: str, code: tuple[int, int, str]
) -> None:
    task_id = api.send()["id"]
    api.put_status(api.ref(task_id), state)
    params = {"id": task_id} if operation == "CancelTask" else sending(taskId=task_id, messageId="m2")

    reply = client(api, operation, params)

    assert reply.code == code[0 if client.name == "JSON-RPC" else 1]
    assert reply.reason == code[2]
    assert reply.details[0]["metadata"] == {"taskId": task_id, "state": state.value}


def test_a7_the_extras_of_an_error_are_an_array_of_typed_objects_with_error_info_first(
    api: ApiBench, client: Client
) -> None:
    unknown = client(api, "GetTask", {"id": "nope"})
    wrong = client(api, "GetTask", {"id": "t", "historyLength": -1})

    assert unknown.details == (
        {"@type": INFO, "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org", "metadata": {"taskId": "nope"}},
    )
    assert wrong.details == (
        {"@type": INFO, "reason": "INVALID_PARAMS", "domain": "a2a-protocol.org"},
        {"@type": BAD_REQUEST, "fieldViolations": [{"field": "historyLength", "description": "must be at least 0"}]},
    )


@pytest.mark.parametrize("version", ["", "0.3", "2.0", "1.1", "1.0.x", "1.0beta"])
def test_a_version_that_is_not_ours_is_refused(api: ApiBench, client: Client, version: str) -> None:
    reply = client(api, "GetTask", {"id": "t"}, headers={"A2A-Version": version})

    assert reply.code == (-32009 if client.name == "JSON-RPC" else 400)
    assert reply.reason == "VERSION_NOT_SUPPORTED"


@pytest.mark.parametrize("version", ["", "0.3"])
def test_c17_0_3_is_not_offered_so_no_webhook_is_registered_over_it(
    api: ApiBench, client: Client, version: str
) -> None:
    task_id = api.send()["id"]
    before = dict(api.world.items)
    config = {"taskId": task_id, "id": "c", "url": HOOK}
    inline = sending(messageId="m2", config={"taskPushNotificationConfig": {"url": HOOK}})

    refused = [
        client(api, operation, params, headers={"A2A-Version": version})
        for operation, params in (("CreateTaskPushNotificationConfig", config), ("SendMessage", inline))
    ]

    assert [reply.reason for reply in refused] == ["VERSION_NOT_SUPPORTED"] * 2
    assert api.world.items == before
    card = api.rest("GET", "/.well-known/agent-card.json").body
    assert [offered["protocolVersion"] for offered in card["supportedInterfaces"]] == ["1.0", "1.0"]


@pytest.mark.parametrize(
    ("operation", "params"), [("SendStreamingMessage", sending()), ("SubscribeToTask", {"id": "t"})]
)
def test_d7_a_stream_is_refused_as_json_to_a_client_that_accepts_events(
    api: ApiBench, operation: str, params: Json
) -> None:
    accepts = {"Accept": "text/event-stream"}
    method, path = PATHS[operation](params)

    rpc = api.http(rpc_event(operation, params, headers=accepts))
    rest = api.rest(method, path, params, headers=accepts)

    assert (rpc["statusCode"], rpc["headers"]["content-type"]) == (200, "application/json")
    assert json.loads(rpc["body"])["error"]["code"] == -32004
    assert (rest.status, rest.headers["content-type"]) == (400, "application/json")
    assert rest.reason == "UNSUPPORTED_OPERATION"
    assert api.rest("GET", "/.well-known/agent-card.json").body["capabilities"]["streaming"] is False


@pytest.mark.parametrize(
    "event",
    [
        {"headers": {"A2A-Version": "1.0.7"}},
        {"headers": {"A2A-Version": "", "a2a-version": "1.0"}},
        {"headers": {"A2A-Version": ""}, "query": {"A2A-Version": "1.0"}},
    ],
)
def test_a_version_may_be_said_in_three_ways(api: ApiBench, event: Json) -> None:
    task_id = api.send()["id"]

    assert api.rpc("GetTask", {"id": task_id}, **event)["result"]["id"] == task_id
    assert api.rest("GET", f"/tasks/{task_id}", **event).status == 200


def test_without_the_capability_webhooks_are_not_supported(client: Client) -> None:
    api = ApiBench(limits=Limits(push_notifications=False))

    reply = client(api, "ListTaskPushNotificationConfigs", {"taskId": "t"})

    assert reply.code == (-32003 if client.name == "JSON-RPC" else 400)
    assert reply.reason == "PUSH_NOTIFICATION_NOT_SUPPORTED"


def test_a_store_that_does_not_answer_is_unavailable(api: ApiBench, client: Client) -> None:
    api.log.fail_next("create", Unavailable("TransactWriteItems: ThrottlingException"))

    reply = client(api, "SendMessage", sending())

    assert reply.code == (-32603 if client.name == "JSON-RPC" else 503)
    assert reply.reason == "UNAVAILABLE"
    assert "Throttling" not in str(reply)


def test_e24_a_fault_of_ours_tells_nothing_but_where_to_look(
    api: ApiBench, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    api.log.fail_next("create", RuntimeError("secret"))

    reply = client(api, "SendMessage", sending())

    assert reply.code == (-32603 if client.name == "JSON-RPC" else 500)
    assert reply.message == "Internal error"
    assert "secret" not in str(reply)
    assert reply.details[0]["metadata"] == {"correlationId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"}
    assert "secret" in caplog.text


def test_e23_nobody_is_told_to_authenticate(api: ApiBench) -> None:
    rpc = api.http(_unsigned(api, rpc=True))
    rest = api.http(_unsigned(api, rpc=False))

    assert rpc["statusCode"] == rest["statusCode"] == 401
    assert rpc["headers"]["www-authenticate"] == 'Bearer realm="herald"'
    assert '"reason":"UNAUTHENTICATED"' in rpc["body"]
    assert '"reason":"UNAUTHENTICATED"' in rest["body"]


def _unsigned(api: ApiBench, *, rpc: bool) -> Json:
    return rpc_event("GetTask", {"id": "t"}, owner="") if rpc else rest_event("GET", "/tasks/t", owner="")


def test_auth_mode_none_is_one_owner() -> None:
    api = ApiBench(auth="none")

    task = api.rpc("SendMessage", sending(), owner="")["result"]["task"]

    assert api.header(api.ref(task["id"], "anonymous"))


# ---- tenants ----


def test_a_tenant_has_tasks_of_its_own(api: ApiBench, client: Client) -> None:
    task_id = client(api, "SendMessage", {**sending(), "tenant": "acme"}, tenant="acme").result["task"]["id"]

    assert client(api, "GetTask", {"id": task_id, "tenant": "acme"}, tenant="acme").result["id"] == task_id
    assert client(api, "GetTask", {"id": task_id}).reason == "TASK_NOT_FOUND"
    assert api.header(api.ref(task_id, tenant="acme"))


# ---- extensions ----

REQUIRING = """
name: n
description: d
version: 1.0.0
capabilities:
  extensions:
    - {uri: "https://example.com/a", required: true}
    - {uri: "https://example.com/b", required: true}
    - {uri: "https://example.com/c"}
defaultInputModes: [text/plain]
defaultOutputModes: [text/plain]
skills: [{id: s, name: s, description: d, tags: [t]}]
"""


def test_e14_an_extension_that_the_card_requires_must_be_named(client: Client) -> None:
    api = ApiBench(card_text=REQUIRING)

    both = {"A2A-Extensions": "https://example.com/a ,https://example.com/b,https://example.com/x"}
    one = {"A2A-Extensions": "https://example.com/a"}

    assert "task" in client(api, "SendMessage", sending(), headers=both).result
    reply = client(api, "SendMessage", sending(), headers=one)
    assert reply.code == (-32008 if client.name == "JSON-RPC" else 400)
    assert reply.reason == "EXTENSION_SUPPORT_REQUIRED"
    assert "https://example.com/b" in reply.message
    assert "https://example.com/a" not in reply.message


def test_e14_extensions_may_be_named_in_several_headers() -> None:
    api = ApiBench(card_text=REQUIRING)
    event = rpc_event("SendMessage", sending(), headers={"A2A-Extensions": "https://example.com/b"})
    event["multiValueHeaders"]["A2A-Extensions"] = ["https://example.com/a", "https://example.com/b"]

    assert "task" in json.loads(api.http(event)["body"])["result"]


# ---- the tables ----


def test_each_operation_is_in_both_route_tables_and_nothing_else_is(api: ApiBench) -> None:
    assert set(METHODS) == {route.operation for route in ROUTES} == set(api.operations)


def _kinds(kind: type[A2AError]) -> list[type[A2AError]]:
    return [each for child in kind.__subclasses__() for each in (child, *_kinds(child))]


# A2A specification section 5.4
SPECIFIED = {
    "TASK_NOT_FOUND": (-32001, "NOT_FOUND", 404),
    "TASK_NOT_CANCELABLE": (-32002, "FAILED_PRECONDITION", 400),
    "PUSH_NOTIFICATION_NOT_SUPPORTED": (-32003, "FAILED_PRECONDITION", 400),
    "UNSUPPORTED_OPERATION": (-32004, "FAILED_PRECONDITION", 400),
    "CONTENT_TYPE_NOT_SUPPORTED": (-32005, "INVALID_ARGUMENT", 400),
    "INVALID_AGENT_RESPONSE": (-32006, "INTERNAL", 500),
    "EXTENDED_AGENT_CARD_NOT_CONFIGURED": (-32007, "FAILED_PRECONDITION", 400),
    "EXTENSION_SUPPORT_REQUIRED": (-32008, "FAILED_PRECONDITION", 400),
    "VERSION_NOT_SUPPORTED": (-32009, "FAILED_PRECONDITION", 400),
}


@pytest.mark.parametrize("kind", [kind for kind in _kinds(A2AError) if kind.row.reason in SPECIFIED])
def test_e15_the_a2a_errors_look_as_the_specification_says(kind: type[A2AError]) -> None:
    error = kind("A sentence.")
    code, grpc, status = SPECIFIED[kind.row.reason]

    rest = errors.rest(error)["error"]
    assert (rest["code"], rest["status"], rest["message"]) == (status, grpc, "A sentence.")
    assert errors.jsonrpc(error)["code"] == code
    assert errors.jsonrpc_status(error) == 200
    assert errors.jsonrpc(error)["data"] == rest["details"]


@pytest.mark.parametrize("kind", _kinds(A2AError))
def test_only_what_concerns_the_transport_leaves_200_over_json_rpc(kind: type[A2AError]) -> None:
    status = errors.jsonrpc_status(kind("A sentence."))

    leaves = {
        "UNAUTHENTICATED": 401,
        "PERMISSION_DENIED": 403,
        "METHOD_NOT_ALLOWED": 405,  # for what is no JSON-RPC request: it isn't a POST
        "REQUEST_TOO_LARGE": 413,
        "RESOURCE_EXHAUSTED": 429,
    }
    assert status == leaves.get(kind.row.reason, 200)
