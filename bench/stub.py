"""A local stand-in for AWS's JSON services: answers each call at once with a canned body and counts what it was asked.

It runs in a process of its own, so that its CPU isn't counted as the caller's.
"""

from __future__ import annotations

import json
import multiprocessing
import socketserver
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

Canned = dict[str, Any]  # operation (the part of X-Amz-Target after the dot) -> answer


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def _serve(pipe: Connection, canned: Canned) -> None:
    bodies = {name: json.dumps(answer).encode() for name, answer in canned.items()}

    class Handler(socketserver.StreamRequestHandler):
        disable_nagle_algorithm = True

        def handle(self) -> None:
            while request := self.rfile.readline():
                length, target = 0, ""
                while (line := self.rfile.readline()) not in (b"\r\n", b""):
                    name, _, value = line.decode("latin-1").partition(":")
                    if name.lower() == "content-length":
                        length = int(value)
                    elif name.lower() == "x-amz-target":
                        target = value.strip().rpartition(".")[2]
                self.rfile.read(length)
                body = bodies.get(target, b"{}")
                status = b"200 OK" if request.startswith(b"POST") else b"404 Not Found"
                self.wfile.write(
                    b"HTTP/1.1 %s\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n%s"
                    % (status, len(body), body)
                )

    with _Server(("127.0.0.1", 0), Handler) as server:
        pipe.send(server.server_address[1])
        server.serve_forever()


@contextmanager
def stub(canned: Canned) -> Iterator[str]:
    """The address of a running stub, e.g. ``http://127.0.0.1:41234``."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, canned), daemon=True)
    process.start()
    try:
        if not ours.poll(30):
            raise RuntimeError("the stub didn't start within 30 s")
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.terminate()
        process.join(10)
