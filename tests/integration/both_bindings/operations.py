"""Every operation with its options: the table that ``test_operations`` runs over both bindings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from integration.both_bindings.cases import ANY, AT, Case, Json, Refused, Step, case
from integration.both_bindings.stage import EXTENSION, HOOK

NOW = {"returnImmediately": True}
NOT_THERE = Refused("TASK_NOT_FOUND", metadata={"taskId": "{task}"})


def message(*parts: Json, **members: Any) -> Json:
    """A client's message."""
    return {
        "messageId": "m1",
        "contextId": "ctx",
        "role": "ROLE_USER",
        "parts": list(parts) or [{"text": "hi"}],
        **members,
    }


def without(members: Json, *names: str) -> Json:
    return {name: value for name, value in members.items() if name not in names}


def stored(task: str = "{task}", **members: Any) -> Json:
    """A client's message as a task's history shows it."""
    return message(taskId=task, **members)


def task(state: str, *history: Json, said: Json | None = None, task_id: Any = "{task}", **members: Any) -> Json:
    """A task; without a history, none at all."""
    status: Json = {"state": f"TASK_STATE_{state}", "timestamp": AT}
    if said is not None:
        status["message"] = said
    whole: Json = {"id": task_id, "contextId": "ctx", "status": status, **members}
    return {**whole, "history": list(history)} if history else whole


def agent(text: str) -> Json:
    """What the agent says."""
    return {
        "messageId": ANY,
        "contextId": "ctx",
        "taskId": "{task}",
        "role": "ROLE_AGENT",
        "parts": [{"text": text}],
    }


def first(words: str = "hi") -> Json:
    """The message of the task that was there before."""
    return {**stored(), "messageId": "m0", "parts": [{"text": words}]}


EMPTY = {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}


def page(*tasks: Json, size: int = 50, total: int | None = None, token: Any = "") -> Json:
    return {
        "tasks": list(tasks),
        "nextPageToken": token,
        "pageSize": size,
        "totalSize": len(tasks) if total is None else total,
    }


MADE = {"task": "task.id"}
SENT = Step(
    "SendMessage", {"message": message(), "configuration": NOW}, {"task": task("SUBMITTED", stored())}, keep=MADE
)
REPORT = {"artifactId": "report", "name": "Report", "parts": [{"text": "one "}, {"text": "two"}]}
WEBHOOK = {"id": "c", "taskId": "{task}", "url": HOOK}

PARTS: list[Json] = [
    {"text": "hi", "mediaType": "text/markdown; charset=utf-8", "metadata": {"n": 0, "f": False, "s": ""}},
    {"raw": "AAEC/w==", "filename": "a.png", "mediaType": "image/png"},
    {"url": "https://example.com/a.png", "mediaType": "image/png"},
    {"data": {"x": 1.5, "y": [1, None]}, "mediaType": "application/json"},
    {"data": None},
    {"data": 5},
    {"data": {}},
    {"text": ""},
]

