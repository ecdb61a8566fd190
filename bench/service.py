"""A stand-in for AWS's JSON services, in a process of its own so that its CPU isn't counted as the caller's."""

from __future__ import annotations

import multiprocessing
import socketserver
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

Answered = Callable[[str, bytes], bytes]  # operation (the part of X-Amz-Target after the dot), body -> body


class Service(socketserver.ThreadingTCPServer):
    """Answers on a free port of this machine, connections kept open; what is no POST is 404."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, answered: Answered) -> None:
        self.answered = answered
        super().__init__(("127.0.0.1", 0), _Connection)

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Connection(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    server: Service

    def handle(self) -> None:
        while request := self.rfile.readline():
            length, target = 0, ""
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                name, _, value = line.decode("latin-1").partition(":")
                if name.lower() == "content-length":
                    length = int(value)
                elif name.lower() == "x-amz-target":
                    target = value.strip().rpartition(".")[2]
            body = self.server.answered(target, self.rfile.read(length))
            status = b"200 OK" if request.startswith(b"POST") else b"404 Not Found"
            self.wfile.write(
                b"HTTP/1.1 %s\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n%s"
                % (status, len(body), body)
            )


@contextmanager
def apart(serve: Callable[..., None], *args: Any, seconds: float = 30) -> Iterator[Any]:
    """Run ``serve(pipe, *args)`` in a process of its own until the block ends; what it sends once it is ready.

    Raises:
        RuntimeError: it wasn't ready within so many seconds.
    """
    context = multiprocessing.get_context("spawn")
    ours: Connection
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, *args), daemon=True)
    process.start()
    try:
        if not ours.poll(seconds):
            raise RuntimeError(f"{serve.__module__} wasn't ready within {seconds:.0f} s")
        yield ours.recv()
    finally:
        process.terminate()
        process.join(10)
