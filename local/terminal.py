"""What a person sees while the local stack does something long: one line a step, with the seconds it took."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

TICK = 0.5  # seconds between two looks of a running step


class LocalError(Exception):
    """Something that stops the command; the message says what it is and what to do."""


@contextmanager
def step(what: str) -> Iterator[None]:
    """Show ``what`` while the block runs, with the seconds counting where the output is a terminal."""
    start = time.monotonic()
    done = threading.Event()
    ticking = threading.Thread(target=_tick, args=(what, start, done), daemon=True)
    if sys.stdout.isatty():
        ticking.start()
    else:
        say(f"  {what} …")
    ok = False
    try:
        yield
        ok = True
    finally:
        done.set()
        if ticking.is_alive():
            ticking.join()
        head = "\r\033[K" if sys.stdout.isatty() else ""
        say(f"{head}  {what}: {'done' if ok else 'failed'} after {time.monotonic() - start:.1f} s")


def _tick(what: str, start: float, done: threading.Event) -> None:
    while not done.wait(TICK):
        print(f"\r\033[K  {what} … {time.monotonic() - start:.0f} s", end="", flush=True)


def say(line: str) -> None:
    """One line for a person, at once also through a pipe."""
    print(line, flush=True)