SENDING: dict[str, Case] = {
    "a task is made": case(SENT),
    "a10 g3 parts of every kind come back equal": case(
        Step(
            "SendMessage",
            {"message": message(*PARTS), "configuration": NOW},
            {"task": task("SUBMITTED", message(*PARTS, taskId="{task}"))},
            keep=MADE,
        ),
        Step("GetTask", {"id": "{task}"}, task("SUBMITTED", message(*PARTS, taskId="{task}"))),
    ),
    "a context is made where none is named": case(
        Step(
            "SendMessage",
            {"message": without(message(), "contextId"), "configuration": NOW},
            {"task": {**task("SUBMITTED", {**stored(), "contextId": "{context}"}), "contextId": "{context}"}},
            keep={**MADE, "context": "task.contextId"},
        )
    ),
    "a12 what the message carries is kept": case(
        Step(
            "SendMessage",
            {
                "message": message(metadata={"n": 0, "f": False, "s": "", EXTENSION: {"a": 1}}, extensions=[EXTENSION]),
                "configuration": NOW,
                "metadata": {"of": "the request, which isn't the task's"},
            },
            {
                "task": task(
                    "SUBMITTED",
                    stored(metadata={"n": 0, "f": False, "s": "", EXTENSION: {"a": 1}}, extensions=[EXTENSION]),
                )
            },
            keep=MADE,
        )
    ),
    "a24 history of a send: none of it": case(
        Step(
            "SendMessage",
            {"message": message(), "configuration": {**NOW, "historyLength": 0}},
            {"task": task("SUBMITTED")},
            keep=MADE,
        )
    ),
    "a24 history of a send: the last one": case(
        Step(
            "SendMessage",
            {
                "message": without(message(taskId="{task}"), "contextId"),
                "configuration": {**NOW, "historyLength": 1},
            },
            {"task": task("WORKING", stored())},
        ),
        given="ask",
    ),
    "w13 without returnImmediately it waits, up to its bound": case(
        Step("SendMessage", {"message": message()}, {"task": task("SUBMITTED", stored())}, keep=MADE)
    ),
    "b22 the old word blocking is none": case(
        Step(
            "SendMessage",
            {"message": message(), "configuration": {"blocking": False}},
            {"task": task("SUBMITTED", stored())},
            keep=MADE,
        )
    ),
    "e8 unknown members are ignored": case(
        Step(
            "SendMessage",
            {"message": {**message(), "kind": "message"}, "configuration": NOW, "foo": {"bar": 1}},
            {"task": task("SUBMITTED", stored())},
            keep=MADE,
        )
    ),
    "w8 snake_case, numbers of enums and integers as strings are taken": case(
        Step(
            "SendMessage",
            {
                "message": {
                    "message_id": "m1",
                    "context_id": "ctx",
                    "role": 1,
                    "parts": [{"text": "hi", "media_type": "text/plain"}, {"raw": "_-8", "media_type": "image/png"}],
                },
                "configuration": {"return_immediately": True, "history_length": "1"},
            },
            {
                "task": task(
                    "SUBMITTED",
                    message(
                        {"text": "hi", "mediaType": "text/plain"},
                        {"raw": "/+8=", "mediaType": "image/png"},
                        taskId="{task}",
                    ),
                )
            },
            keep=MADE,
        )
    ),
    "w8 null is as good as absent": case(
        Step(
            "SendMessage",
            {
                "message": {
                    **message(),
                    "taskId": None,
                    "metadata": None,
                    "extensions": None,
                    "referenceTaskIds": None,
                },
                "configuration": {**NOW, "historyLength": None, "taskPushNotificationConfig": None},
                "metadata": None,
                "tenant": None,
            },
            {"task": task("SUBMITTED", stored())},
            keep=MADE,
        )
    ),
    "b1 the same message twice is one task": case(
        SENT,
        replace(SENT, keep={}),
    ),
    "b1 the same messageId with other content is another task": case(
        SENT,
        Step(
            "SendMessage",
            {"message": message({"text": "ho"}), "configuration": NOW},
            {"task": task("SUBMITTED", message({"text": "ho"}, taskId="{other}"), task_id="{other}")},
            keep={"other": "task.id"},
        ),
        Step("GetTask", {"id": "{task}"}, task("SUBMITTED", stored())),
    ),
    "b1 g13 an idempotencyKey is for one content": case(
        Step(
            "SendMessage",
            {"message": message(), "configuration": NOW, "metadata": {"idempotencyKey": "k"}},
            {"task": task("SUBMITTED", stored())},
            keep=MADE,
        ),
        Step(
            "SendMessage",
            {"message": message({"text": "ho"}), "configuration": NOW, "metadata": {"idempotencyKey": "k"}},
            Refused("INVALID_PARAMS", ("metadata.idempotencyKey",)),
        ),
    ),
    "b15 a follow-up by taskId alone brings the context along": case(
        Step(
            "SendMessage",
            {"message": without(message({"text": "complete"}, taskId="{task}"), "contextId"), "configuration": NOW},
            {
                "task": task(
                    "WORKING", first("ask"), agent("Which one?"), message({"text": "complete"}, taskId="{task}")
                )
            },
            work=True,
        ),
        Step(
            "GetTask",
            {"id": "{task}"},
            task(
                "COMPLETED",
                first("ask"),
                agent("Which one?"),
                message({"text": "complete"}, taskId="{task}"),
                said=agent("Done"),
            ),
        ),
        given="ask",
    ),
    "b1 a follow-up twice is one": case(
        *[
            Step(
                "SendMessage",
                {"message": message(taskId="{task}"), "configuration": NOW},
                {"task": task("WORKING", first("ask"), agent("Which one?"), stored())},
            )
        ]
        * 2,
        given="ask",
    ),
    "b21 a webhook inline is made": case(
        Step(
            "SendMessage",
            {
                "message": message(),
                "configuration": {
                    **NOW,
                    "taskPushNotificationConfig": {
                        "id": "c",
                        "url": HOOK,
                        "token": "t",
                        "authentication": {"scheme": "Bearer", "credentials": "sek"},
                    },
                },
            },
            {"task": task("SUBMITTED", stored())},
            keep=MADE,
        ),
        Step(
            "ListTaskPushNotificationConfigs",
            {"taskId": "{task}"},
            {"configs": [{**WEBHOOK, "authentication": {"scheme": "Bearer"}}]},
        ),
    ),
    "w11 an inline webhook without id is one, however often it is sent": case(
        *[
            Step(
                "SendMessage",
                {"message": message(), "configuration": {**NOW, "taskPushNotificationConfig": {"url": HOOK}}},
                {"task": task("SUBMITTED", stored())},
                keep=MADE,
            )
        ]
        * 2,
        Step("ListTaskPushNotificationConfigs", {"taskId": "{task}"}, {"configs": [{**WEBHOOK, "id": ANY}]}),
    ),
    "output modes that a client accepts": case(
        Step(
            "SendMessage",
            {"message": message(), "configuration": {**NOW, "acceptedOutputModes": ["text/plain", "image/*"]}},
            {"task": task("SUBMITTED", stored())},
            keep=MADE,
        )
    ),
    "a client's own tasks may be referred to": case(
        Step(
            "SendMessage",
            {"message": message(referenceTaskIds=["{task}"]), "configuration": NOW},
            {"task": task("SUBMITTED", stored("{other}", referenceTaskIds=["{task}"]), task_id="{other}")},
            keep={"other": "task.id"},
        ),
        given="",
    ),
    "e14 the extension that is required is named and echoed": case(
        replace(SENT, headers={"A2A-Extensions": f"urn:unknown , {EXTENSION}"}, echoed=EXTENSION),
        profile="requiring",
    ),
    "extensions in use are echoed, unknown ones aren't": case(
        replace(SENT, headers={"A2A-Extensions": f"{EXTENSION},urn:unknown"}, echoed=EXTENSION),
        Step("GetTask", {"id": "{task}"}, task("SUBMITTED", stored())),
    ),
    "a message to a task that nobody has begun is appended": case(
        Step(
            "SendMessage",
            {"message": message(taskId="{task}"), "configuration": NOW},
            {"task": task("SUBMITTED", first(), stored())},
        ),
        Step("GetTask", {"id": "{task}"}, task("SUBMITTED", first(), stored())),
        given="",
    ),
    "a tenant of the caller's own may be named": case(
        Step(
            "SendMessage",
            {"message": message(), "configuration": NOW, "tenant": "acme"},
            {"task": task("SUBMITTED", stored())},
            keep=MADE,
        ),
        Step("GetTask", {"id": "{task}", "tenant": "acme"}, task("SUBMITTED", stored())),
        Step("GetTask", {"id": "{task}"}, task("SUBMITTED", stored())),
        tenant="acme",
    ),
}

