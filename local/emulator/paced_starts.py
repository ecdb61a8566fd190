"""Few processes start at once, and a call takes the first that is free, started for it or not.

AWS starts as many as are called for, each with a processor of its own. MiniStack does so too, on the processors of one
machine: under a burst they all become ready at about the same time, long after the calls have timed out, and each call
that comes meanwhile starts another.
"""

from __future__ import annotations

from threading import Condition
from typing import Any

from ministack.core import lambda_runtime
from ministack.services import lambda_svc

AT_ONCE = 2

_changed = Condition(lambda_runtime._lock)  # a process has become free, or may be started
_starting: set[int] = set()  # ids of processes that start, and of calls that are about to start one


def apply() -> None:
    acquire, release, spawn = (
        lambda_runtime.acquire_worker,
        lambda_runtime.release_worker,
        lambda_runtime.Worker._spawn,
    )

    def acquire_in_turn(name: str, config: dict[str, Any], code: bytes, qualifier: str = "$LATEST", *rest: Any) -> Any:
        key, turn = lambda_runtime._worker_key(name, config, qualifier), object()
        with _changed:
            _changed.wait_for(lambda: len(_starting) < AT_ONCE or any(not w.in_use for w in _workers(key)))
            _starting.add(id(turn))
        worker, how = None, ""
        try:
            worker, how = acquire(name, config, code, qualifier, *rest)
        finally:
            with _changed:
                _starting.discard(id(turn))
                if how == "spawn":
                    _starting.add(id(worker))
                _changed.notify_all()
        return worker, how

    def release_and_tell(worker: Any) -> None:
        release(worker)
        _ended(worker)

    def spawn_and_tell(worker: Any) -> None:
        try:
            spawn(worker)
        finally:
            _ended(worker)

    lambda_runtime.Worker._spawn = spawn_and_tell
    for module in (lambda_runtime, lambda_svc):
        module.acquire_worker, module.release_worker = acquire_in_turn, release_and_tell


def _workers(key: str) -> list[Any]:
    return lambda_runtime._workers.get(key, [])


def _ended(worker: Any) -> None:
    with _changed:
        _starting.discard(id(worker))
        _changed.notify_all()
