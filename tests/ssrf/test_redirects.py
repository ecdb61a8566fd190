"""A receiver leads a sender to no other address, whatever it answers (case C7); not even where that is allowed."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from builders.deliveries import Road
from builders.receivers import Receiver, answering, receiver
from fakes.clock import START
from herald.adapters.http import PinnedTransport
from herald.client_secrets import Secrets

LOCATIONS = [
    "http://127.0.0.1:{port}/",
    "http://localhost:{port}/",
    "//127.0.0.1:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://0x7f.1:{port}/",
    "http://2130706433:{port}/",
    "http://169.254.169.254/latest/meta-data/",
    "https://metadata.google.internal/",
    "/elsewhere",
    "https://hooks.example.com/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/_x",
    "not a url",
    "",
]
ANSWERS = [
    *(
        f"HTTP/1.1 {status} X\r\nLocation: {location}\r\n"
        for status in (301, 302, 303, 307, 308)
        for location in LOCATIONS
    ),
    *(
        f"HTTP/1.1 {status} X\r\nLocation: {LOCATIONS[0]}\r\n"
        for status in (201, 202, 300, 304, 305, 306, 399, 421, 503)
    ),
    "HTTP/1.1 200 X\r\nRefresh: 0; url=http://127.0.0.1:{port}/\r\n",
    'HTTP/1.1 200 X\r\nAlt-Svc: h2="127.0.0.1:{port}"\r\n',
    "HTTP/1.1 200 X\r\nContent-Location: http://127.0.0.1:{port}/\r\n",
    "HTTP/1.1 200 X\r\nLink: <http://127.0.0.1:{port}/>; rel=preload\r\n",
    "HTTP/1.1 103 X\r\nLink: <http://127.0.0.1:{port}/>; rel=preload\r\n\r\nHTTP/1.1 200 X\r\n",
    "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nLocation: http://127.0.0.1:{port}/\r\n",
    'HTTP/1.1 401 X\r\nWWW-Authenticate: Bearer realm="http://127.0.0.1:{port}/"\r\n',
    'HTTP/1.1 407 X\r\nProxy-Authenticate: Basic realm="http://127.0.0.1:{port}/"\r\n',
]


@dataclass
class Pair:
    """A receiver that answers as it is told, and one elsewhere that it may lead to."""

    here: Receiver = field(init=False)
    elsewhere: Receiver = field(init=False)
    says: bytes = b""

    def manners(self, _: Receiver, connection: socket.socket) -> None:
        connection.sendall(self.says)


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    made = Pair()
    with (
        receiver(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) as made.elsewhere,
        receiver(made.manners) as made.here,
    ):
        yield made


@pytest.mark.parametrize("raw", ANSWERS, ids=lambda raw: raw.partition("\r\n\r\n")[0][9:].replace("\r\n", " "))
def test_c7_an_answer_leads_to_no_other_connection_even_where_it_would_be_allowed(raw: str, pair: Pair) -> None:
    pair.says = (raw.replace("{port}", str(pair.elsewhere.port)) + "Content-Length: 0\r\n\r\n").encode()
    pair.here.requests.clear()
    road = Road(allow="127.0.0.1:*, localhost:*")
    road.delivery = replace(road.delivery, sender=replace(road.sender, transport=PinnedTransport()))
    url = f"http://127.0.0.1:{pair.here.port}/"
    road.register(url=url, secrets=Secrets("tok-s3cret", "Bearer", "sek-s3cret"), due_at=START + 3_600_000)
    road.working(1)
    road.run()

    assert pair.elsewhere.connections == 0
    assert len(pair.here.requests) == 1
    status = int(raw.rpartition("HTTP/1.1 ")[2][:3])
    outcome = {1: "bad_answer", 2: "delivered", 3: "http_3xx", 4: "http_4xx", 5: "http_5xx"}[status // 100]
    assert road.watch.outcomes == [outcome]
    assert "3cret" not in str(road.webhooks.attempts(road.webhook()))