HISTORY = (first("work chunks complete"), agent("Working"))

GETTING: dict[str, Case] = {
    "a task that has ended, whole": case(
        Step("GetTask", {"id": "{task}"}, task("COMPLETED", *HISTORY, said=agent("Done"), artifacts=[REPORT])),
        given="work chunks complete",
    ),
    "a23 w10 no history": case(
        Step(
            "GetTask", {"id": "{task}", "historyLength": 0}, task("COMPLETED", said=agent("Done"), artifacts=[REPORT])
        ),
        given="work chunks complete",
    ),
    "w10 the last of the history": case(
        Step(
            "GetTask",
            {"id": "{task}", "historyLength": 1},
            task("COMPLETED", agent("Working"), said=agent("Done"), artifacts=[REPORT]),
        ),
        given="work chunks complete",
    ),
    "w10 more history than there is": case(
        Step(
            "GetTask",
            {"id": "{task}", "historyLength": 100},
            task("COMPLETED", *HISTORY, said=agent("Done"), artifacts=[REPORT]),
        ),
        given="work chunks complete",
    ),
    "a task that waits for its client": case(
        Step("GetTask", {"id": "{task}"}, task("INPUT_REQUIRED", first("ask"), said=agent("Which one?"))), given="ask"
    ),
    **{
        f"a14 a15 {state} in send, get and list": case(
            Step("GetTask", {"id": "{task}"}, task(state, first(word), said=agent(said))),
            Step("ListTasks", {"status": f"TASK_STATE_{state}"}, page(task(state, first(word), said=agent(said)))),
            Step(
                "SendMessage",
                {"message": {**message({"text": word}), "messageId": "m0"}, "configuration": NOW},
                {"task": task(state, first(word), said=agent(said))},
            ),
            given=word,
        )
        for state, word, said in (
            ("REJECTED", "reject", "No."),
            ("FAILED", "fail", "It broke."),
            ("AUTH_REQUIRED", "authorize", "Who are you?"),
        )
    },
    "e9 b1 another owner's task isn't there": case(
        Step("GetTask", {"id": "{task}"}, NOT_THERE, owner="mallory"),
        Step("GetTask", {"id": "{task}"}, NOT_THERE, tenant="elsewhere"),
        given="",
    ),
}


