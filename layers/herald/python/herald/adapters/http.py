"""Connections of webhooks: what was vetted is what is dialled, and nothing takes longer than it may.

A connection goes to the vetted address under the URL's host name (TLS server name, certificate, Host header), never
through a proxy, never on to a redirect's target, and is used for one POST. One deadline bounds the whole of it; every
read and write of the socket gets no more than what is left, so that an answer that trickles ends in time too.
"""

from __future__ import annotations

import errno
import http.client
import io
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from http.client import HTTPException, HTTPResponse
from ipaddress import ip_address
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection

from herald.delivery import retry
from herald.delivery.url_policy import ParsedUrl, parse
from herald.ports import Answer, TransportFailure

CONNECT_SECONDS = 5.0  # TCP and TLS together
HEAD_BYTES = 16_384  # of a response's body
HEAD_SECONDS = 2.0  # the status decides; its body is only a help for people and isn't waited for
ANSWER_BYTES = 131_072  # of a response in all, its headers included

Monotonic = Callable[[], float]


class PinnedTransport:
    """WebhookTransport over urllib3's connections.

    Args:
        context: makes the TLS context, once and at first use; the system's certificate authorities by default.
    """

    def __init__(
        self, context: Callable[[], ssl.SSLContext] = ssl.create_default_context, monotonic: Monotonic = time.monotonic
    ) -> None:
        self._make_context = context
        self._monotonic = monotonic

    @cached_property
    def _context(self) -> ssl.SSLContext:
        context = self._make_context()
        context.minimum_version = max(context.minimum_version, ssl.TLSVersion.TLSv1_2)
        context.set_alpn_protocols(["http/1.1"])
        return context

    def post(self, url: str, address: str, headers: Mapping[str, str], body: bytes, seconds: float) -> Answer:
        """POST to a vetted address.

        Raises:
            TransportFailure: its outcome is a failure class.
            ValueError: a header can't be sent as it is.
        """
        started = self._monotonic()
        deadline = _Deadline(self._monotonic, started + seconds, min(seconds, CONNECT_SECONDS))
        parsed = parse(url)
        connection = self._connection(parsed, address, deadline)
        phase = retry.CONNECT_TIMEOUT
        try:
            connection.connect()
            phase = retry.READ_TIMEOUT
            deadline.connected()
            sent = {"Host": parsed.authority, "Accept-Encoding": "identity", "Connection": "close", **headers}
            connection.request("POST", parsed.path, body=body, headers=sent)
            response = connection.answer()
            status, received = response.status, {name.lower(): value for name, value in response.getheaders()}
            head = _head(response, deadline)
        except Exception as error:
            outcome = _outcome(error, phase)
            if outcome is None:  # its text may hold a header's value
                raise ValueError(f"the request can't be made: {type(error).__name__}") from None
            raise TransportFailure(outcome, self._since(started)) from None
        finally:
            connection.hang_up()
        return Answer(status, received, head, self._since(started))

    def _connection(self, parsed: ParsedUrl, address: str, deadline: _Deadline) -> _Vetted:
        if parsed.scheme == "http":
            return _Plain(deadline, address, parsed.port)
        # The context checks the certificate against server_hostname, inside the handshake.
        return _Pinned(deadline, address, parsed.port, server_hostname=parsed.host, ssl_context=self._context)

    def _since(self, started: float) -> int:
        return round((self._monotonic() - started) * 1000)


class _Deadline:
    """How much time a socket may still take, and how many bytes it may still give."""

    def __init__(self, monotonic: Monotonic, end: float, connect: float) -> None:
        self._monotonic = monotonic
        self._end = end
        self._now_end = monotonic() + connect
        self._bytes = ANSWER_BYTES

    def connected(self) -> None:
        self._now_end = self._end

    def hurry(self, seconds: float) -> None:
        self._now_end = min(self._end, self._monotonic() + seconds)

    def left(self) -> float:
        """Seconds, more than 0. Raises TimeoutError when there are none."""
        left = self._now_end - self._monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def took(self, count: int) -> None:
        self._bytes -= count
        if self._bytes < 0:
            raise HTTPException("the answer is too long")


