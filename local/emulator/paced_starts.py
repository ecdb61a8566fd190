"""Few processes start at once, and a call takes the first that is free, started for it or not.

AWS starts as many as are called for, each with a processor of its own. MiniStack does so too, on the processors of one
machine: under a burst they all become ready at about the same time, long after the calls have timed out, and each call
that comes meanwhile starts another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event, RLock
from typing import Any

from ministack.core import lambda_runtime
from ministack.services import lambda_svc

AT_ONCE = 2
PATIENCE = 30.0  # seconds after which a call has its process started all the same: those that start may hang


@dataclass(eq=False)
class Waiting:
    """A call for which no process is free and none may be started yet."""

    key: str  # of its function
    told: Event = field(default_factory=Event)


_lock = RLock()  # takes the place of MiniStack's own, so that looking and taking are one step
_waiting: list[Waiting] = []  # who came first stands first
_starting: set[int] = set()  # ids of the processes that start


def apply() -> None:
    acquire, release, invalidate, spawn = (
        lambda_runtime.acquire_worker,
        lambda_runtime.release_worker,
        lambda_runtime.invalidate_worker,
        lambda_runtime.Worker._spawn,
    )

    def acquire_in_turn(name: str, config: dict[str, Any], code: bytes, qualifier: str = "$LATEST", *rest: Any) -> Any:
        call, patient = Waiting(lambda_runtime._worker_key(name, config, qualifier)), True
        while True:
            with _lock:
                call.told.clear()
                if len(_starting) < AT_ONCE or _free(call.key) or not patient:
                    worker, how = acquire(name, config, code, qualifier, *rest)
                    if _must_start(worker):
                        _starting.add(id(worker))
                    if call in _waiting:
                        _waiting.remove(call)
                    if len(_starting) < AT_ONCE:
                        _tell()  # this call may have been woken for a start that it didn't need
                    return worker, how
                if call not in _waiting:
                    _waiting.append(call)
            patient = call.told.wait(PATIENCE)

    def invalidate_and_tell(*args: Any, **named: Any) -> None:
        invalidate(*args, **named)
        with _lock:
            known = {id(worker) for workers in lambda_runtime._workers.values() for worker in workers}
            for gone in _starting - known:
                _starting.remove(gone)
                _tell()

    def release_and_tell(worker: Any) -> None:
        with _lock:
            release(worker)
            _ended(worker)
            _tell(next((key for key, workers in lambda_runtime._workers.items() if worker in workers), ""))

    def spawn_and_tell(worker: Any) -> None:
        try:
            spawn(worker)
        finally:
            _ended(worker)

    lambda_runtime._lock = _lock
    lambda_runtime.Worker._spawn = spawn_and_tell
    for module in (lambda_runtime, lambda_svc):
        module.acquire_worker, module.release_worker = acquire_in_turn, release_and_tell
        module.invalidate_worker = invalidate_and_tell


def _must_start(worker: Any) -> bool:
    """Whether this one has no process: it is new, or its last one timed out or failed. Of functions in Python."""
    return type(worker) is lambda_runtime.Worker and worker._proc is None


def _free(key: str) -> bool:
    return any(not worker.in_use and not _must_start(worker) for worker in lambda_runtime._workers.get(key, ()))


def _ended(worker: Any) -> None:
    """This process starts no more: the first call that waits may start another."""
    with _lock:
        if id(worker) in _starting:
            _starting.remove(id(worker))
            _tell()


def _tell(key: str | None = None) -> None:
    """Wake the first call that waits, of this function if one is named, and hasn't been woken yet."""
    for call in _waiting:
        if key in (None, call.key) and not call.told.is_set():
            call.told.set()
            return
