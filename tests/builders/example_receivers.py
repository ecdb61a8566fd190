"""The receivers of examples/receivers, running: each in a process of its own, on loopback."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from local.environments import ROOT

from builders.js_verifier import EXAMPLE as EXPRESS
from builders.js_verifier import js_verifier

FASTAPI = ROOT / "examples" / "receivers" / "fastapi_receiver.py"
BOUND = 60  # seconds that a process may take to start, or to end


@dataclass
class Running:
    """A receiver. ``handled`` holds the lines that it wrote about what it dealt with, once it has ended."""

    url: str
    handled: list[str]


@contextmanager
def fastapi(settings: Mapping[str, str], program: Path = FASTAPI) -> Iterator[Running]:
    """FastAPI's under uvicorn, which is given a socket that listens already."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [sys.executable, "-m", "uvicorn", "--fd", str(server.fileno()), "--no-access-log"]
        process = subprocess.Popen(
            [*command, "--log-level", "warning", "--app-dir", str(program.parent), f"{program.stem}:app"],
            env=_environment(settings) | {"PYTHONPATH": str(ROOT / "layers/herald/python")},
            pass_fds=[server.fileno()],
            stdout=subprocess.PIPE,
            text=True,
        )
        port = server.getsockname()[1]
        running = Running(f"http://127.0.0.1:{port}", [])
        with _ending(process, running):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=BOUND)
            connection.request("GET", "/")
            connection.getresponse()  # it has started: no delivery's time goes by for that
            connection.close()
            yield running


@contextmanager
def express(settings: Mapping[str, str], program: str = EXPRESS.name) -> Iterator[Running]:
    """Express's under Node, on a port of its own choice. The test is skipped where there is no Node."""
    there = js_verifier()
    process = subprocess.Popen(
        [there.node, program],
        cwd=there.place,
        env=_environment(settings) | {"PORT": "0"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    running = Running("", [])
    with _ending(process, running):
        told = process.stdout.readline()
        assert told.startswith("listening on "), told
        running.url = f"http://127.0.0.1:{told.split()[-1]}"
        yield running


EXAMPLES: dict[str, Callable[[Mapping[str, str]], AbstractContextManager[Running]]] = {
    "fastapi": fastapi,
    "express": express,
}


@contextmanager
def _ending(process: subprocess.Popen[str], running: Running) -> Iterator[None]:
    try:
        yield
    finally:
        process.terminate()
        try:
            written, _ = process.communicate(timeout=BOUND)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    running.handled += written.splitlines()


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    bare = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return bare | {"PYTHONDONTWRITEBYTECODE": "1", "NO_PROXY": "127.0.0.1"} | dict(settings)