class _TimedSocket:
    """A connected socket, each of whose operations gets no more than the time that is left."""

    def __init__(self, connected: socket.socket, deadline: _Deadline) -> None:
        self._socket = connected
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self._socket.settimeout(self._deadline.left())
            view = view[self._socket.send(view) :]

    def makefile(self, *_: object, **__: object) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._socket, self._deadline))

    def settimeout(self, seconds: float | None) -> None:
        """The deadline alone decides."""

    def close(self) -> None:
        """http.client closes before the body is read; ``_Vetted.hang_up`` does it when all is done."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)


class _TimedReader(io.RawIOBase):
    def __init__(self, connected: socket.socket, deadline: _Deadline) -> None:
        self._socket = connected
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._socket.settimeout(self._deadline.left())
        count = self._socket.recv_into(buffer)
        self._deadline.took(count)
        return count


class _FinalResponse(HTTPResponse):
    """The final response. http.client passes over 100 alone, but 102, 103 and others may come before it, too.

    101 is final: nobody asked to change the protocol.
    """

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            line: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
            if not 102 <= line[1] <= 199:
                return line
            http.client.parse_headers(self.fp)


class _Vetted(HTTPConnection):
    """A connection to exactly one address, under a deadline."""

    response_class = _FinalResponse
    deadline: _Deadline
    wire: socket.socket | None = None

    def _new_conn(self) -> socket.socket:
        self.timeout = self.deadline.left()
        connected = super()._new_conn()
        if ip_address(connected.getpeername()[0]) != ip_address(self.host):
            connected.close()
            raise TransportFailure(retry.SSRF_BLOCKED)
        connected.settimeout(self.deadline.left())  # TLS takes from the same time as TCP
        return connected

    def connect(self) -> None:
        super().connect()
        self.wire = self.sock
        self.sock = _TimedSocket(self.sock, self.deadline)

    def answer(self) -> HTTPResponse:
        """The response, read by http.client: urllib3 logs the URL, query included, when its headers are malformed."""
        return http.client.HTTPConnection.getresponse(self)

    def hang_up(self) -> None:
        self.close()
        if self.wire is not None:
            self.wire.close()


class _Plain(_Vetted):
    def __init__(self, deadline: _Deadline, *where: Any, **how: Any) -> None:
        super().__init__(*where, **how)
        self.deadline = deadline


class _Pinned(_Vetted, HTTPSConnection):
    def __init__(self, deadline: _Deadline, *where: Any, **how: Any) -> None:
        super().__init__(*where, **how)
        self.deadline = deadline


def _head(response: HTTPResponse, deadline: _Deadline) -> bytes:
    """As much of a response's body as comes soon, at most 16 KiB, never decompressed."""
    deadline.hurry(HEAD_SECONDS)
    head = bytearray()
    try:
        while len(head) < HEAD_BYTES and (piece := response.read1(HEAD_BYTES - len(head))):
            head += piece
    except (HTTPException, OSError, ValueError):  # ValueError: a chunk's size that is no number
        pass  # cut off, silent or malformed: the status is known
    return bytes(head)


_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})


def _outcome(error: BaseException, phase: str) -> str | None:
    """The failure class of what urllib3, http.client, ssl or a socket raised; None for what is a fault of our own."""
    for cause in _chain(error):
        if isinstance(cause, TransportFailure):
            return cause.outcome
        if isinstance(cause, TimeoutError):
            return phase
        if isinstance(cause, ssl.SSLEOFError) and phase == retry.READ_TIMEOUT:
            return retry.CONNECTION_REFUSED
        if isinstance(cause, ssl.SSLError):
            return retry.TLS_ERROR
        if isinstance(cause, OSError):
            return retry.NO_ROUTE if cause.errno in _NO_ROUTE else retry.CONNECTION_REFUSED
        if isinstance(cause, HTTPException):
            return retry.BAD_ANSWER
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and what it wraps, outermost first."""
    while error is not None:
        yield error
        error = error.__cause__
