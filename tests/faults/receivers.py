"""What receivers do to their first notification, and what must come of it: one row each, its expectations literal.

A row acts once; after it the receiver answers 200. ``play`` makes the fakes do it, ``wire`` a receiver on loopback.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from builders.deliveries import ADDRESS, URL, Road
from builders.receivers import Receiver, read_request
from fakes.world import Reply, answer
from herald.ports import TransportFailure, Unavailable

Kind = Literal["delivered", "hushed", "fails", "gives up", "blocked", "own fault"]
"""delivered: a success. hushed: a success that asks for silence. fails: is tried again. gives up: disables at once.
blocked: by our guard. own fault: counts against nobody."""

Tls = Literal["", "right", "wrong host", "expired", "self-signed", "silent"]
Dns = Literal["", "no such name", "slow", "down", "inner"]

HOST = "client.example"
INNER = "169.254.169.254"
ONLY_V6 = "2606:4700:4700::1111"


@dataclass(frozen=True)
class Wire:
    """A row over a real connection.

    Attributes:
        manners: what the first connection meets; it reads the request itself. None: what every other one meets.
        tls: the certificate of the first connection; the others get the right one. "": no TLS.
        dns: what the first look-up meets.
        seconds: that an attempt may take.
        arrives: whether the receiver has read the whole of the first request.
    """

    manners: Callable[[Receiver, socket.socket], None] | None = None
    tls: Tls = ""
    dns: Dns = ""
    seconds: float = 5.0
    arrives: bool = True


@dataclass(frozen=True)
class Row:
    """One receiver.

    Attributes:
        outcome: the class of the attempt; "" where nothing is told of it.
        wait: the least and the most seconds to the next attempt.
        reason: of the webhook's being disabled.
        posts: whether the transport is asked at all.
    """

    name: str
    kind: Kind
    outcome: str
    play: Callable[[Road], object]
    wire: Wire | None = None
    wait: tuple[float, float] = (0, 0)
    reason: str = ""
    posts: bool = True


# ------------------------------------------------------------------------------------------------- on the fakes ----


def replies(reply: Reply) -> Callable[[Road], object]:
    return lambda road: road.transport.script(URL, reply)


def fails_with(outcome: str) -> Callable[[Road], object]:
    return replies(TransportFailure(outcome, 5))


def resolves_to(*addresses: str, then: str = "") -> Callable[[Road], object]:
    """Once; and the transport then fails with an outcome, if there is one."""

    def play(road: Road) -> None:
        road.resolver.set(HOST, addresses, [ADDRESS])
        if then:
            road.transport.script(URL, TransportFailure(then, 5))

    return play


def resolver_raises(error: Exception) -> Callable[[Road], object]:
    return lambda road: road.resolver.fail_next("resolve", error)


# -------------------------------------------------------------------------------------------------- on the wire ----

NOTHING_MORE = b"Content-Length: 0\r\n\r\n"


def says(status: int, *headers: str) -> Wire:
    lines = [f"HTTP/1.1 {status} X", *headers]
    return Wire(_sends("\r\n".join(lines).encode() + b"\r\n" + NOTHING_MORE))


def _sends(raw: bytes) -> Callable[[Receiver, socket.socket], None]:
    def manners(here: Receiver, connection: socket.socket) -> None:
        here.requests.append(read_request(connection))
        connection.sendall(raw)

    return manners


def _slow(here: Receiver, connection: socket.socket) -> None:
    here.requests.append(read_request(connection))
    here.stop.wait(0.2)
    connection.sendall(b"HTTP/1.1 200 OK\r\n" + NOTHING_MORE)


def _endless_body(status: int) -> Callable[[Receiver, socket.socket], None]:
    def manners(here: Receiver, connection: socket.socket) -> None:
        here.requests.append(read_request(connection))
        connection.sendall(b"HTTP/1.1 %d X\r\n\r\n" % status)
        while not here.stop.is_set():
            connection.sendall(b"x" * 65_536)

    return manners


def _endless_header(here: Receiver, connection: socket.socket) -> None:
    here.requests.append(read_request(connection))
    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    while not here.stop.is_set():
        connection.sendall(b"y" * 65_536)


def _endless_headers(here: Receiver, connection: socket.socket) -> None:
    here.requests.append(read_request(connection))
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not here.stop.is_set():
        connection.sendall(b"X: y\r\n" * 1_000)


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _reset_at_accept(_: Receiver, connection: socket.socket) -> None:
    _reset(connection)


def _reset_mid_request(_: Receiver, connection: socket.socket) -> None:
    connection.recv(16)
    _reset(connection)


def _reset_unanswered(here: Receiver, connection: socket.socket) -> None:
    here.requests.append(read_request(connection))
    _reset(connection)


def _cut_off_mid_body(status: int) -> Callable[[Receiver, socket.socket], None]:
    return _sends(b"HTTP/1.1 %d X\r\nContent-Length: 900\r\n\r\nabc" % status)


def until_it_hangs_up(connection: socket.socket) -> None:
    while connection.recv(65_536):
        pass


def _silent(here: Receiver, connection: socket.socket) -> None:
    here.requests.append(read_request(connection))
    until_it_hangs_up(connection)


SHORT = 0.3  # seconds, for what shall run into the deadline
SCHEDULE = (4.0, 6.0)  # the first wait, 5 s, with its jitter
OVERLOADED = (60.0, 60.0)  # after 429, 502, 504 and time-outs
HIDDEN = "disabled by the receiver: it answered webhook-delivery: disable"

NO_CONNECTION = Wire(_reset_at_accept, arrives=False)


def _failing(status: int, outcome: str, wait: tuple[float, float] = SCHEDULE) -> Row:
    return Row(str(status), "fails", outcome, replies(status), says(status), wait)


def _asking(retry_after: str, wait: tuple[float, float], status: int = 429) -> Row:
    name = f"{status} Retry-After: {retry_after or '(empty)'}"
    outcome = "http_4xx" if status < 500 else "http_5xx"
    told = replies(answer(status, retry_after=retry_after))
    # A date is told by the fakes' clock, which stands still on the wire, too.
    return Row(name, "fails", outcome, told, says(status, f"Retry-After: {retry_after}"), wait)


ROWS = [
    # ------------------------------------------------------------------------------------------- it is delivered ----
    Row("200", "delivered", "delivered", replies(200), says(200)),
    Row("200 slow", "delivered", "delivered", replies(lambda _: answer(200)), Wire(_slow)),
    Row("204", "delivered", "delivered", replies(204), Wire(_sends(b"HTTP/1.1 204 X\r\n\r\n"))),
    Row("299", "delivered", "delivered", replies(299), says(299)),
    Row("200, body endless", "delivered", "delivered", replies(answer(200, b"x" * 16_384)), Wire(_endless_body(200))),
    Row("200, cut off mid-body", "delivered", "delivered", replies(answer(200, b"abc")), Wire(_cut_off_mid_body(200))),
    Row(
        "200, cut off mid-header",  # the status line is what counts
        "delivered",
        "delivered",
        replies(200),
        Wire(_sends(b"HTTP/1.1 200 OK\r\nContent-Len")),
    ),
    Row("200 over TLS", "delivered", "delivered", replies(200), Wire(tls="right")),
    Row(
        "200, webhook-delivery: disable",
        "hushed",
        "delivered",
        replies(answer(200, webhook_delivery="disable")),
        says(200, "Webhook-Delivery: disable"),
        reason=HIDDEN,
    ),
    # ------------------------------------------------------------------------------------------------- it answers ----
    _failing(301, "http_3xx"),
    Row(
        "302 to an inner address",
        "fails",
        "http_3xx",
        replies(answer(302, location=f"http://{INNER}/")),
        says(302, f"Location: http://{INNER}/"),
        SCHEDULE,
    ),
    _failing(307, "http_3xx"),
    _failing(400, "http_4xx"),
    _failing(401, "http_4xx"),
    _failing(404, "http_4xx"),
    _failing(408, "http_4xx"),
    _failing(413, "http_4xx"),
    Row("410", "gives up", "gone", replies(410), says(410), reason="gone: the receiver answered 410"),
    Row(
        "410 Retry-After: 5",
        "gives up",
        "gone",
        replies(answer(410, retry_after="5")),
        says(410, "Retry-After: 5"),
        reason="gone: the receiver answered 410",
    ),
    Row(
        "500, webhook-delivery: disable",
        "gives up",
        "http_5xx",
        replies(answer(500, webhook_delivery="Disable")),
        says(500, "Webhook-Delivery: Disable"),
        reason=HIDDEN,
    ),
    _failing(429, "http_4xx", OVERLOADED),
    _asking("0", OVERLOADED),
    _asking("7", OVERLOADED),
    _asking("90", (90, 90)),
    _asking("3600", (3_600, 3_600)),
    _asking("86400", (21_600, 21_600)),  # six hours are the most
    _asking("9" * 40, (21_600, 21_600)),
    _asking("Thu, 01 Jan 2026 00:02:00 GMT", (120, 120)),
    _asking("Thursday, 01-Jan-26 00:02:00 GMT", (120, 120)),
    _asking("Thu Jan  1 00:02:00 2026", (120, 120)),
    _asking("Wed, 31 Dec 2025 23:00:00 GMT", OVERLOADED),
    _asking("Fri, 01 Jan 2027 00:00:00 GMT", (21_600, 21_600)),
    _asking("-5", OVERLOADED),
    _asking("1.5", OVERLOADED),
    _asking("soon", OVERLOADED),
    _asking("", OVERLOADED),
    _asking("20", (20, 20), 503),
    _asking("1", SCHEDULE, 503),
    _failing(500, "http_5xx"),
    _failing(502, "http_5xx", OVERLOADED),
    _failing(503, "http_5xx"),
    _failing(504, "http_5xx", OVERLOADED),
    Row(
        "500, body endless",
        "fails",
        "http_5xx",
        replies(answer(500, b"x" * 16_384)),
        Wire(_endless_body(500)),
        SCHEDULE,
    ),
    Row("600", "fails", "bad_answer", replies(600), says(600), SCHEDULE),
    Row("header endless", "fails", "bad_answer", fails_with("bad_answer"), Wire(_endless_header), SCHEDULE),
    Row("headers endless", "fails", "bad_answer", fails_with("bad_answer"), Wire(_endless_headers), SCHEDULE),
    Row("not HTTP", "fails", "bad_answer", fails_with("bad_answer"), Wire(_sends(b"SSH-2.0-x\r\n")), SCHEDULE),
    # ------------------------------------------------------------------------------------- its connection breaks ----
    Row("reset at accept", "fails", "connection_refused", fails_with("connection_refused"), NO_CONNECTION, SCHEDULE),
    Row(
        "reset mid-request",
        "fails",
        "connection_refused",
        fails_with("connection_refused"),
        Wire(_reset_mid_request, arrives=False),
        SCHEDULE,
    ),
    Row(
        "reset unanswered",
        "fails",
        "connection_refused",
        fails_with("connection_refused"),
        Wire(_reset_unanswered),
        SCHEDULE,
    ),
    Row(
        "accepted and silent",
        "fails",
        "read_timeout",
        fails_with("read_timeout"),
        Wire(_silent, seconds=SHORT),
        (60, 60),
    ),
    Row(
        "silent before TLS",
        "fails",
        "connect_timeout",
        fails_with("connect_timeout"),
        Wire(tls="silent", seconds=SHORT, arrives=False),
        OVERLOADED,
    ),
    Row(
        "TLS, wrong host",
        "fails",
        "tls_error",
        fails_with("tls_error"),
        Wire(tls="wrong host", arrives=False),
        SCHEDULE,
    ),
    Row("TLS, expired", "fails", "tls_error", fails_with("tls_error"), Wire(tls="expired", arrives=False), SCHEDULE),
    Row(
        "TLS, self-signed",
        "fails",
        "tls_error",
        fails_with("tls_error"),
        Wire(tls="self-signed", arrives=False),
        SCHEDULE,
    ),
    # --------------------------------------------------------------------------------------------------- its name ----
    Row(
        "DNS NXDOMAIN",
        "fails",
        "dns_error",
        resolves_to(),
        Wire(dns="no such name", arrives=False),
        SCHEDULE,
        posts=False,
    ),
    Row(
        "DNS slow",
        "fails",
        "dns_error",
        resolver_raises(TransportFailure("dns_error", 2_000, passing=True)),
        Wire(dns="slow", arrives=False),
        SCHEDULE,
        posts=False,
    ),
    Row(
        "DNS down altogether",
        "own fault",
        "",
        resolver_raises(Unavailable("DNS doesn't answer")),
        Wire(dns="down", arrives=False),
        posts=False,
    ),
    Row(
        "DNS rebinding before the attempt",
        "blocked",
        "ssrf_blocked",
        resolves_to(INNER),
        Wire(dns="inner", arrives=False),
        (48, 72),
        posts=False,
    ),
    Row(
        "DNS rebinding, one address of two",
        "blocked",
        "ssrf_blocked",
        resolves_to(ADDRESS, "::1"),
        None,  # as the row before it
        (48, 72),
        posts=False,
    ),
    Row(
        "DNS rebinding at the connection",
        "blocked",
        "ssrf_blocked",
        fails_with("ssrf_blocked"),
        None,  # tests/ssrf: no address of this machine is another one
        (48, 72),
    ),
    Row(
        "IPv6 only",
        "fails",
        "no_route",
        resolves_to(ONLY_V6, then="no_route"),
        None,  # whether there is a way to it is the machine's affair
        SCHEDULE,
    ),
]
