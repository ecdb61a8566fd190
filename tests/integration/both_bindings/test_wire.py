"""What server authors get wrong on the wire, one by one; beyond what the tables of operations and errors hold.

The number in a test's name is that of the fault in our list of them.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

import pytest

from builders.events import LambdaContext
from builders.front_door import event
from integration.both_bindings.operations import NOW, message
from integration.both_bindings.stage import EXTENSION, HOOK, Binding, Client, Deployment

Json = dict[str, Any]

VERSION = {"A2A-Version": "1.0"}
A2A = {"Content-Type": "application/a2a+json", **VERSION}
IN_JSON = {"Content-Type": "application/json", **VERSION}
SENT = {"message": message(), "configuration": NOW}
CARD = "/.well-known/agent-card.json"


@pytest.fixture
def client(deployment: Deployment) -> Client:
    """Alice, over either binding."""
    deployment.begin()
    return Client(deployment, "alice")


@pytest.fixture
def rpc(deployed: dict[Binding, Deployment]) -> Client:
    deployed["JSONRPC"].begin()
    return Client(deployed["JSONRPC"], "alice")


@pytest.fixture
def rest(deployed: dict[Binding, Deployment]) -> Client:
    deployed["HTTP+JSON"].begin()
    return Client(deployed["HTTP+JSON"], "alice")


def sent(client: Client, **members: Any) -> Json:
    task: Json = client.call("SendMessage", {"message": message(**members), "configuration": NOW}).result["task"]
    return task


def bare(client: Client, method: str, target: str, headers: Json, body: bytes = b"") -> Json:
    """The function's answer as it is."""
    asked = event(method, target, headers.items(), body, owner=client.owner, tenant=client.tenant)
    answer: Json = client.deployment.handler(client.profile)(asked, LambdaContext())
    return answer


def rpc_body(method: str, params: Json, rpc_id: object = 1) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": rpc_id, "method": method, "params": params}).encode()


# ---- JSON-RPC ----


@pytest.mark.parametrize("resource", ["/", ""])
@pytest.mark.parametrize(
    "params", [{"message": message(), "configuration": NOW}, {"message": message(parts=[])}, {}, "x"], ids=str
)
def test_w1_json_rpc_is_application_json_with_status_200_errors_too_with_and_without_a_slash(
    rpc: Client, params: Any, resource: str
) -> None:
    asked = event("POST", "/", A2A.items(), rpc_body("SendMessage", params), owner="alice")
    asked |= {"resource": resource, "path": resource, "pathParameters": None}

    answer = rpc.deployment.handler("plain")(asked, LambdaContext())

    assert (answer["statusCode"], answer["headers"]["content-type"]) == (200, "application/json")
    assert ("result" in json.loads(answer["body"])) == (params == SENT)
    assert "location" not in answer["headers"]


