"""Every error that a client can provoke: the tables that ``test_errors`` runs over both bindings."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from integration.both_bindings.cases import Case, Json, Refused, Step, case
from integration.both_bindings.operations import NOT_THERE, NOW, SENT, WEBHOOK, message, stored, task, without
from integration.both_bindings.stage import EXTENSION, HOOK, Binding, Client, Reply

# Of a reason: JSON-RPC code, its HTTP status over JSON-RPC, HTTP status and google.rpc name over HTTP+JSON. The first
# nine as in section 5.4 of the specification; the next five as in JSON-RPC 2.0; the others are HTTP's.
ROWS: dict[str, tuple[int, int, int, str]] = {
    "TASK_NOT_FOUND": (-32001, 200, 404, "NOT_FOUND"),
    "TASK_NOT_CANCELABLE": (-32002, 200, 400, "FAILED_PRECONDITION"),
    "PUSH_NOTIFICATION_NOT_SUPPORTED": (-32003, 200, 400, "FAILED_PRECONDITION"),
    "UNSUPPORTED_OPERATION": (-32004, 200, 400, "FAILED_PRECONDITION"),
    "CONTENT_TYPE_NOT_SUPPORTED": (-32005, 200, 400, "INVALID_ARGUMENT"),
    "INVALID_AGENT_RESPONSE": (-32006, 200, 500, "INTERNAL"),
    "EXTENDED_AGENT_CARD_NOT_CONFIGURED": (-32007, 200, 400, "FAILED_PRECONDITION"),
    "EXTENSION_SUPPORT_REQUIRED": (-32008, 200, 400, "FAILED_PRECONDITION"),
    "VERSION_NOT_SUPPORTED": (-32009, 200, 400, "FAILED_PRECONDITION"),
    "PARSE_ERROR": (-32700, 200, 400, "INVALID_ARGUMENT"),
    "INVALID_REQUEST": (-32600, 200, 400, "INVALID_ARGUMENT"),
    "METHOD_NOT_FOUND": (-32601, 200, 404, "NOT_FOUND"),
    "INVALID_PARAMS": (-32602, 200, 400, "INVALID_ARGUMENT"),
    "INTERNAL_ERROR": (-32603, 200, 500, "INTERNAL"),
    "UNSUPPORTED_MEDIA_TYPE": (-32005, 200, 415, "INVALID_ARGUMENT"),
    "METHOD_NOT_ALLOWED": (-32600, 405, 405, "UNIMPLEMENTED"),
    "REQUEST_TOO_LARGE": (-32600, 413, 413, "OUT_OF_RANGE"),
    "UNAUTHENTICATED": (-32600, 401, 401, "UNAUTHENTICATED"),
    "PERMISSION_DENIED": (-32600, 403, 403, "PERMISSION_DENIED"),
    "RESOURCE_EXHAUSTED": (-32603, 429, 429, "RESOURCE_EXHAUSTED"),
    "UNAVAILABLE": (-32603, 200, 503, "UNAVAILABLE"),
}

# The deployment of a card that declares an extended one without there being one is refused, so nobody meets this.
NOBODY_CAN = {"EXTENDED_AGENT_CARD_NOT_CONFIGURED"}


def invalid(*fields: str) -> Refused:
    return Refused("INVALID_PARAMS", fields)


def refused(operation: str, params: Json, answer: Refused, *, given: str | None = None, **more: Any) -> Case:
    """One request that is refused."""
    deployed = {name: more.pop(name) for name in ("profile", "tenant") if name in more}
    return case(Step(operation, params, answer, **more), given=given, **deployed)


def wrong(*fields: str, **members: Any) -> Case:
    """A message with wrong fields."""
    sent = {name: value for name, value in message(**members).items() if value is not ...}
    return refused("SendMessage", {"message": sent}, invalid(*fields))


def wrong_webhook(*fields: str, **members: Any) -> Case:
    config = {name: value for name, value in {**WEBHOOK, **members}.items() if value is not ...}
    return refused("CreateTaskPushNotificationConfig", config, invalid(*fields), given="")


MESSAGES: dict[str, Case] = {
    "a8 no message": refused("SendMessage", {}, invalid("message")),
    "a8 a message that is no object": refused("SendMessage", {"message": "hi"}, invalid("message")),
    "a8 g6 no messageId": wrong("message.messageId", messageId=...),
    "g6 an empty messageId": wrong("message.messageId", messageId=""),
    "a8 a messageId that is no string": wrong("message.messageId", messageId=5),
    "a8 no parts": wrong("message.parts", parts=[]),
    "a8 parts left out": wrong("message.parts", parts=...),
    "a8 parts that are no array": wrong("message.parts", parts={"text": "hi"}),
    "a8 a part without content": wrong("message.parts[0]", parts=[{}]),
    "a8 a part with two contents": wrong("message.parts[1]", parts=[{"text": "a"}, {"text": "a", "url": "b"}]),
    "w8 a raw that is no base64": wrong("message.parts[0].raw", parts=[{"raw": "AA=A", "mediaType": "image/png"}]),
    "a part of a kind of 0.3": wrong("message.parts[0]", parts=[{"kind": "text"}]),
    "w14 no role": wrong("message.role", role=...),
    "w14 the agent's role": wrong("message.role", role="ROLE_AGENT"),
    "a15 a role of 0.3": wrong("message.role", role="user"),
    "w8 a role that is unspecified": wrong("message.role", role=0),
    "metadata that is no object": wrong("message.metadata", metadata=[]),
    "g6 an empty contextId": wrong("message.contextId", contextId=""),
    "a contextId above 256 bytes": wrong("message.contextId", contextId="é" * 129),
    "an empty taskId": wrong("message.taskId", taskId=""),
    "all that is wrong is told": wrong("message.messageId", "message.role", messageId=..., role="user"),
    "snake_case is told in camelCase": refused(
        "SendMessage",
        {"message": {"message_id": "", "role": "ROLE_USER", "parts": [{"text": "hi"}]}},
        invalid("message.messageId"),
    ),
    "b3 w14 a task that the client makes up": refused(
        "SendMessage", {"message": message(taskId="nope")}, Refused("TASK_NOT_FOUND", metadata={"taskId": "nope"})
    ),
    "e9 a task of another owner's": refused(
        "SendMessage", {"message": message(taskId="{task}")}, NOT_THERE, given="ask", owner="mallory"
    ),
    "w14 a context that isn't the task's": refused(
        "SendMessage",
        {"message": message(taskId="{task}", contextId="another")},
        invalid("message.contextId"),
        given="ask",
    ),
    "b6 w14 a task that has ended": refused(
        "SendMessage",
        {"message": without(message(taskId="{task}"), "contextId")},
        Refused("UNSUPPORTED_OPERATION", metadata={"taskId": "{task}", "state": "TASK_STATE_COMPLETED"}),
        given="complete",
    ),
    "e11 a reference to a task of another owner's": refused(
        "SendMessage",
        {"message": message(referenceTaskIds=["{task}"])},
        invalid("message.referenceTaskIds[0]"),
        given="",
        owner="mallory",
    ),
    "a reference to a task that never was": refused(
        "SendMessage",
        {"message": message(referenceTaskIds=["nope"])},
        invalid("message.referenceTaskIds[0]"),
    ),
    "a24 a historyLength below 0": refused(
        "SendMessage",
        {"message": message(), "configuration": {"historyLength": -1}},
        invalid("configuration.historyLength"),
    ),
    "returnImmediately that is no boolean": refused(
        "SendMessage",
        {"message": message(), "configuration": {"returnImmediately": "yes"}},
        invalid("configuration.returnImmediately"),
    ),
    "a media type that the card doesn't take": refused(
        "SendMessage",
        {"message": message({"text": "a"}, {"url": "https://example.com/a.gif", "mediaType": "image/gif"})},
        Refused(
            "CONTENT_TYPE_NOT_SUPPORTED",
            ("message.parts[1].mediaType",),
            {"mediaType": "image/gif", "supportedMediaTypes": "text/*, application/json, image/png"},
        ),
    ),
    "an idempotencyKey that is no string": refused(
        "SendMessage",
        {"message": message(), "metadata": {"idempotencyKey": 5}},
        invalid("metadata.idempotencyKey"),
    ),
    "c6 an inline webhook within the network": refused(
        "SendMessage",
        {
            "message": message(),
            "configuration": {"taskPushNotificationConfig": {"url": "https://169.254.169.254/latest"}},
        },
        invalid("configuration.taskPushNotificationConfig.url"),
    ),
    "an inline webhook for another task": refused(
        "SendMessage",
        {
            "message": message(taskId="{task}"),
            "configuration": {"taskPushNotificationConfig": {"url": HOOK, "taskId": "another"}},
        },
        invalid("configuration.taskPushNotificationConfig.taskId"),
        given="ask",
    ),
    "an inline webhook for another tenant": refused(
        "SendMessage",
        {
            "message": message(),
            "configuration": {"taskPushNotificationConfig": {"url": HOOK, "tenant": "another"}},
        },
        invalid("configuration.taskPushNotificationConfig.tenant"),
    ),
}

TASKS: dict[str, Case] = {
    "a7 a task that never was": refused(
        "GetTask", {"id": "nope"}, Refused("TASK_NOT_FOUND", metadata={"taskId": "nope"})
    ),
    "an id that no task can have": refused(
        "GetTask", {"id": "n o p e é"}, Refused("TASK_NOT_FOUND", metadata={"taskId": "n o p e é"})
    ),
    "a24 history below 0": refused("GetTask", {"id": "t", "historyLength": -1}, invalid("historyLength")),
    "history of half a message": refused("GetTask", {"id": "t", "historyLength": "0.5"}, invalid("historyLength")),
    "history beyond 32 bits": refused("GetTask", {"id": "t", "historyLength": 2**31}, invalid("historyLength")),
    "w6 a tenant that is no name": refused("GetTask", {"id": "t", "tenant": "a b"}, invalid("tenant")),
    "cancel of a task that never was": refused(
        "CancelTask", {"id": "nope"}, Refused("TASK_NOT_FOUND", metadata={"taskId": "nope"})
    ),
    "a1 b11 e15 cancel of a task that has ended": refused(
        "CancelTask",
        {"id": "{task}"},
        Refused("TASK_NOT_CANCELABLE", metadata={"taskId": "{task}", "state": "TASK_STATE_COMPLETED"}),
        given="complete",
    ),
    "b11 cancel of a canceled task": case(
        Step("CancelTask", {"id": "{task}"}, task("CANCELED", {**stored(), "messageId": "m0"})),
        Step(
            "CancelTask",
            {"id": "{task}"},
            Refused("TASK_NOT_CANCELABLE", metadata={"taskId": "{task}", "state": "TASK_STATE_CANCELED"}),
        ),
        given="",
    ),
    "cancel with metadata that is no object": refused(
        "CancelTask", {"id": "{task}", "metadata": "late"}, invalid("metadata"), given=""
    ),
}

TENANTS: dict[str, Case] = {
    "a task in a tenant that isn't the caller's": refused(
        "GetTask", {"id": "{task}", "tenant": "elsewhere"}, NOT_THERE, given="", tenant="acme"
    ),
    "a cancel in a tenant that isn't the caller's": refused(
        "CancelTask", {"id": "{task}", "tenant": "elsewhere"}, NOT_THERE, given="", tenant="acme"
    ),
    "a message in a tenant that isn't the caller's": refused(
        "SendMessage", {"message": message(), "tenant": "elsewhere"}, invalid("tenant"), tenant="acme"
    ),
    "a message to a task in a tenant that isn't the caller's": refused(
        "SendMessage",
        {"message": message(taskId="{task}"), "tenant": "elsewhere"},
        NOT_THERE,
        given="ask",
        tenant="acme",
    ),
    "a list in a tenant that isn't the caller's": refused(
        "ListTasks", {"tenant": "elsewhere"}, invalid("tenant"), given="", tenant="acme"
    ),
    "an extended card in a tenant that isn't the caller's": refused(
        "GetExtendedAgentCard", {"tenant": "elsewhere"}, invalid("tenant"), tenant="acme", profile="extended"
    ),
    "webhooks in a tenant that isn't the caller's": case(
        Step("CreateTaskPushNotificationConfig", {**WEBHOOK, "tenant": "elsewhere"}, NOT_THERE),
        Step("ListTaskPushNotificationConfigs", {"taskId": "{task}", "tenant": "elsewhere"}, NOT_THERE),
        Step("GetTaskPushNotificationConfig", {"taskId": "{task}", "id": "c", "tenant": "elsewhere"}, NOT_THERE),
        Step("DeleteTaskPushNotificationConfig", {"taskId": "{task}", "id": "c", "tenant": "elsewhere"}, NOT_THERE),
        given="",
        tenant="acme",
    ),
}

LISTS: dict[str, Case] = {
    "a16 a state of 0.3": refused("ListTasks", {"status": "working"}, invalid("status")),
    "a16 a state that is none": refused("ListTasks", {"status": "foo"}, invalid("status")),
    "a16 the state that is unspecified": refused("ListTasks", {"status": "TASK_STATE_UNSPECIFIED"}, invalid("status")),
    "e7 a page of nothing": refused("ListTasks", {"pageSize": 0}, invalid("pageSize")),
    "e7 a page of 101": refused("ListTasks", {"pageSize": 101}, invalid("pageSize")),
    "e7 a page below nothing": refused("ListTasks", {"pageSize": -1}, invalid("pageSize")),
    "a page of words": refused("ListTasks", {"pageSize": "many"}, invalid("pageSize")),
    "w9 a token that never was": refused("ListTasks", {"pageToken": "garbage"}, invalid("pageToken")),
    "a time without a zone": refused(
        "ListTasks", {"statusTimestampAfter": "2026-01-01T00:00:00"}, invalid("statusTimestampAfter")
    ),
    "a time that never was": refused(
        "ListTasks", {"statusTimestampAfter": "2026-02-30T00:00:00Z"}, invalid("statusTimestampAfter")
    ),
    "artifacts, perhaps": refused("ListTasks", {"includeArtifacts": "perhaps"}, invalid("includeArtifacts")),
    "a24 a list's history below 0": refused("ListTasks", {"historyLength": -1}, invalid("historyLength")),
}

WEBHOOKS: dict[str, Case] = {
    "c20 no url": wrong_webhook("url", url=...),
    "c20 not a url": wrong_webhook("url", url="not a url"),
    "c20 ftp": wrong_webhook("url", url="ftp://example.com/x"),
    "c6 a file": wrong_webhook("url", url="file:///etc/passwd"),
    "c6 the metadata service": wrong_webhook("url", url="http://169.254.169.254/"),
    "c6 IPv4 within IPv6": wrong_webhook("url", url="https://[::ffff:10.0.0.1]/"),
    "c6 shared addresses": wrong_webhook("url", url="https://100.64.0.1/"),
    "c6 a number in hexadecimal": wrong_webhook("url", url="https://0x7f.1/"),
    "a user in the url": wrong_webhook("url", url="https://user:pass@127.0.0.1:9999/"),
    "c5 a line break in the token": wrong_webhook("token", token="a\r\nX-Evil: 1"),
    "c5 a line break in the credentials": wrong_webhook(
        "authentication.credentials", authentication={"scheme": "Bearer", "credentials": "a\r\nX-Evil: 1"}
    ),
    "no scheme": wrong_webhook("authentication.scheme", authentication={"credentials": "x"}),
    "a key that is no base64": wrong_webhook("token", token="whsec_%%%"),
    "an id with a slash": wrong_webhook("id", id="a/b"),
    "an id above 128 characters": wrong_webhook("id", id="x" * 129),
    "for a task that never was": refused(
        "CreateTaskPushNotificationConfig", {"taskId": "nope", "url": HOOK}, Refused("TASK_NOT_FOUND")
    ),
    "a webhook that never was": refused(
        "GetTaskPushNotificationConfig", {"taskId": "{task}", "id": "nope"}, Refused("TASK_NOT_FOUND"), given=""
    ),
    "webhooks of a task that never was": refused(
        "ListTaskPushNotificationConfigs", {"taskId": "nope"}, Refused("TASK_NOT_FOUND")
    ),
    "deleting one of a task that never was": refused(
        "DeleteTaskPushNotificationConfig", {"taskId": "nope", "id": "c"}, Refused("TASK_NOT_FOUND")
    ),
    "a page of webhooks below nothing": refused(
        "ListTaskPushNotificationConfigs", {"taskId": "{task}", "pageSize": -1}, invalid("pageSize"), given=""
    ),
    "a token of webhooks that never was": refused(
        "ListTaskPushNotificationConfigs", {"taskId": "{task}", "pageToken": "%%"}, invalid("pageToken"), given=""
    ),
    "c11 more than a task may have": case(
        *[
            Step("CreateTaskPushNotificationConfig", {**WEBHOOK, "id": str(n)}, {**WEBHOOK, "id": str(n)})
            for n in range(2)
        ],
        Step("CreateTaskPushNotificationConfig", WEBHOOK, invalid("id")),
        given="",
        profile="of two webhooks",
    ),
    "more origins than an owner may have": case(
        Step("CreateTaskPushNotificationConfig", WEBHOOK, WEBHOOK),
        Step(
            "CreateTaskPushNotificationConfig", {**WEBHOOK, "id": "d", "url": "https://127.0.0.1:9998/"}, invalid("url")
        ),
        given="",
        profile="of one origin",
    ),
}

NO_WEBHOOKS = Refused("PUSH_NOTIFICATION_NOT_SUPPORTED")

OFFERS: dict[str, Case] = {
    "webhooks where the card has none": case(
        Step("CreateTaskPushNotificationConfig", WEBHOOK, NO_WEBHOOKS),
        Step("GetTaskPushNotificationConfig", {"taskId": "{task}", "id": "c"}, NO_WEBHOOKS),
        Step("ListTaskPushNotificationConfigs", {"taskId": "{task}"}, NO_WEBHOOKS),
        Step("DeleteTaskPushNotificationConfig", {"taskId": "{task}", "id": "c"}, NO_WEBHOOKS),
        Step(
            "SendMessage",
            {"message": message(), "configuration": {"taskPushNotificationConfig": {"url": HOOK}}},
            NO_WEBHOOKS,
        ),
        given="",
        profile="without webhooks",
    ),
    "d7 streams": case(
        Step("SendStreamingMessage", {"message": message()}, Refused("UNSUPPORTED_OPERATION")),
        Step("SubscribeToTask", {"id": "{task}"}, Refused("UNSUPPORTED_OPERATION")),
        given="",
    ),
    "e23 an extended card where the card has none": refused(
        "GetExtendedAgentCard", {}, Refused("UNSUPPORTED_OPERATION")
    ),
    "e14 a required extension that isn't named": refused(
        "SendMessage", {"message": message()}, Refused("EXTENSION_SUPPORT_REQUIRED"), profile="requiring"
    ),
    "e14 a required extension that is almost named": refused(
        "GetTask",
        {"id": "t"},
        Refused("EXTENSION_SUPPORT_REQUIRED"),
        profile="requiring",
        headers={"A2A-Extensions": f"{EXTENSION}/v2, {EXTENSION[:-1]}"},
    ),
    "an agent's reply that is no message": refused(
        "SendMessage", {"message": message()}, Refused("INVALID_AGENT_RESPONSE"), profile="replying nonsense"
    ),
    "more open tasks than an owner may have": case(
        SENT,
        Step(
            "SendMessage",
            {"message": message(messageId="m2"), "configuration": NOW},
            Refused("RESOURCE_EXHAUSTED", metadata={"limit": "1"}),
        ),
        profile="of one task",
    ),
    **{
        f"w3 version {version or 'unsaid'}": refused(
            "GetTask",
            {"id": "t"},
            Refused(
                "VERSION_NOT_SUPPORTED", metadata={"requestedVersion": version or "0.3", "supportedVersions": "1.0"}
            ),
            headers={"A2A-Version": version},
        )
        for version in ("", "0.3", "2.0", "1.1", "1.0.x", "1.0beta")
    },
}

ERRORS: dict[str, Case] = {
    f"{chapter}: {name}": told
    for chapter, cases in {
        "messages": MESSAGES,
        "tasks": TASKS,
        "tenants": TENANTS,
        "lists": LISTS,
        "webhooks": WEBHOOKS,
        "offers": OFFERS,
    }.items()
    for name, told in cases.items()
}


# ---- below the operations: what is no call of one ----


@dataclass(frozen=True)
class Raw:
    """A request that isn't made by the rules.

    Attributes:
        only: the one binding where it can be made.
        same: whether the sentence is the same over both.
    """

    send: Callable[[Client], Reply]
    reason: str
    only: Binding | None = None
    same: bool = True
    metadata: tuple[str, ...] = ()


SEND = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message(), "configuration": NOW}}
TOO_MUCH = 4_194_305  # bytes: one above 4 MiB


def _sent(client: Client) -> bytes:
    whole = SEND if client.deployment.binding == "JSONRPC" else SEND["params"]
    return json.dumps(whole).encode()


def _typed(media_type: str) -> Callable[[Client], Reply]:
    return lambda client: client.post(_sent(client), {"Content-Type": media_type})


RAW: dict[str, Raw] = {
    "a19 no UTF-8": Raw(lambda client: client.post(b"\xff\xfe{"), "PARSE_ERROR"),
    "no JSON": Raw(lambda client: client.post(b"{"), "PARSE_ERROR"),
    "a number that JSON hasn't": Raw(lambda client: client.post(b'{"a":NaN}'), "PARSE_ERROR"),
    "half a surrogate pair": Raw(lambda client: client.post(b'{"a":"\\ud800"}'), "PARSE_ERROR"),
    "more levels than anybody needs": Raw(
        lambda client: client.post(b'{"a":' * 500 + b"1" + b"}" * 500), "PARSE_ERROR"
    ),
    "an array": Raw(lambda client: client.post(b"[]"), "INVALID_REQUEST", only="JSONRPC"),
    "a1 no jsonrpc": Raw(
        lambda client: client.post(b'{"id":1,"method":"GetTask","params":{"id":"x"}}'),
        "INVALID_REQUEST",
        only="JSONRPC",
    ),
    "f12 text": Raw(_typed("text/plain"), "UNSUPPORTED_MEDIA_TYPE"),
    "f12 a form": Raw(_typed("multipart/form-data; boundary=x"), "UNSUPPORTED_MEDIA_TYPE"),
    "f11 too much": Raw(lambda client: client.post(b" " * TOO_MUCH), "REQUEST_TOO_LARGE"),
    "an operation that isn't A2A's": Raw(lambda client: client.call("Explode"), "METHOD_NOT_FOUND", same=False),
    "a verb that isn't served": Raw(
        lambda client: client.send("PUT", _path(client), b"{}", {"A2A-Version": "1.0"}),
        "METHOD_NOT_ALLOWED",
        metadata=("allow",),
    ),
    "e23 e12 nobody": Raw(
        lambda client: client.call("GetTask", {"id": "t"}, owner=""), "UNAUTHENTICATED", metadata=("challenge",)
    ),
    "somebody whose token lacks a scope": Raw(
        lambda client: client.call(
            "GetTask", {"id": "t"}, authorizer={"owner": "alice", "tenant": "", "missing": "a2a"}
        ),
        "PERMISSION_DENIED",
        metadata=("challenge", "scope"),
    ),
}


def _path(client: Client) -> str:
    return "/" if client.deployment.binding == "JSONRPC" else "/message:send"