def another(number: int, **members: Any) -> Step:
    """Make another task."""
    name = f"t{number}"
    sent = message(messageId=name, **members)
    made = {**task("SUBMITTED", {**sent, "taskId": f"{{{name}}}"}, task_id=f"{{{name}}}")}
    return Step(
        "SendMessage",
        {"message": sent, "configuration": NOW},
        {"task": {**made, "contextId": sent["contextId"]}},
        keep={name: "task.id"},
    )


def listed(number: int, **members: Any) -> Json:
    """A task of ``another`` in a list, with its history."""
    name = f"{{t{number}}}"
    shown = task("SUBMITTED", stored(name, messageId=f"t{number}", **members), task_id=name)
    return {**shown, "contextId": members.get("contextId", "ctx")}


LISTING: dict[str, Case] = {
    "e1 w9 a list without tasks has its four fields": case(Step("ListTasks", {}, EMPTY)),
    "e5 tasks in a list are bare, and without their artifacts": case(
        Step("ListTasks", {}, page(task("COMPLETED", *HISTORY, said=agent("Done")))),
        given="work chunks complete",
    ),
    "w9 artifacts where they are asked for, and always there then": case(
        Step(
            "ListTasks",
            {"includeArtifacts": True},
            page(task("COMPLETED", *HISTORY, said=agent("Done"), artifacts=[REPORT])),
        ),
        Step(
            "ListTasks",
            {"includeArtifacts": False},
            page(task("COMPLETED", *HISTORY, said=agent("Done"))),
        ),
        given="work chunks complete",
    ),
    "w9 artifacts of a task that has none": case(
        Step("ListTasks", {"includeArtifacts": True}, page(task("SUBMITTED", first(), artifacts=[]))), given=""
    ),
    "w10 a list's history": case(
        Step("ListTasks", {"historyLength": 0}, page(task("COMPLETED", said=agent("Done")))),
        Step("ListTasks", {"historyLength": 1}, page(task("COMPLETED", agent("Working"), said=agent("Done")))),
        given="work complete",
    ),
    "by context": case(
        another(1, contextId="ctx"),
        another(2, contextId="other"),
        Step("ListTasks", {"contextId": "other"}, page(listed(2, contextId="other"))),
        Step("ListTasks", {"contextId": "nowhere"}, EMPTY),
    ),
    "w9 by status, and the total counts the filter": case(
        another(1),
        Step("ListTasks", {"status": "TASK_STATE_SUBMITTED"}, page(listed(1))),
        Step(
            "ListTasks",
            {"status": "TASK_STATE_COMPLETED"},
            page(task("COMPLETED", first("complete"), said=agent("Done"))),
        ),
        Step("ListTasks", {"status": "TASK_STATE_REJECTED"}, EMPTY),
        given="complete",
    ),
    "by the time of the status, inclusive": case(
        another(1),
        Step("ListTasks", {"statusTimestampAfter": AT}, page(listed(1))),
        Step("ListTasks", {"statusTimestampAfter": "2026-01-01T01:00:00+01:00"}, page(listed(1))),
        Step("ListTasks", {"statusTimestampAfter": "2026-01-01T00:00:00.001Z"}, EMPTY),
    ),
    "page by page, each task once": case(
        another(1),
        another(2),
        another(3),
        Step("ListTasks", {"pageSize": 2}, page(ANY, ANY, size=2, total=3, token=ANY), keep={"token": "nextPageToken"}),
        Step("ListTasks", {"pageSize": 2, "pageToken": "{token}"}, page(ANY, size=2, total=3)),
    ),
    "e8 cursor and limit are no names of ours": case(
        another(1), Step("ListTasks", {"cursor": "x", "limit": 5}, page(listed(1)))
    ),
    "e9 another owner's and another tenant's tasks aren't listed": case(
        Step("ListTasks", {}, EMPTY, owner="mallory"), Step("ListTasks", {}, EMPTY, tenant="elsewhere"), given=""
    ),
    "a tenant of the caller's own": case(
        Step("ListTasks", {"tenant": "acme"}, page(task("SUBMITTED", first()))), given="", tenant="acme"
    ),
}

