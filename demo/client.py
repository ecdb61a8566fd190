"""A client of the A2A HTTP+JSON binding, as small as one can be: SendMessage, GetTask, and the sender's public keys."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from demo.errors import DemoError

MEDIA_TYPE = "application/a2a+json"
SECONDS = 30  # for one request

# Nothing here may leave this machine, whatever proxies the environment names.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class Client:
    """Speaks to an agent at ``base_url``, with an access token.

    Every method raises DemoError when the agent can't be reached, or answers with an error.
    """

    base_url: str
    access_token: str = field(repr=False)

    def send(self, words: str, file: bytes, filename: str, webhook: str, token: str) -> dict[str, Any]:
        """Send a message with a CSV file and a webhook for all that follows; the Task, as soon as it is stored."""
        csv = {"raw": base64.b64encode(file).decode(), "mediaType": "text/csv", "filename": filename}
        message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [{"text": words}, csv]}
        configuration = {"returnImmediately": True, "taskPushNotificationConfig": {"url": webhook, "token": token}}
        answer = self._call("POST", "/message:send", {"message": message, "configuration": configuration})
        task: dict[str, Any] = answer["task"]
        return task

    def task(self, task_id: str) -> dict[str, Any]:
        """GetTask, with all of its history."""
        task: dict[str, Any] = self._call("GET", f"/tasks/{task_id}")
        return task

    def _call(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {
            "A2A-Version": "1.0",
            "Accept": MEDIA_TYPE,
            "Authorization": f"Bearer {self.access_token}",
            "Content-Type": MEDIA_TYPE,
        }
        return fetch(self.base_url + path, data, headers, method)


def fetch(url: str, body: bytes | None = None, headers: dict[str, str] | None = None, method: str = "GET") -> Any:
    """The JSON that a URL answers with, numbers digit for digit.

    Raises:
        DemoError: nobody answers there, or with an error.
    """
    request = urllib.request.Request(url, body, headers or {}, method=method)  # noqa: S310 - addresses of our own stack
    try:
        with _OPENER.open(request, timeout=SECONDS) as answer:
            return json.loads(answer.read(), parse_float=Decimal)
    except urllib.error.HTTPError as error:
        raise DemoError(f"{method} {url} was answered with {error.code}: {_told(error.read())}") from error
    except (OSError, ValueError) as error:
        raise DemoError(
            f"{method} {url} got no answer: {error}", "Is the local stack up? Start it with: make up"
        ) from error


def _told(body: bytes) -> str:
    """The message of a google.rpc.Status, or whatever else was answered, cut."""
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return body[:300].decode(errors="replace").strip() or "an empty body"
