"""A sender's keys over HTTP, from addresses with every kind of manners."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from clients.vectors import make

from builders.receivers import Certificates, Receiver, answering, receiver
from herald import webhooks
from herald.webhooks import Jwks, Reason, VerificationError

SET = json.dumps(make.SETS["published"]).encode()


def response(status: str, body: bytes = SET, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def endless(here: Receiver, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while not here.stop.is_set():
        connection.sendall(b" " * 65_536)


def trickling(here: Receiver, connection: socket.socket) -> None:
    """Would end well, after 5 s."""
    connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(SET) + 100}\r\n\r\n".encode())
    for _ in range(100):
        connection.sendall(b" ")
        if here.stop.wait(0.05):
            return
    connection.sendall(SET)


def loaded(manners: Callable[[Receiver, socket.socket], None]) -> webhooks.JwkSet:
    with receiver(manners) as here:
        jwks = Jwks(f"http://127.0.0.1:{here.port}/jwks.json", allow_loopback=True)
        try:
            return jwks.current()
        finally:
            assert here.connections == 1
            assert here.head[0] == "GET /jwks.json HTTP/1.1"
            assert "Accept: application/jwk-set+json, application/json" in here.head


def test_keys_are_read() -> None:
    assert loaded(answering(response("200 OK"))) == make.SETS["published"]


@pytest.mark.parametrize(
    "manners",
    [
        answering(response("302 Found", SET, "Location: /elsewhere")),
        answering(response("301 Moved Permanently", SET, "Location: https://agent.example/jwks.json")),
        answering(response("404 Not Found")),
        answering(response("500 Internal Server Error")),
        answering(response("200 OK", SET[:-1])),
        answering(response("200 OK", SET + b" " * 65_536)),
        answering(b"SSH-2.0-OpenSSH_9.2\r\n"),
        answering(b""),
        endless,
        trickling,
    ],
    ids=["302", "301", "404", "500", "half", "long", "no HTTP", "nothing", "endless", "trickling"],
)
def test_no_keys_come_of_anything_else(
    manners: Callable[[Receiver, socket.socket], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "LOAD_SECONDS", 0.3)

    with pytest.raises(VerificationError) as refused:
        loaded(manners)

    assert refused.value.reason is Reason.KEYS_UNAVAILABLE


def test_a_certificate_that_nobody_vouches_for_is_no_address(tmp_path: Path) -> None:
    certificates = Certificates.make(tmp_path)
    with receiver(answering(response("200 OK")), tls=certificates.serving("127.0.0.1")) as here:
        jwks = Jwks(f"https://127.0.0.1:{here.port}/jwks.json")
        with pytest.raises(VerificationError) as refused:
            jwks.current()

    assert here.requests == []
    assert "CERTIFICATE_VERIFY_FAILED" in str(refused.value.__cause__)