CANCELING: dict[str, Case] = {
    "a task that nobody has begun": case(
        Step("CancelTask", {"id": "{task}"}, task("CANCELED", first())),
        Step("GetTask", {"id": "{task}"}, task("CANCELED", first())),
        given="",
    ),
    "b8 a task that waits for its client": case(
        Step("CancelTask", {"id": "{task}"}, task("CANCELED", first("ask"), agent("Which one?"))), given="ask"
    ),
    "with metadata, and the tenant": case(
        Step("CancelTask", {"id": "{task}", "metadata": {"why": "late"}, "tenant": "acme"}, task("CANCELED", first())),
        given="",
        tenant="acme",
    ),
    "e9 another owner's task isn't there": case(
        Step("CancelTask", {"id": "{task}"}, NOT_THERE, owner="mallory"),
        Step("GetTask", {"id": "{task}"}, task("SUBMITTED", first())),
        given="",
    ),
}

SHOWN = {**WEBHOOK, "authentication": {"scheme": "Bearer"}}
NO_WEBHOOK = Refused("TASK_NOT_FOUND")

WEBHOOKS: dict[str, Case] = {
    "w11 c12 a config comes back flat, without its secrets": case(
        Step(
            "CreateTaskPushNotificationConfig",
            {**WEBHOOK, "token": "t", "authentication": {"scheme": "Bearer", "credentials": "sek"}},
            SHOWN,
        ),
        Step("GetTaskPushNotificationConfig", {"taskId": "{task}", "id": "c"}, SHOWN),
        Step("ListTaskPushNotificationConfigs", {"taskId": "{task}"}, {"configs": [SHOWN]}),
        given="",
    ),
    "w11 an id is made where none is given": case(
        Step(
            "CreateTaskPushNotificationConfig",
            {"taskId": "{task}", "url": HOOK},
            {**WEBHOOK, "id": "{config}"},
            keep={"config": "id"},
        ),
        Step("GetTaskPushNotificationConfig", {"taskId": "{task}", "id": "{config}"}, {**WEBHOOK, "id": "{config}"}),
        given="",
    ),
    "the same id again replaces it": case(
        Step("CreateTaskPushNotificationConfig", WEBHOOK, WEBHOOK),
        Step("CreateTaskPushNotificationConfig", {**WEBHOOK, "url": f"{HOOK}/2"}, {**WEBHOOK, "url": f"{HOOK}/2"}),
        Step("ListTaskPushNotificationConfigs", {"taskId": "{task}"}, {"configs": [{**WEBHOOK, "url": f"{HOOK}/2"}]}),
        given="",
    ),
    "an id with signs in it": case(
        Step("CreateTaskPushNotificationConfig", {**WEBHOOK, "id": "c:1%2F?&#+"}, {**WEBHOOK, "id": "c:1%2F?&#+"}),
        Step(
            "GetTaskPushNotificationConfig",
            {"taskId": "{task}", "id": "c:1%2F?&#+"},
            {**WEBHOOK, "id": "c:1%2F?&#+"},
        ),
        given="",
    ),
    "page by page": case(
        Step("CreateTaskPushNotificationConfig", WEBHOOK, WEBHOOK),
        Step("CreateTaskPushNotificationConfig", {**WEBHOOK, "id": "d"}, {**WEBHOOK, "id": "d"}),
        Step(
            "ListTaskPushNotificationConfigs",
            {"taskId": "{task}", "pageSize": 1},
            {"configs": [WEBHOOK], "nextPageToken": "{token}"},
            keep={"token": "nextPageToken"},
        ),
        Step(
            "ListTaskPushNotificationConfigs",
            {"taskId": "{task}", "pageSize": 1, "pageToken": "{token}"},
            {"configs": [{**WEBHOOK, "id": "d"}]},
        ),
        given="",
    ),
    "w11 deleting, and again": case(
        Step("CreateTaskPushNotificationConfig", WEBHOOK, WEBHOOK),
        Step("DeleteTaskPushNotificationConfig", {"taskId": "{task}", "id": "c"}, {}),
        Step("DeleteTaskPushNotificationConfig", {"taskId": "{task}", "id": "c"}, {}),
        Step("ListTaskPushNotificationConfigs", {"taskId": "{task}"}, {}),
        Step("GetTaskPushNotificationConfig", {"taskId": "{task}", "id": "c"}, NO_WEBHOOK),
        given="",
    ),
    "on a task that has ended": case(
        Step("CreateTaskPushNotificationConfig", WEBHOOK, WEBHOOK),
        given="complete",
    ),
    "of the caller's own tenant": case(
        Step("CreateTaskPushNotificationConfig", {**WEBHOOK, "tenant": "acme"}, {"tenant": "acme", **WEBHOOK}),
        Step(
            "GetTaskPushNotificationConfig",
            {"taskId": "{task}", "id": "c", "tenant": "acme"},
            {"tenant": "acme", **WEBHOOK},
        ),
        Step(
            "ListTaskPushNotificationConfigs",
            {"taskId": "{task}", "tenant": "acme"},
            {"configs": [{"tenant": "acme", **WEBHOOK}]},
        ),
        Step("DeleteTaskPushNotificationConfig", {"taskId": "{task}", "id": "c", "tenant": "acme"}, {}),
        given="",
        tenant="acme",
    ),
    "e9 another owner has none, and can neither make nor delete any": case(
        Step("CreateTaskPushNotificationConfig", WEBHOOK, WEBHOOK),
        Step("CreateTaskPushNotificationConfig", WEBHOOK, NOT_THERE, owner="mallory"),
        Step("GetTaskPushNotificationConfig", {"taskId": "{task}", "id": "c"}, NOT_THERE, owner="mallory"),
        Step("ListTaskPushNotificationConfigs", {"taskId": "{task}"}, NOT_THERE, owner="mallory"),
        Step("DeleteTaskPushNotificationConfig", {"taskId": "{task}", "id": "c"}, NOT_THERE, owner="mallory"),
        Step("ListTaskPushNotificationConfigs", {"taskId": "{task}"}, {"configs": [WEBHOOK]}),
        given="",
    ),
}

