"""The HTTP+JSON binding as a test calls it: JSON in, JSON out, an error where one is expected."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import httpx

from e2e.loopback import ENDED
from e2e.waiting import wait_for

Json = dict[str, Any]

HEADERS = {"A2A-Version": "1.0", "Content-Type": "application/a2a+json"}


def message(*parts: Json, **fields: Any) -> Json:
    """A message of the client's, with an id of its own unless one is given."""
    return {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": list(parts), **fields}


def script(*steps: Json, ended: str = "") -> Json:
    """The part that tells the scripted agent what to do."""
    return {"data": {"script": list(steps), **({"ended": ended} if ended else {})}}


class Client:
    """Calls one agent, with an access token or, where nobody asks for one, without."""

    def __init__(self, base_url: str, token: str = "") -> None:
        self.base_url = base_url
        self.headers = HEADERS | ({"Authorization": f"Bearer {token}"} if token else {})
        # An address of this machine; no proxy that the environment names gets between.
        self._http = httpx.Client(base_url=base_url, headers=self.headers, timeout=60, trust_env=False)

    def close(self) -> None:
        self._http.close()

    def trace(self, traceparent: str) -> None:
        """From here on every call belongs to this trace."""
        self._http.headers["traceparent"] = traceparent

    def send(self, said: Json, *, webhook: Json | None = None, wait: bool = False) -> Json:
        """SendMessage; the SendMessageResponse. ``wait``: for the task's end, as long as the server does."""
        configuration: Json = {} if wait else {"returnImmediately": True}
        if webhook is not None:
            configuration["taskPushNotificationConfig"] = webhook
        return self.call("POST", "/message:send", {"message": said, "configuration": configuration})

    def start(self, *steps: Json, webhook: Json | None = None, ended: str = "") -> str:
        """Send a script; the id of its task."""
        task: Json = self.send(message(script(*steps, ended=ended)), webhook=webhook)["task"]
        assert task["status"]["state"] == "TASK_STATE_SUBMITTED"
        return str(task["id"])

    def task(self, task_id: str) -> Json:
        return self.call("GET", f"/tasks/{task_id}")

    def state(self, task_id: str) -> str:
        return str(self.task(task_id)["status"]["state"])

    def wait_for_state(self, task_id: str, *states: str) -> Json:
        """The task, once it is in one of these states."""

        def look() -> Json:
            task = self.task(task_id)
            return task if task["status"]["state"] in states else {}

        return wait_for(f"task {task_id} to be {' or '.join(states)}", look)

    def wait_for_end(self, task_id: str) -> Json:
        return self.wait_for_state(task_id, *ENDED)

    def cancel(self, task_id: str) -> Json:
        return self.call("POST", f"/tasks/{task_id}:cancel", {})

    def register(self, task_id: str, config: Json) -> str:
        """CreateTaskPushNotificationConfig; the webhook's id."""
        return str(self.call("POST", f"/tasks/{task_id}/pushNotificationConfigs", config)["id"])

    def unregister(self, task_id: str, config_id: str) -> None:
        self.call("DELETE", f"/tasks/{task_id}/pushNotificationConfigs/{config_id}")

    def answer(self, method: str, path: str, body: Json | None = None) -> httpx.Response:
        """Any call; its answer as it is."""
        return self._http.request(method, path, json=body)

    def call(self, method: str, path: str, body: Json | None = None) -> Json:
        """A call that must succeed; its answer, {} when it is empty."""
        answer = self.answer(method, path, body)
        assert answer.is_success, f"{method} {path} answered {answer.status_code}: {answer.text[:500]}"
        told: Json = answer.json() if answer.content else {}
        return told

    def refused(self, method: str, path: str, body: Json | None = None) -> tuple[int, Json]:
        """A call that must fail; its status and error."""
        answer = self.answer(method, path, body)
        assert answer.is_error, f"{method} {path} answered {answer.status_code}: {answer.text[:500]}"
        error: Json = answer.json()["error"]
        return answer.status_code, error


def said(task: Json) -> str:
    """The text of a task's status message."""
    parts: Sequence[Json] = task["status"].get("message", {}).get("parts", [])
    return "\n".join(part["text"] for part in parts if "text" in part)
