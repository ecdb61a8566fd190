"""The documents of an issuer, from a server that answers well or badly."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from herald.adapters.issuer import MAX_BYTES, HttpIssuerDocuments
from herald.ports import Unavailable

Serve = Callable[[bytes], str]


@contextmanager
def answering(answer: bytes, asked: list[bytes]) -> Iterator[str]:
    """A server that gives one answer to everybody, byte by byte as it is; its address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                asked.append(connection.recv(65536))
                connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/keys"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


@pytest.fixture
def asked() -> list[bytes]:
    return []


@pytest.fixture
def serve(asked: list[bytes]) -> Iterator[Serve]:
    with ExitStack() as all_of_them:
        yield lambda answer: all_of_them.enter_context(answering(answer, asked))


def ok(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def test_a_document_is_read(serve: Serve, asked: list[bytes]) -> None:
    url = serve(ok(b'{"keys":[]}'))

    assert HttpIssuerDocuments(plain=True).read(url) == b'{"keys":[]}'
    assert asked[0].startswith(b"GET /keys HTTP/1.1\r\n")


def test_the_largest_document_is_read_whole(serve: Serve) -> None:
    assert len(HttpIssuerDocuments(plain=True).read(serve(ok(b" " * MAX_BYTES)))) == MAX_BYTES


@pytest.mark.parametrize(
    "answer",
    [
        ok(b"", "404 Not Found"),
        ok(b'{"keys":[]}', "500 Internal Server Error"),
        ok(b'{"keys":[]}', "204 No Content"),
        ok(b" " * (MAX_BYTES + 1)),
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        b"this isn't HTTP\r\n\r\n",
        b"",
    ],
    ids=["404", "500", "204", "too large", "cut", "no HTTP", "hung up"],
)
def test_anything_else_is_no_answer(serve: Serve, answer: bytes) -> None:
    with pytest.raises(Unavailable):
        HttpIssuerDocuments(plain=True).read(serve(answer))


def test_a_redirect_is_not_followed(serve: Serve, asked: list[bytes]) -> None:
    other = serve(ok(b'{"keys":[]}'))
    url = serve(ok(b"", "302 Found", f"Location: {other}"))

    with pytest.raises(Unavailable, match="status 302"):
        HttpIssuerDocuments(plain=True).read(url)
    assert len(asked) == 1


def test_what_is_slow_is_given_up(serve: Serve) -> None:
    ticks = iter([0.0, 4.1])

    with pytest.raises(Unavailable, match="too slow"):
        HttpIssuerDocuments(plain=True, monotonic=lambda: next(ticks)).read(serve(ok(b"{}")))


def test_nobody_there_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(Unavailable):
        HttpIssuerDocuments(plain=True).read(f"http://127.0.0.1:{port}/keys")


@pytest.mark.parametrize("url", ["http://127.0.0.1/keys", "file:///etc/passwd", "ftp://x/y", "//x", "", "https:/x"])
def test_keys_come_over_https_alone(url: str) -> None:
    with pytest.raises(Unavailable, match="https://"):
        HttpIssuerDocuments().read(url)


@pytest.mark.parametrize("url", ["https://", "https://[", "https://a b/", "https://\x00/"])
def test_an_address_that_is_none_is_no_answer(url: str) -> None:
    with pytest.raises(Unavailable):
        HttpIssuerDocuments().read(url)
