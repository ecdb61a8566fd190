"""Given the demo's receiver and client on loopback, then what is posted arrives, and what fails is told."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit

import pytest
from demo.client import Client, fetch
from demo.errors import DemoError
from demo.receiver import Receiver


def post(url: str, body: bytes, headers: dict[str, str] | None = None, path: str = "") -> int:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=5)
    try:
        connection.request("POST", path or parts.path, body, headers or {})
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_post_arrives_as_it_was_sent() -> None:
    with Receiver() as receiver:
        assert post(receiver.url, b'{"a":"\xc3\xa9"}', {"Webhook-Id": "msg_k_000000000001"}) == 204
        arrival = receiver.next(5)
    assert arrival is not None
    assert (arrival.body, arrival.headers["Webhook-Id"]) == (b'{"a":"\xc3\xa9"}', "msg_k_000000000001")


@pytest.mark.parametrize(
    ("path", "headers"), [("/", {}), ("", {"Content-Length": "99999999"}), ("", {"Content-Length": "x"})]
)
def test_what_is_not_meant_for_it_is_refused(path: str, headers: dict[str, str]) -> None:
    with Receiver() as receiver:
        assert post(receiver.url, b"x", headers, path) == 404
        assert receiver.next(0) is None


@pytest.fixture
def refusing() -> Iterator[str]:
    """An agent that refuses everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            told = {"error": {"code": 400, "message": "configuration.taskPushNotificationConfig.url: must be https"}}
            body = json.dumps(told).encode()
            self.send_response(400)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_webhook_that_is_refused_is_told_in_the_agents_words(refusing: str) -> None:
    with pytest.raises(DemoError, match=r"was answered with 400: .*Config\.url: must be https$"):
        Client(refusing, "token").send("words", b"csv", "file.csv", "ftp://x", "token")


def test_nobody_at_home_is_told_with_the_way_out() -> None:
    with Receiver() as receiver:
        gone = receiver.url
    with pytest.raises(DemoError, match="got no answer") as caught:
        fetch(gone)
    assert caught.value.way_out == "Is the local stack up? Start it with: make up"
