"""Which task and which trace the lines that are logged now belong to.

The road of a task goes through several functions. Whatever any of them logs on it carries ``task_id`` and ``trace_id``,
the trace of the client's request (W3C, 32 hexadecimal digits), so that one search shows it all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_NOTHING: Mapping[str, str] = MappingProxyType({})
_told: ContextVar[Mapping[str, str]] = ContextVar("herald_correlation", default=_NOTHING)


@contextmanager
def road(task_id: str = "", traceparent: str = "") -> Iterator[None]:
    """Lines that are logged within carry these, and what is noted within; afterwards no more."""
    token = _told.set(_NOTHING)
    try:
        note(task_id, traceparent)
        yield
    finally:
        _told.reset(token)


def note(task_id: str = "", traceparent: str = "") -> None:
    """Say what has become known of the road; "" leaves what was known."""
    found = {"task_id": task_id, "trace_id": trace_id(traceparent)}
    _told.set({**_told.get(), **{name: value for name, value in found.items() if value}})


def told() -> Mapping[str, str]:
    """What is known: ``task_id`` and ``trace_id``, either or none."""
    return _told.get()


def trace_id(traceparent: str) -> str:
    """The trace of a well-formed traceparent: ``00-<trace>-<parent>-<flags>``."""
    return traceparent[3:35]
