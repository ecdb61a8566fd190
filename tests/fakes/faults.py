"""What can go wrong with a fake, and who can slip in between."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

Act = Callable[[], object]


def _nothing() -> None: ...


@dataclass(slots=True)
class _Fault:
    before: Act = _nothing
    after: Act = _nothing
    lost: bool = False


class Call:
    """A call under way: a context manager around its effect.

    ``lost`` says that its answer gets lost: then it answers False although its effect stands.
    """

    def __init__(self, fault: _Fault, lock: threading.RLock) -> None:
        self._fault = fault
        self._lock = lock
        self.lost = fault.lost

    def __enter__(self) -> Self:
        self._lock.acquire()
        try:
            self._fault.before()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._fault.after()
        finally:
            self._lock.release()


class Faults:
    """Fault injection by method name: what is asked for happens to the next calls of that method, in the order asked.

    ``calls`` counts the calls of each method, failed ones included.
    """

    def __init__(self, lock: threading.RLock | None = None) -> None:
        self._lock = lock or threading.RLock()
        self._faults: dict[str, list[_Fault]] = defaultdict(list)
        self.calls: Counter[str] = Counter()

    def fail_next(self, name: str, error: BaseException, *, after_effect: bool = False, times: int = 1) -> None:
        """Let the next calls of ``name`` raise, before they do anything or after they have done it."""

        def fail() -> None:
            raise error

        for _ in range(times):
            self._plan(name, _Fault(after=fail) if after_effect else _Fault(before=fail))

    def lose_answer_next(self, name: str) -> None:
        """Let the next call of a bool-returning method do its work and yet answer False, as a retry of it would."""
        self._plan(name, _Fault(lost=True))

    def before_next(self, name: str, act: Act) -> None:
        """Let somebody else act right before the next call of ``name`` takes effect."""
        self._plan(name, _Fault(before=act))

    def after_next(self, name: str, act: Act) -> None:
        """Let somebody else act after the next call of ``name`` took effect and before its caller goes on."""
        self._plan(name, _Fault(after=act))

    def forget_faults(self) -> None:
        """From here on nothing that was asked for happens any more."""
        self._faults.clear()

    def _plan(self, name: str, fault: _Fault) -> None:
        if not callable(getattr(self, name, None)):
            raise TypeError(f"{type(self).__name__} has no method {name!r}")
        self._faults[name].append(fault)

    def _call(self, name: str) -> Call:
        with self._lock:
            self.calls[name] += 1
            planned = self._faults[name]
            return Call(planned.pop(0) if planned else _Fault(), self._lock)
