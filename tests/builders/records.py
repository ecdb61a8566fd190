"""Records with sensible defaults: name only what a test is about."""

from __future__ import annotations

import json
from typing import Any

from fakes.clock import START
from herald.protocol.states import TaskState
from herald.records import Entry, Header, TaskRef, Webhook

DAY = 86_400
TASK_ID = "mfrggzdfmztwq2lknnwg23tpoa"  # 26 characters, as Herald makes them
CONTEXT_ID = "ctx-1"
KEY = "kaaaaaaaaaaaaaaaaaaaaaaaaa"


def a_ref(task_id: str = TASK_ID, *, tenant: str = "acme", owner: str = "alice") -> TaskRef:
    return TaskRef(tenant, owner, task_id)


def a_message(text: str = "hi", **members: Any) -> dict[str, Any]:
    """A user's message in ProtoJSON: ``a_message("hi", messageId="m2", taskId=…)``."""
    return {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": text}], **members}


def a_header(**fields: Any) -> Header:
    """The header of a task that was just made (SUBMITTED, turn 0, no run)."""
    known: dict[str, Any] = {
        "ref": a_ref(),
        "context_id": CONTEXT_ID,
        "state": TaskState.SUBMITTED,
        "status_at": START,
        "status_number": -1,
        "turn": 0,
        "opened_at": START,
        "run": -1,
        "end": 0,
        "created_at": START,
        "end_by": START + 30 * DAY * 1000,
        "expires_second": START // 1000 + 60 * DAY,
        "due_at": START + 60_000,
        "send_hash": "5e" * 32,
    }
    return Header(**{**known, **fields})


def message_entry(number: int = 0, message: dict[str, Any] | None = None, **fields: Any) -> Entry:
    """A message entry that opens the turn of its own number."""
    body = {"message": {"contextId": CONTEXT_ID, **(message or a_message())}}
    return _entry(number, "message", body, {"turn": number, **fields})


def run_entry(number: int, **fields: Any) -> Entry:
    return _entry(number, "run", {}, {"run": number, **fields})


def status_entry(number: int, state: TaskState = TaskState.WORKING, text: str = "", **fields: Any) -> Entry:
    """A status entry with its wire body; ``text`` becomes the status message."""
    status: dict[str, Any] = {"state": state.value}
    if text:
        status["message"] = {"messageId": f"s{number}", "role": "ROLE_AGENT", "parts": [{"text": text}]}
    status["timestamp"] = "2026-01-01T00:00:00.000Z"
    body = {"statusUpdate": {"taskId": TASK_ID, "contextId": CONTEXT_ID, "status": status}}
    return _entry(number, "status", body, {"state": state, **fields})


def artifact_entry(
    number: int, text: str = "chunk", artifact_id: str = "a1", *, append: bool = False, **fields: Any
) -> Entry:
    """An artifact entry with its wire body: one text part."""
    update: dict[str, Any] = {
        "taskId": TASK_ID,
        "contextId": CONTEXT_ID,
        "artifact": {"artifactId": artifact_id, "parts": [{"text": text}]},
    }
    if append:
        update["append"] = True
    return _entry(number, "artifact", {"artifactUpdate": update}, fields)


def _entry(number: int, kind: str, body: dict[str, Any], fields: dict[str, Any]) -> Entry:
    known: dict[str, Any] = {
        "number": number,
        "kind": kind,
        "body": json.dumps(body, ensure_ascii=False, separators=(",", ":")),
        "at": START,
        "writer": f"w{number}",
        "turn": 0,
    }
    return Entry(**{**known, **fields})


def a_webhook(config_id: str = "cfg-1", **fields: Any) -> Webhook:
    """An active webhook that has dealt with everything up to entry 0, its snapshot delivered."""
    known: dict[str, Any] = {
        "ref": a_ref(),
        "key": KEY,
        "url": "https://client.example/hook",
        "sealed": "",
        "cursor": 0,
        "snapshot": 0,
        "snapshot_due": False,
        "created_at": START,
        "expires_second": START // 1000 + 60 * DAY,
    }
    return Webhook(config_id=config_id, **{**known, **fields})
