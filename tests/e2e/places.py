"""Where a test's stack stands: a folder that no other run uses, a free port, and an end that cleans up."""

from __future__ import annotations

import contextlib
import fcntl
import random
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from local.environments import ROOT
from local.stack import Place

from e2e.loopback import PORTS


@contextmanager
def own_place(name: str) -> Iterator[Place]:
    """A folder that no other run of these tests uses, and a free port. The build in it serves the next run."""
    for number in range(1, 10):
        folder = ROOT / ".local" / (name if number == 1 else f"{name}-{number}")
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "in-use").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            yield Place(folder, free_port())
            return
    raise RuntimeError("nine runs of these tests are going on in this folder; wait for one of them to end")


def free_port() -> int:
    """A port that nobody has now, and that no outgoing connection takes before the emulator does."""
    for port in random.sample(PORTS, 100):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise RuntimeError(f"a hundred ports of {PORTS} are taken")


@contextmanager
def ended_like_ctrl_c() -> Iterator[None]:
    """A SIGTERM ends the tests as Ctrl-C does, cleaning up, while the block runs."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
