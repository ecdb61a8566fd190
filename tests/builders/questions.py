"""What somebody may ask about a task that isn't theirs: every operation, with all that names the task or is of it.

A test asks each question twice, of what is another's and of what never existed, and compares the answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import quote, urlencode

from herald.bindings.rest import ROUTES

Json = dict[str, Any]

HOOK = "https://127.0.0.1:9999/in"


@dataclass(frozen=True)
class Heard:
    """The names that a stranger has heard of, or has made up."""

    task: str
    context: str
    config: str
    page: str
    key: str

    def fill(self, params: Any) -> Any:
        """``params`` with each ``{task}``, ``{context}`` … replaced."""
        text = json.dumps(params)
        for field in fields(self):
            text = text.replace(f"{{{field.name}}}", json.dumps(getattr(self, field.name))[1:-1])
        return json.loads(text)

    def mask(self, text: str) -> str:
        """``text`` without these names, whatever they are."""
        for field in sorted(fields(self), key=lambda each: -len(getattr(self, each.name))):
            text = text.replace(getattr(self, field.name), f"<{field.name}>")
        return text


NEVER = Heard(task="a" * 26, context="b" * 26, config="no-such-config", page="no-such-page", key="no-such-key")


@dataclass(frozen=True)
class Question:
    """One request.

    Attributes:
        says_something: whether its owner's own answer differs from that about what never existed.
        makes: it begins a task of the stranger's own, so ids and times of the answers are different ones.
    """

    operation: str
    params: Json
    says_something: bool = True
    makes: bool = False


def _message(**members: Any) -> Json:
    return {"messageId": "m-stranger", "role": "ROLE_USER", "parts": [{"text": "open up"}], **members}


_NOW = {"returnImmediately": True}
_INLINE = {**_NOW, "taskPushNotificationConfig": {"id": "{config}", "url": HOOK}}

QUESTIONS = (
    Question("SendMessage", {"message": _message(taskId="{task}"), "configuration": _NOW}),
    Question("SendMessage", {"message": _message(taskId="{task}", contextId="{context}"), "configuration": _NOW}),
    Question("SendMessage", {"message": _message(taskId="{task}"), "configuration": _INLINE}),
    Question(
        "SendMessage",
        {"message": _message(taskId="{task}"), "configuration": _NOW, "metadata": {"idempotencyKey": "{key}"}},
    ),
    Question("SendMessage", {"message": _message(referenceTaskIds=["{task}"]), "configuration": _NOW}),
    Question(
        "SendMessage",
        {"message": _message(), "configuration": _NOW, "metadata": {"idempotencyKey": "{key}"}},
        makes=True,
    ),
    Question(
        "SendMessage",
        {"message": _message(contextId="{context}"), "configuration": _NOW},
        says_something=False,
        makes=True,
    ),
    Question("SendStreamingMessage", {"message": _message(taskId="{task}")}, says_something=False),
    Question("GetTask", {"id": "{task}"}),
    Question("GetTask", {"id": "{task}", "historyLength": 0}),
    Question("CancelTask", {"id": "{task}"}),
    Question("SubscribeToTask", {"id": "{task}"}, says_something=False),
    Question("ListTasks", {}, says_something=False),
    Question("ListTasks", {"contextId": "{context}", "includeArtifacts": True}),
    Question("ListTasks", {"pageSize": 1, "pageToken": "{page}"}),
    Question("CreateTaskPushNotificationConfig", {"taskId": "{task}", "id": "{config}", "url": HOOK}),
    Question("CreateTaskPushNotificationConfig", {"taskId": "{task}", "url": "https://127.0.0.1:9999/another"}),
    Question("GetTaskPushNotificationConfig", {"taskId": "{task}", "id": "{config}"}),
    Question("ListTaskPushNotificationConfigs", {"taskId": "{task}"}),
    Question("ListTaskPushNotificationConfigs", {"taskId": "{task}", "pageSize": 1, "pageToken": "{config}"}),
    Question("DeleteTaskPushNotificationConfig", {"taskId": "{task}", "id": "{config}"}),
    Question("GetExtendedAgentCard", {}, says_something=False),
)

_MADE = re.compile(r"\b[a-z2-7]{26}\b|\d{4}-\d\d-\d\dT[\d:.]+Z")


def without_made(text: str) -> str:
    """``text`` without the ids and times that a new task has."""
    return _MADE.sub("<made>", text)


def over_rest(operation: str, params: Json, tenant: str = "") -> Iterable[tuple[str, str, Json | None]]:
    """Verb, target and body of each way to say it over HTTP+JSON; ``tenant`` is the path's."""
    for route in (route for route in ROUTES if route.operation == operation):
        rest = dict(params)
        path = re.sub(r"\{(\w+)\}", lambda found: quote(str(rest.pop(found[1])), safe=""), route.path)  # noqa: B023
        target = f"/{quote(tenant, safe='')}{path}" if tenant else path
        if route.method in ("GET", "DELETE"):
            said = {name: str(value).lower() if isinstance(value, bool) else value for name, value in rest.items()}
            yield route.method, f"{target}?{urlencode(said)}" if said else target, None
        else:
            yield route.method, target, rest


def over_rpc(operation: str, params: Json, tenant: str = "") -> Json:
    """The JSON-RPC envelope."""
    named = {**params, "tenant": tenant} if tenant else params
    return {"jsonrpc": "2.0", "id": 1, "method": operation, "params": named}