def test_a7_w4_the_extras_of_an_error_are_an_array_of_typed_objects_with_error_info_first(client: Client) -> None:
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "domain": "a2a-protocol.org"}

    unknown = client.call("GetTask", {"id": "nope"})
    wrong = client.call("SendMessage", {"message": {**message(parts=[{}]), "message_id": ""}})
    negative = client.call("GetTask", {"id": "t", "history_length": -1})

    assert unknown.details == ({**info, "reason": "TASK_NOT_FOUND", "metadata": {"taskId": "nope"}},)
    assert wrong.details[0] == {**info, "reason": "INVALID_PARAMS"}
    assert wrong.details[1]["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert wrong.details[1]["fieldViolations"][0].keys() == {"field", "description"}
    assert negative.details == (
        {**info, "reason": "INVALID_PARAMS"},
        {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": "historyLength", "description": "must be at least 0"}],
        },
    )


# ---- HTTP+JSON ----


@pytest.mark.parametrize(
    ("headers", "answered"),
    [
        (A2A, "application/a2a+json"),
        ({**A2A, "Content-Type": "application/a2a+json; charset=utf-8"}, "application/a2a+json"),
        (IN_JSON, "application/json"),
        ({**IN_JSON, "Content-Type": "Application/JSON;charset=UTF-8"}, "application/json"),
    ],
)
def test_w2_http_answers_in_a2a_json_or_in_kind(rest: Client, headers: Json, answered: str) -> None:
    body = json.dumps(SENT).encode()

    fine = bare(rest, "POST", "/message:send", headers, body)
    wrong = bare(rest, "POST", "/message:send", headers, b"{}")

    assert (fine["statusCode"], fine["headers"]["content-type"]) == (200, answered)
    assert (wrong["statusCode"], wrong["headers"]["content-type"]) == (400, answered)


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/tasks/t/nothing",
        "/v1/message:explode",
        "/message:explode",
        "/%00",
        "/tasks/%0A:explode",
        "/%2e%2e/tasks",
        "/rpc",
        "/a/b/c/d/e",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
def test_w2_an_unknown_path_is_answered_in_shape_and_never_like_an_unknown_task(
    rest: Client, method: str, path: str
) -> None:
    reply = rest.send(method, path, b"{}" if method != "GET" else b"", IN_JSON)

    assert reply.reason in {"METHOD_NOT_FOUND", "METHOD_NOT_ALLOWED"}
    assert reply.status in {404, 405}


# ---- versions and extensions ----


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ({"A2A-Version": "1.0"}, ""),
        ({"A2A-Version": "1.0.7"}, ""),
        ({"a2a-version": " 1.0 "}, ""),
        ({}, "?A2A-Version=1.0"),
        ({"A2A-Version": ""}, "?A2A-Version=1.0.1"),
        ({"A2A-Version": "1.0"}, "?A2A-Version=0.3"),
    ],
)
def test_w3_a_version_is_said_in_the_header_or_the_query(client: Client, headers: Json, query: str) -> None:
    task_id = sent(client)["id"]
    said = {"Content-Type": "application/json", **headers}

    if client.deployment.binding == "JSONRPC":
        reply = client.send("POST", f"/{query}", rpc_body("GetTask", {"id": task_id}), said)
    else:
        reply = client.send("GET", f"/tasks/{task_id}{query}", b"", headers)

    assert reply.result["id"] == task_id


@pytest.mark.parametrize("version", ["", "0.3"])
def test_c17_w3_0_3_is_not_offered_so_nothing_is_registered_over_it(client: Client, version: str) -> None:
    task_id = sent(client)["id"]
    config = {"taskId": task_id, "id": "c", "url": HOOK}
    inline = {"message": message(messageId="m2"), "configuration": {"taskPushNotificationConfig": {"url": HOOK}}}

    refused = [
        client.call("CreateTaskPushNotificationConfig", config, {"A2A-Version": version}),
        client.call("SendMessage", inline, {"A2A-Version": version}),
    ]

    assert [reply.reason for reply in refused] == ["VERSION_NOT_SUPPORTED"] * 2
    assert client.call("ListTaskPushNotificationConfigs", {"taskId": task_id}).result == {}
    assert client.call("ListTasks").result["totalSize"] == 1


def test_w3_card_and_document_need_no_version(rest: Client) -> None:
    card = bare(rest, "GET", CARD, {})
    document = bare(rest, "GET", "/openapi.json", {})

    assert (card["statusCode"], document["statusCode"]) == (200, 200)
    offered = json.loads(card["body"])["supportedInterfaces"]
    assert [each["protocolVersion"] for each in offered] == ["1.0", "1.0"]
    assert json.loads(document["body"])["servers"] == [{"url": offered[1]["url"]}]


