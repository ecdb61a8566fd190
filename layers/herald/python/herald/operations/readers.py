"""Reading several tasks' logs at once, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_order(pool: Executor, read: Callable[[T], R], what: Iterable[T], ahead: int) -> Iterator[tuple[T, R]]:
    """Each thing with what ``read`` says of it, in the order given, while the next ``ahead - 1`` are being read.

    No more are begun than that, so that who stops early has read little for nothing.
    """
    waiting: deque[tuple[T, Future[R]]] = deque()
    for each in what:
        waiting.append((each, pool.submit(read, each)))
        if len(waiting) >= ahead:
            first, reading = waiting.popleft()
            yield first, reading.result()
    for each, reading in waiting:
        yield each, reading.result()
