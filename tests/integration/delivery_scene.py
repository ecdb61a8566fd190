"""The stack on moto with what a client asks of it, and receivers on loopback, for tests of delivery."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from moto import mock_aws

from builders.events import rest_event, rpc_event
from builders.receivers import Manners, Receiver
from builders.stores import BUCKET, TABLE
from herald import bootstrap
from herald.log import Appender, status_entry
from herald.ports import Webhooks
from herald.protocol import codec
from herald.protocol.states import TaskState
from herald.records import Entry, Header, TaskRef, Webhook
from herald.webhooks import Notification, verify
from integration.pump import Stack, deployed, load

OWNER = "alice"


@dataclass
class Scene:
    """The deployed stack, what a client asks of it, and what an agent would write."""

    stack: Stack

    def call(self, method: str, params: object) -> Any:
        """The result of a JSON-RPC call."""
        answer = self.stack.invoke("api", rpc_event(method, params, owner=OWNER))
        found = json.loads(answer["body"])
        assert "error" not in found, found
        return found["result"]

    def new_task(self, url: str, **config: Any) -> TaskRef:
        """SendMessage with an inline webhook."""
        message = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
        inline = {"id": "cfg", "url": url, **config}
        params = {
            "message": message,
            "configuration": {"returnImmediately": True, "taskPushNotificationConfig": inline},
        }
        return TaskRef("", OWNER, self.call("SendMessage", params)["task"]["id"])

    @cached_property
    def platform(self) -> bootstrap.Platform:
        return bootstrap.Platform(os.environ)

    @cached_property
    def webhooks(self) -> Webhooks:
        return self.platform.webhooks(TABLE)

    def append(self, ref: TaskRef, state: TaskState) -> Entry:
        platform = self.platform
        log = platform.task_log(TABLE, BUCKET)
        header = log.header(ref)
        assert header is not None
        appender = Appender(log, platform.clock, platform.ids, header, header.end, lambda _: None)
        now = platform.clock.now()

        def after(before: Header, entry: Entry) -> Header:
            return before.with_status(entry, due_at=None)

        return appender.commit(lambda number, writer: status_entry(appender.header, number, writer, state, now), after)

    def put_artifact(self, ref: TaskRef, text: str) -> Entry:
        platform = self.platform
        log = platform.task_log(TABLE, BUCKET)
        header = log.header(ref)
        assert header is not None
        update = {"taskId": ref.task_id, "contextId": header.context_id}
        body = codec.dumps({"artifactUpdate": {**update, "artifact": {"artifactId": "a", "parts": [{"text": text}]}}})
        entry = Entry(header.end + 1, "artifact", body, platform.clock.now(), platform.ids.token(), turn=0)
        assert log.put(ref, entry, header.expires_second)
        return entry

    def webhook(self, ref: TaskRef) -> Webhook:
        found = self.webhooks.get(ref, "cfg")
        assert found is not None
        return found

    def jwks(self) -> dict[str, Any]:
        answer = self.stack.invoke("publish_keys", rest_event("GET", "/.well-known/jwks.json"))
        found: dict[str, Any] = json.loads(answer["body"])
        return found


@contextmanager
def delivery_scene() -> Iterator[Scene]:
    """A stack whose webhooks may be on this machine."""
    with mock_aws(), deployed({"HERALD_WEBHOOK_ALLOW": "127.0.0.1:*"}) as stack:
        for function in ("api", "publish_keys", "ring_webhooks", "send_webhooks"):
            stack.functions[function] = load(function)
        yield Scene(stack)


def statuses(*codes: int) -> Manners:
    """Answer these one after the other, then 204."""
    left = list(codes)

    def manners(_: Receiver, connection: socket.socket) -> None:
        code = left.pop(0) if left else 204
        connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % code)

    return manners


def got(here: Receiver, jwks: dict[str, Any]) -> list[Notification]:
    """What a receiver got, each verified against the published keys."""
    found = []
    for request in here.requests:
        head, _, body = request.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
        found.append(verify(body, headers, jwks=jwks))
    return found