def test_e14_extensions_may_be_named_in_several_headers(client: Client) -> None:
    client.profile = "requiring"
    rest = client.deployment.binding == "HTTP+JSON"
    headers = [*IN_JSON.items(), ("A2A-Extensions", "urn:other"), ("A2A-Extensions", f"urn:x,{EXTENSION}")]
    body = json.dumps(SENT).encode() if rest else rpc_body("SendMessage", SENT)

    asked = event("POST", "/message:send" if rest else "/", headers, body, owner="alice")
    answer = client.deployment.handler("requiring")(asked, LambdaContext())

    assert answer["statusCode"] == 200
    assert "error" not in json.loads(answer["body"])
    assert answer["headers"]["a2a-extensions"] == EXTENSION


def test_e14_the_missing_extension_is_named(client: Client) -> None:
    client.profile = "requiring"

    reply = client.call("SendMessage", SENT)

    assert reply.reason == "EXTENSION_SUPPORT_REQUIRED"
    assert EXTENSION in reply.message


# ---- streams ----


@pytest.mark.parametrize("operation", ["SendStreamingMessage", "SubscribeToTask"])
def test_d7_a_stream_is_refused_as_json_to_a_client_that_accepts_events(client: Client, operation: str) -> None:
    params = {"id": sent(client)["id"]} if operation == "SubscribeToTask" else SENT

    reply = client.call(operation, params, {"Accept": "text/event-stream"})

    assert reply.reason == "UNSUPPORTED_OPERATION"
    assert reply.media_type in {"application/json", "application/a2a+json"}
    assert json.loads(bare(client, "GET", CARD, {})["body"])["capabilities"]["streaming"] is False


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("colon", [":", "%3A", "%3a"])
@pytest.mark.parametrize("tenant", ["", "acme"])
def test_w5_subscribe_is_served_by_both_verbs_with_an_empty_body(
    rest: Client, method: str, colon: str, tenant: str
) -> None:
    rest.tenant = tenant
    task_id = sent(rest)["id"]
    base = f"/{tenant}" if tenant else ""

    reply = rest.send(method, f"{base}/tasks/{task_id}{colon}subscribe", b"", VERSION)

    assert reply.reason == "UNSUPPORTED_OPERATION"


@pytest.mark.parametrize("colon", [":", "%3A", "%3a"])
@pytest.mark.parametrize("body", [b"", b"{}", b'{"id":"%s"}', b'{"id":"%s","tenant":"acme","metadata":{"a":1}}'])
def test_w5_a_cancel_takes_an_empty_body_and_the_whole_request(rest: Client, colon: str, body: bytes) -> None:
    rest.tenant = "acme"
    task_id = sent(rest)["id"]

    whole = body.replace(b"%s", task_id.encode())
    reply = rest.send("POST", f"/acme/tasks/{task_id}{colon}cancel", whole, IN_JSON)

    assert reply.result["status"]["state"] == "TASK_STATE_CANCELED"


# ---- tenants and ids ----


def test_w6_each_path_is_served_below_the_callers_tenant(rest: Client) -> None:
    rest.tenant, rest.profile = "acme", "extended"
    body = json.dumps(SENT).encode()

    task = rest.send("POST", "/acme/message:send", body, IN_JSON).result["task"]
    at = f"/acme/tasks/{task['id']}"
    config = json.dumps({"id": "c", "url": HOOK}).encode()

    assert rest.send("GET", at, b"", VERSION).result == task
    assert rest.send("GET", "/acme/tasks", b"", VERSION).result["totalSize"] == 1
    assert rest.send("POST", f"{at}/pushNotificationConfigs", config, IN_JSON).result["tenant"] == "acme"
    assert rest.send("GET", f"{at}/pushNotificationConfigs/c", b"", VERSION).result["id"] == "c"
    assert len(rest.send("GET", f"{at}/pushNotificationConfigs", b"", VERSION).result["configs"]) == 1
    assert rest.send("DELETE", f"{at}/pushNotificationConfigs/c", b"", VERSION).result == {}
    assert rest.send("GET", "/acme/extendedAgentCard", b"", VERSION).result["name"] == "test-agent"
    assert rest.send("POST", "/acme/message:stream", body, IN_JSON).reason == "UNSUPPORTED_OPERATION"
    assert rest.send("POST", f"{at}:cancel", b"", VERSION).result["status"]["state"] == "TASK_STATE_CANCELED"


