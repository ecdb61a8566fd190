"""A handler that logs nothing answers when it is done.

MiniStack waits 50 ms for a first line of its log, which would drown every time that the local stack shows.
"""

from __future__ import annotations

from typing import Any

from ministack.core import lambda_runtime

FIRST_LINE_WAIT = 0.003  # seconds


def apply() -> None:
    drain = lambda_runtime.Worker._drain_stderr_bounded

    def drain_soon(worker: Any, first_line_wait: float = FIRST_LINE_WAIT, **more: Any) -> Any:
        return drain(worker, first_line_wait=first_line_wait, **more)

    lambda_runtime.Worker._drain_stderr_bounded = drain_soon
