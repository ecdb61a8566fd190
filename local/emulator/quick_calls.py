"""A call is answered as soon as its handler is done, with all that the handler has logged.

MiniStack waits 50 ms for a first line of the handler's log, which would drown every time that the local stack shows;
and a line that its reading thread hasn't got to by then appears with the function's next call, if there is one. What
was logged lies in the pipe before the answer does, so here it is read on the spot.
"""

from __future__ import annotations

import os
import queue
import select
from threading import Lock
from typing import IO, Any

from ministack.core import lambda_runtime

CHUNK = 65_536


class Lines:
    """A worker's standard error, as lines in a queue. Its thread and the end of a call may both read it."""

    def __init__(self, pipe: IO[str], into: queue.Queue[str]) -> None:
        self.pipe = pipe
        self._into = into
        self._lock = Lock()
        self._rest = b""
        self._open = True

    def follow(self) -> None:
        """Read until the worker has ended."""
        while self._open:
            self._ready(None)
            self.read()

    def read(self) -> None:
        """Read all that is there now."""
        with self._lock:
            while self._open and self._ready(0):
                data = os.read(self.pipe.fileno(), CHUNK)
                self._open = bool(data)
                *lines, self._rest = (self._rest + data).split(b"\n")
                if not data and self._rest:
                    lines.append(self._rest)
                for line in lines:
                    self._into.put(line.decode(errors="replace"))

    def _ready(self, milliseconds: int | None) -> bool:
        """Whether there is something to read, or the end, within so much time."""
        poll = select.poll()
        poll.register(self.pipe, select.POLLIN)
        return bool(poll.poll(milliseconds))


def apply() -> None:
    worker = lambda_runtime.Worker

    def follow(self: Any) -> None:
        try:
            self.stderr_lines = Lines(self._proc.stderr, self._stderr_queue)
            self.stderr_lines.follow()
        except (OSError, ValueError, AttributeError):
            pass  # the worker has been put away

    def drain(self: Any, *_: Any, **__: Any) -> Any:
        lines = getattr(self, "stderr_lines", None)
        if lines is not None and not lines.pipe.closed:
            lines.read()
        return self._drain_stderr()

    worker._read_stderr = follow
    worker._drain_stderr_bounded = drain