@pytest.mark.parametrize(
    "path", ["/tasks/tasks/t", "/message:send/tasks/t", "/.well-known/tasks", "/openapi.json/tasks"]
)
def test_w6_a_fixed_path_is_never_taken_for_a_tenant(rest: Client, path: str) -> None:
    assert rest.send("GET", path, b"", VERSION).reason == "METHOD_NOT_FOUND"


def test_w6_a_task_named_like_a_path_is_a_task(rest: Client) -> None:
    assert rest.send("GET", "/tasks/tasks", b"", VERSION).reason == "TASK_NOT_FOUND"


def test_w7_ids_that_herald_makes_need_no_encoding(client: Client) -> None:
    first = client.call("SendMessage", {"message": {**message(), "contextId": None}, "configuration": NOW})
    task = first.result["task"]
    config = client.call("CreateTaskPushNotificationConfig", {"taskId": task["id"], "url": HOOK}).result

    for made in (task["id"], task["contextId"], config["id"]):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", made)
        assert quote(made, safe="") == made


# ---- JSON ----

NUMBERS = b"""[1.10, 1e3, -0, 0.1, 12345678901234567890123, 1E400, 100000000000000000000.5]"""


def test_w8_a10_g3_numbers_come_back_digit_for_digit(client: Client) -> None:
    told = json.dumps({**message(), "parts": ["HERE"]}).encode()
    told = b'{"message":' + told.replace(b'"HERE"', b'{"data":' + NUMBERS + b"}") + b',"configuration":%s}'
    told %= json.dumps(NOW).encode()
    rest = client.deployment.binding == "HTTP+JSON"
    whole = told if rest else b'{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":' + told + b"}"

    answer = bare(client, "POST", "/message:send" if rest else "/", IN_JSON, whole)

    assert NUMBERS.replace(b" ", b"").decode() in answer["body"]


@pytest.mark.parametrize(
    ("given", "back"),
    [("_-8=", "/+8="), ("_-8", "/+8="), ("/+8=", "/+8="), ("/+8", "/+8="), ("", ""), ("AAECAw", "AAECAw==")],
)
def test_w8_base64_is_taken_in_four_spellings_and_given_in_one(client: Client, given: str, back: str) -> None:
    task = sent(client, parts=[{"raw": given, "mediaType": "image/png"}])

    assert task["history"][0]["parts"] == [{"raw": back, "mediaType": "image/png"}]


@pytest.mark.parametrize("garbage", ["a", "AA=A", "%%%%", "AAA=A", "A===", "é", "AAAA\n"])
def test_w8_what_is_no_base64_is_an_error(client: Client, garbage: str) -> None:
    reply = client.call("SendMessage", {"message": message(parts=[{"raw": garbage, "mediaType": "image/png"}])})

    assert (reply.reason, reply.fields) == ("INVALID_PARAMS", ["message.parts[0].raw"])


def test_w8_times_are_utc_milliseconds_with_z(client: Client) -> None:
    assert sent(client)["status"]["timestamp"] == "2026-01-01T00:00:00.000Z"


# ---- webhooks ----


def test_w11_deleting_answers_null_over_json_rpc_and_an_empty_object_over_http_and_again(client: Client) -> None:
    task_id = sent(client)["id"]
    params = {"taskId": task_id, "id": "c"}
    rest = client.deployment.binding == "HTTP+JSON"

    answers = [
        bare(client, "DELETE", f"/tasks/{task_id}/pushNotificationConfigs/c", VERSION)
        if rest
        else bare(client, "POST", "/", IN_JSON, rpc_body("DeleteTaskPushNotificationConfig", params))
        for _ in range(2)
    ]

    told = "{}" if rest else '{"jsonrpc":"2.0","id":1,"result":null}'
    assert [(answer["statusCode"], answer["body"]) for answer in answers] == [(200, told)] * 2


# ---- sending ----


