"""A sender's keys by their address: what addresses will do, what a fetch may raise, and threads. When keys are loaded
stands in the table of vectors.
"""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from clients.vectors import make

from herald.webhooks import Jwks, JwkSet, Reason, VerificationError

URL = "https://agent.example/.well-known/jwks.json"
BOUND = 10.0  # seconds after which no thread of a test is left


def text(name: str = "published") -> bytes:
    return json.dumps(make.SETS[name]).encode()


@pytest.mark.parametrize(
    "url",
    [
        "http://agent.example/jwks.json",
        "http://10.0.0.1/jwks.json",
        "http://127.0.0.1.evil.example/",
        "http://localhost.evil.example/",
        "https://me:secret@agent.example/",
        "https:///jwks.json",
        "file:///jwks.json",
        "jwks.json",
        "",
    ],
)
def test_an_address_is_https(url: str) -> None:
    with pytest.raises(ValueError, match="must be https"):
        Jwks(url, allow_loopback=True)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:80/jwks.json", "http://127.8.8.8/", "http://localhost/", "http://[::1]:8000/"]
)
def test_this_machine_will_do_where_it_is_allowed(url: str) -> None:
    with pytest.raises(ValueError, match="must be https"):
        Jwks(url)
    assert Jwks(url, allow_loopback=True, fetch=lambda _: text()).current() == make.SETS["published"]


@pytest.mark.parametrize("error", [OSError("refused"), TimeoutError(), KeyError("x"), RuntimeError("client closed")])
def test_whatever_a_fetch_raises_there_are_no_keys_and_the_cause_is_kept(error: Exception) -> None:
    def fetch(_: str) -> bytes:
        raise error

    with pytest.raises(VerificationError, match="can't be loaded at the moment") as refused:
        Jwks(URL, fetch=fetch).current()

    assert refused.value.reason is Reason.KEYS_UNAVAILABLE
    assert refused.value.__cause__ is error


class Gate:
    """A fetch that waits until the test lets it go on."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self.entered, self.go_on = threading.Event(), threading.Event()
        self.loads = 0

    def __call__(self, _: str) -> bytes:
        self.loads += 1
        self.entered.set()
        assert self.go_on.wait(BOUND)
        return self._answers.pop(0)


def test_threads_that_wait_for_the_first_keys_load_them_once() -> None:
    gate = Gate(text())
    jwks = Jwks(URL, fetch=gate)
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(jwks.current) for _ in range(8)]
        assert gate.entered.wait(BOUND)
        gate.go_on.set()
        assert [each.result(BOUND) for each in waiting] == [make.SETS["published"]] * 8
    assert gate.loads == 1


def test_threads_that_look_for_a_new_key_load_once_and_nobody_else_waits() -> None:
    time = 0.0
    gate = Gate(text(), text("rotating"))
    jwks = Jwks(URL, fetch=gate, clock=lambda: time)
    gate.go_on.set()
    known: JwkSet = jwks.current()
    gate.go_on.clear()
    gate.entered.clear()
    time = 60.0
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(jwks.newer, known) for _ in range(8)]
        assert gate.entered.wait(BOUND)
        assert jwks.current() is known  # in this thread, while others load
        gate.go_on.set()
        assert [each.result(BOUND) for each in waiting] == [make.SETS["rotating"]] * 8
    assert gate.loads == 2
