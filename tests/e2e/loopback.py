"""HTTP on loopback for e2e tests: receivers that do as they are told, and places where an agent waits for the test."""

from __future__ import annotations

import json
import random
import secrets
import threading
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from e2e.waiting import wait_for
from herald.webhooks import VerificationError, verify

Json = dict[str, Any]
Jwks = Callable[[], Mapping[str, Any]]

# Below those that systems give to outgoing connections: none takes the port of a receiver that is being restarted.
PORTS = range(22_000, 32_000)

LONGEST_HOLD = 100.0  # seconds; a thread that waits for a test doesn't outlive it for long
ENDED = {"TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A peer that has gone is part of some tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status: int, body: bytes = b"") -> None:
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Tests read arrivals, not logs."""


class _Listener:
    """A server in a thread of its own, on a port that it keeps when it is stopped and started again."""

    def __init__(self, handler: type[_Handler]) -> None:
        self._handler = handler
        self._port = 0
        self._server: _Server | None = None

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        [server] = wait_for("a free port", self._bound)
        self._server, self._port = server, server.server_port
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()

    def _bound(self) -> list[_Server]:
        port = self._port or random.choice(PORTS)  # noqa: S311 - nothing secret
        try:
            return [_Server(("127.0.0.1", port), self._handler)]
        except OSError:
            return []

    def stop(self) -> None:
        """Close the port: who connects from now on is refused."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


@dataclass(frozen=True)
class Arrival:
    """A notification as it came in, and what is wrong with its signatures ("" when both hold)."""

    headers: Mapping[str, str]  # names in lower case
    body: bytes
    fault: str
    peer_port: int

    @property
    def message_id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def number(self) -> int:
        """The log entry that it tells of."""
        return int(self.message_id.rsplit("_", 1)[1])

    @property
    def event(self) -> Json:
        event: Json = json.loads(self.body)
        return event

    @property
    def task_id(self) -> str:
        ((kind, content),) = self.event.items()
        return str(content["id" if kind == "task" else "taskId"])

    @property
    def state(self) -> str:
        """The state that it tells; "" when it tells none."""
        ((_, content),) = self.event.items()
        return str(content.get("status", {}).get("state", ""))


def genuine(arrivals: Sequence[Arrival]) -> list[int]:
    """The numbers of the notifications as they arrived. Each holds its signatures, and all are one webhook's."""
    assert [arrival.fault for arrival in arrivals] == [""] * len(arrivals)
    assert len({arrival.message_id.rsplit("_", 1)[0] for arrival in arrivals}) <= 1
    return [arrival.number for arrival in arrivals]


@dataclass
class Receiver:
    """A webhook's receiver. Each arrival is verified as it comes in, both ways, and answered with what ``answers``
    holds next: a status, or what gives one; 204 when it holds nothing.

    ``token`` is registered with the webhook: a ``whsec_`` secret, unless the test gives another.
    """

    jwks: Jwks
    token: str = field(default_factory=lambda: "whsec_" + b64encode(secrets.token_bytes(32)).decode())
    answers: deque[int | Callable[[Arrival], int]] = field(default_factory=deque)
    body: Callable[[Arrival], bytes] = lambda _: b""
    arrivals: list[Arrival] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._path = f"/hooks/{secrets.token_urlsafe(6)}"
        receiver = self

        class Handler(_Handler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                arrival = receiver._arrived(dict(self.headers.items()), body, self.client_address[1])
                answer = receiver.answers.popleft() if receiver.answers else 204
                receiver.arrivals.append(arrival)
                status = answer if isinstance(answer, int) else answer(arrival)
                self.answer(status, receiver.body(arrival))

        self._listener = _Listener(Handler)
        self.start, self.stop = self._listener.start, self._listener.stop

    @property
    def url(self) -> str:
        return self._listener.origin + self._path

    @property
    def config(self) -> Json:
        """This receiver as a TaskPushNotificationConfig."""
        return {"url": self.url, "token": self.token}

    def of(self, task_id: str) -> list[Arrival]:
        """What arrived about one task, in the order of arrival."""
        return [arrival for arrival in list(self.arrivals) if arrival.task_id == task_id]

    def wait_for_state(self, task_id: str, state: str) -> list[Arrival]:
        """What arrived about a task, once it tells this state."""

        def look() -> list[Arrival]:
            found = self.of(task_id)
            return found if any(arrival.state == state for arrival in found) else []

        return wait_for(f"{state} at the receiver", look)

    def wait_for_end(self, task_id: str) -> list[Arrival]:
        """What arrived about a task, once it tells that the task has ended."""

        def look() -> list[Arrival]:
            found = self.of(task_id)
            return found if any(arrival.state in ENDED for arrival in found) else []

        return wait_for("the end of the task at the receiver", look)

    def _arrived(self, headers: Mapping[str, str], body: bytes, peer_port: int) -> Arrival:
        lower = {name.lower(): value for name, value in headers.items()}
        fault = "; ".join(filter(None, (self._v1a_fault(lower, body), self._v1_fault(lower, body))))
        return Arrival(lower, body, fault, peer_port)

    def _v1a_fault(self, headers: Mapping[str, str], body: bytes) -> str:
        try:
            verify(body, headers, jwks=self.jwks())
        except (VerificationError, ValueError) as error:
            return f"v1a: {error}"
        return ""

    def _v1_fault(self, headers: dict[str, str], body: bytes) -> str:
        if not self.token.startswith("whsec_"):
            return ""
        try:
            Webhook(self.token).verify(body.decode(), headers)
        except (WebhookVerificationError, ValueError) as error:
            return f"v1: {error!r}"
        return ""


class Meeting:
    """A URL at which an agent waits until the test lets it go on; or a receiver's answer that does."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._over = threading.Event()
        meeting = self

        class Handler(_Handler):
            def do_GET(self) -> None:
                meeting.wait()
                self.answer(204)

        self._listener = _Listener(Handler)

    @property
    def url(self) -> str:
        return self._listener.origin + "/"

    def wait(self) -> None:
        """Be there, and wait to be let go."""
        self._reached.set()
        self._over.wait(LONGEST_HOLD)

    def wait_until_reached(self) -> None:
        wait_for("somebody at the meeting", self._reached.is_set)

    @property
    def reached(self) -> bool:
        return self._reached.is_set()

    def release(self) -> None:
        """Let go whoever is there, and who comes later."""
        self._over.set()

    def start(self) -> None:
        self._listener.start()

    def stop(self) -> None:
        self.release()
        self._listener.stop()
