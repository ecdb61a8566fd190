"""Every receiver that loopback can play, by every death of ours, over real connections: the same rows, the same rules.

No test asserts a time: the fakes' clock stands still meanwhile.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from builders.deliveries import Road
from builders.receivers import BOUND, Certificates, Receiver, answering, read_request, receiver
from faults import rules
from faults.cells import Cell, DyingWatch, registered
from faults.figures import Figures
from faults.receivers import HOST, INNER, ROWS, Dns, Row, Tls, Wire, until_it_hangs_up
from herald.adapters.dns import SystemResolver
from herald.adapters.http import PinnedTransport
from herald.delivery.url_policy import AllowList, UrlPolicy

LOOPBACK = "127.0.0.1"
IMPATIENT = 0.1  # seconds for a look-up that hangs
WITNESS = "dynamodb.example"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates.make(tmp_path_factory.mktemp("certificates"))


class InTurn:
    """Certificates: the first connection gets one, or no word; the others get the right one."""

    def __init__(self, certificates: Certificates, first: Tls) -> None:
        self._right = certificates.serving(HOST)
        self._first: ssl.SSLContext | None = self._right
        if first == "silent":
            self._first = None
        elif first == "wrong host":
            self._first = certificates.serving("other.example")
        elif first != "right":
            self._first = certificates.serving(HOST, expired=first == "expired", self_signed=first == "self-signed")
        self._connections = 0

    def wrap_socket(self, sock: socket.socket, /, *, server_side: bool) -> ssl.SSLSocket:
        self._connections += 1
        context = self._first if self._connections == 1 else self._right
        if context is None:
            until_it_hangs_up(sock)
            raise OSError("it never spoke")
        return context.wrap_socket(sock, server_side=server_side)


class Names:
    """A resolver over the system's, whose first look-up goes wrong in some way."""

    def __init__(self, first: Dns, over: threading.Event) -> None:
        self._first = first
        self._over = over
        self._system = SystemResolver(self._look_up, lambda: WITNESS)

    def resolve(self, host: str, port: int, timeout: float) -> list[str]:
        try:
            return self._system.resolve(host, port, IMPATIENT if self._first == "slow" else timeout)
        finally:
            self._first = ""

    def _look_up(self, host: str, port: int, *_: object) -> list[Any]:
        address = LOOPBACK
        if self._first == "down":
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        if host != WITNESS:
            if self._first == "no such name":
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            if self._first == "slow":
                self._over.wait(BOUND)
            if self._first == "inner":
                address = INNER
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]


@contextmanager
def on_the_wire(wire: Wire, certificates: Certificates) -> Iterator[tuple[Road, Receiver]]:
    """A road whose only receiver is on loopback, behind the real transport and resolver."""
    over = threading.Event()
    well = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    left = [wire.manners] if wire.manners and not wire.dns else []

    def manners(here: Receiver, connection: socket.socket) -> None:
        if left:
            left.pop()(here, connection)
        else:
            here.requests.append(read_request(connection))
            well(here, connection)

    tls = InTurn(certificates, wire.tls) if wire.tls else None
    with receiver(manners, tls=tls, read=False) as here:
        road = Road(watch=DyingWatch(), seconds=wire.seconds)
        sender = replace(
            road.sender,
            policy=UrlPolicy(Names(wire.dns, over), AllowList.parse("127.0.0.0/8")),
            transport=PinnedTransport(certificates.trusting),
        )
        road.delivery = replace(road.delivery, sender=sender)
        registered(road, url=f"{'https' if wire.tls else 'http'}://{HOST}:{here.port}/hook")
        try:
            yield road, here
        finally:
            over.set()


def numbers(here: Receiver) -> list[int]:
    """Of what has arrived whole, by webhook-id."""
    found = []
    for request in here.requests:
        head = request.partition(b"\r\n\r\n")[0].decode().lower().split("\r\n")
        [message_id] = [line.partition(": ")[2] for line in head if line.startswith("webhook-id: ")]
        found.append(int(message_id.rpartition("_")[2]))
    return found


PLAYED = [row for row in ROWS if row.wire is not None]


@pytest.mark.parametrize("death", rules.DEATHS)
@pytest.mark.parametrize("row", PLAYED, ids=lambda row: row.name)
def test_c3_nothing_is_lost_over_a_real_connection(
    row: Row, death: str, certificates: Certificates, figures: Figures
) -> None:
    assert row.wire is not None
    refused = 1 if row.wire.arrives and row.kind in rules.BAD else 0
    with on_the_wire(row.wire, certificates) as (road, here):
        repeated = Cell(road, row, death, rules.NO_ERROR, refused, lambda: numbers(here)).run()

    sent = [
        (number, request.partition(b"\r\n\r\n")[2])
        for number, request in zip(numbers(here), here.requests, strict=True)
    ]
    assert len(set(sent)) == 3  # each notification has one body, on whichever attempt
    figures.count("on the wire", row.kind, repeated)


def test_only_what_loopback_cannot_play_is_left_to_the_fakes() -> None:
    assert [row.name for row in ROWS if row.wire is None] == [
        "DNS rebinding, one address of two",
        "DNS rebinding at the connection",
        "IPv6 only",
    ]