def test_w12_a_send_wraps_its_task_and_the_others_give_it_bare(client: Client) -> None:
    whole = client.call("SendMessage", SENT).result
    task_id = whole["task"]["id"]

    assert set(whole) == {"task"}
    assert client.call("GetTask", {"id": task_id}).result == whole["task"]
    assert client.call("ListTasks").result["tasks"] == [whole["task"]]
    assert client.call("CancelTask", {"id": task_id}).result["id"] == task_id


def test_w12_f10_a_send_that_needs_no_task_wraps_its_message(client: Client) -> None:
    client.profile = "replying"

    whole = client.call("SendMessage", SENT).result

    assert whole == {
        "message": {"messageId": "r1", "contextId": "ctx", "role": "ROLE_AGENT", "parts": [{"text": "Hello."}]}
    }
    assert client.call("ListTasks").result["tasks"] == []


def test_w13_a_blocking_send_polls_slower_and_slower_and_answers_at_its_bound(client: Client) -> None:
    clock = client.deployment.clock
    clock.slept.clear()

    task = client.call("SendMessage", {"message": message()}).result["task"]

    assert task["status"]["state"] == "TASK_STATE_SUBMITTED"
    assert clock.slept[0] == pytest.approx(0.1)
    assert clock.slept[:-1] == sorted(clock.slept[:-1])
    assert max(clock.slept) <= 1
    assert sum(clock.slept) == pytest.approx(2, abs=0.01)


def test_w13_a_send_that_returns_immediately_waits_for_nothing(client: Client) -> None:
    client.deployment.clock.slept.clear()

    sent(client)

    assert client.deployment.clock.slept == []


def test_w13_a_blocking_send_to_a_task_that_has_been_answered_returns_it(client: Client) -> None:
    task_id = sent(client, parts=[{"text": "complete"}])["id"]
    client.deployment.work("alice", "", task_id)
    client.deployment.clock.slept.clear()

    again = client.call("SendMessage", {"message": message(parts=[{"text": "complete"}])}).result["task"]

    assert again["status"]["state"] == "TASK_STATE_COMPLETED"
    assert client.deployment.clock.slept == []


def test_w14_a_task_id_alone_brings_its_context_along_and_both_must_match(client: Client) -> None:
    task = sent(client, parts=[{"text": "ask"}])
    client.deployment.work("alice", "", task["id"])
    follow_up = {**message(messageId="m2", taskId=task["id"]), "contextId": None}

    other = client.call("SendMessage", {"message": {**follow_up, "contextId": "other"}, "configuration": NOW})
    alone = client.call("SendMessage", {"message": follow_up, "configuration": NOW})

    assert (other.reason, other.fields) == ("INVALID_PARAMS", ["message.contextId"])
    assert alone.result["task"]["contextId"] == "ctx"
    assert {each["contextId"] for each in alone.result["task"]["history"]} == {"ctx"}


# ---- the card ----


def test_w15_the_card_is_cached_and_its_addresses_are_never_the_host_headers(rest: Client) -> None:
    first = bare(rest, "GET", CARD, {"Host": "evil.example.com", "X-Forwarded-Host": "evil.example.com"})
    tag, modified = first["headers"]["etag"], first["headers"]["last-modified"]

    by_tag = bare(rest, "GET", CARD, {"If-None-Match": tag})
    by_date = bare(rest, "GET", CARD, {"If-Modified-Since": modified})
    head = bare(rest, "HEAD", CARD, {})

    assert first["statusCode"] == 200
    assert first["headers"]["content-type"] == "application/json"
    assert first["headers"]["cache-control"].startswith("public, max-age=")
    assert modified == "Thu, 01 Jan 2026 00:00:00 GMT"
    assert "evil" not in first["body"]
    assert [(each["statusCode"], each["body"]) for each in (by_tag, by_date)] == [(304, "")] * 2
    assert (head["statusCode"], head["body"], head["headers"]["etag"]) == (200, "", tag)
