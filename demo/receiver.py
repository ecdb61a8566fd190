"""The client's receiver: a small HTTP server on loopback that takes notifications and answers 204."""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

LARGEST_BODY = 4_000_000  # bytes


@dataclass(frozen=True, slots=True)
class Arrival:
    """A POST as it came in; ``at`` is when its last byte had arrived, milliseconds since 1970."""

    headers: Mapping[str, str]
    body: bytes
    at: int


class Receiver:
    """Listens on 127.0.0.1, on a free port and a path nobody can guess, while the ``with`` block runs."""

    def __init__(self) -> None:
        self._arrivals: queue.SimpleQueue[Arrival] = queue.SimpleQueue()
        self._path = f"/notifications/{secrets.token_urlsafe(8)}"
        arrivals, path = self._arrivals, self._path

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 30

            def do_POST(self) -> None:
                length = self.headers.get("Content-Length", "")
                if self.path != path or not length.isdecimal() or int(length) > LARGEST_BODY:
                    self._answer(404)
                    return
                body = self.rfile.read(int(length))
                arrivals.put(Arrival(dict(self.headers.items()), body, time.time_ns() // 1_000_000))
                self._answer(204)

            def _answer(self, status: int) -> None:
                self.close_connection = True
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """The demo tells what arrives."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="receiver", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{self._path}"

    def next(self, seconds: float) -> Arrival | None:
        """The next arrival, waited for so long at most."""
        try:
            return self._arrivals.get(timeout=seconds) if seconds > 0 else self._arrivals.get_nowait()
        except queue.Empty:
            return None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