BASE = "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/prod"

REST: dict[str, Case] = {
    "e23 the extended card tells more": case(
        Step(
            "GetExtendedAgentCard",
            {},
            {
                "name": "test-agent",
                "description": "Does more for those it knows.",
                "version": "1.2.3",
                "supportedInterfaces": [
                    {"url": f"{BASE}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
                    {"url": BASE, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
                ],
                "capabilities": {
                    "streaming": False,
                    "pushNotifications": True,
                    "extendedAgentCard": True,
                    "extensions": [{"uri": EXTENSION}, ANY],
                },
                "securitySchemes": {"jwt": ANY},
                "securityRequirements": [{"schemes": {"jwt": {}}}],
                "defaultInputModes": ["text/*", "application/json", "image/png"],
                "defaultOutputModes": ["text/plain", "application/json"],
                "skills": [{"id": "s", "name": "Skill", "description": "A skill.", "tags": ["test"]}],
            },
        ),
        profile="extended",
    ),
    "e23 the extended card of the caller's tenant": case(
        Step("GetExtendedAgentCard", {"tenant": "acme"}, ANY), profile="extended", tenant="acme"
    ),
    "d7 a stream isn't offered": case(
        Step("SendStreamingMessage", {"message": message(), "configuration": NOW}, Refused("UNSUPPORTED_OPERATION"))
    ),
    "d7 subscribing isn't offered": case(
        Step("SubscribeToTask", {"id": "{task}", "tenant": "acme"}, Refused("UNSUPPORTED_OPERATION")),
        given="",
        tenant="acme",
    ),
}

OPERATIONS: dict[str, Case] = {
    f"{chapter}: {name}": told
    for chapter, cases in {
        "SendMessage": SENDING,
        "GetTask": GETTING,
        "ListTasks": LISTING,
        "CancelTask": CANCELING,
        "webhooks": WEBHOOKS,
        "others": REST,
    }.items()
    for name, told in cases.items()
}
