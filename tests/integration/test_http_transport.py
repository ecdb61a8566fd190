"""Connections to receivers, over real sockets on loopback (cases C6, C7).

No test asserts a time: a receiver that is slow would in the end answer 200, so that a transport without a deadline
returns where it must raise.
"""

from __future__ import annotations

import errno
import gzip
import http.client
import logging
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from typing import Any

import pytest

from builders.receivers import Certificates, Receiver, answering, receiver, silent
from herald.adapters.dns import SystemResolver
from herald.adapters.http import ANSWER_BYTES, HEAD_BYTES, PinnedTransport
from herald.ports import Answer, TransportFailure, Unavailable

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
HOST = "hooks.test"
SHORT = 0.3  # seconds, for what shall run into the deadline
STEPS = 100  # of a trickle: 5 s in all


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates.make(tmp_path_factory.mktemp("certificates"))


def post(here: Receiver, **how: Any) -> Answer:
    url = f"{how.get('scheme', 'http')}://{how.get('host', HOST)}:{here.port}{how.get('path', '/hook?key=s3cret')}"
    transport: PinnedTransport = how.get("transport", PinnedTransport())
    headers = how.get("headers", {"User-Agent": "herald/test"})
    return transport.post(
        url, how.get("address", "127.0.0.1"), headers, how.get("body", b"{}"), how.get("seconds", 5.0)
    )


def failure(here: Receiver, **how: Any) -> str:
    with pytest.raises(TransportFailure) as failed:
        post(here, **how)
    return failed.value.outcome


def trickle(*pieces: bytes) -> Callable[[Receiver, socket.socket], None]:
    """Send pieces 50 ms apart, until the client or the test has had enough."""

    def manners(here: Receiver, connection: socket.socket) -> None:
        for piece in pieces:
            connection.sendall(piece)
            if here.stop.wait(0.05):
                return

    return manners


def reset(_: Receiver, connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


# ------------------------------------------------------------------------------------------------------- requests ----


def test_a_post_is_one_request_under_the_urls_host_and_path() -> None:
    with receiver(answering(OK)) as here:
        answer = post(here, body=b'{"a":"\xc3\xa9"}', headers={"User-Agent": "herald/test", "X-One": "1"})

    assert (answer.status, answer.head) == (200, b"ok")
    assert sorted(here.head) == sorted(
        [
            "POST /hook?key=s3cret HTTP/1.1",
            f"Host: {HOST}:{here.port}",
            "Content-Length: 10",
            "User-Agent: herald/test",
            "Accept-Encoding: identity",
            "Connection: close",
            "X-One: 1",
        ]
    )
    assert here.body == b'{"a":"\xc3\xa9"}'


def test_each_post_has_a_connection_of_its_own() -> None:
    transport = PinnedTransport()
    with receiver(answering(OK)) as here:
        post(here, transport=transport)
        post(here, transport=transport)

    assert (here.connections, len(here.requests)) == (2, 2)


def test_a_body_of_four_megabytes_arrives_whole() -> None:
    with receiver(answering(OK)) as here:
        post(here, body=b"x" * 4_000_000)

    assert len(here.body) == 4_000_000


def test_no_environment_proxy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with receiver(answering(OK)) as here:
        assert post(here).status == 200


def test_c5_a_header_that_cannot_be_sent_is_our_own_fault_and_its_value_is_not_told() -> None:
    with receiver(answering(OK)) as here, pytest.raises(ValueError, match="can't be made") as error:
        post(here, headers={"Authorization": "Bearer s3cret\r\nX-Evil: 1"})

    assert "s3cret" not in f"{error.value!r} {error.value.__context__ if not error.value.__suppress_context__ else ''}"
    assert b"X-Evil" not in b"".join(here.requests)


def test_an_ipv6_receiver_is_reached() -> None:
    with receiver(answering(OK), host="::1") as here:
        assert post(here, host="[::1]", address="::1").status == 200

    assert f"Host: [::1]:{here.port}" in here.head


# -------------------------------------------------------------------------------------------------------- answers ----


def test_headers_come_lower_case() -> None:
    with receiver(answering(b"HTTP/1.1 503 No\r\nRetry-After: 7\r\nWebhook-Delivery: disable\r\n\r\n")) as here:
        answer = post(here)

    assert (answer.status, answer.headers) == (503, {"retry-after": "7", "webhook-delivery": "disable"})


def test_c7_a_redirect_is_an_answer_and_is_not_followed() -> None:
    with receiver(answering(OK)) as target:
        raw = f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{target.port}/\r\nContent-Length: 0\r\n\r\n"
        with receiver(answering(raw.encode())) as here:
            assert post(here).status == 302

    assert target.connections == 0


def test_16_kib_of_an_endless_body_are_read() -> None:
    def endless(here: Receiver, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 500 No\r\n\r\n")
        while not here.stop.is_set():
            connection.sendall(b"x" * 65_536)

    with receiver(endless) as here:
        answer = post(here)

    assert (answer.status, answer.head) == (500, b"x" * HEAD_BYTES)


def test_a_body_is_never_decompressed() -> None:
    bomb = gzip.compress(bytes(10_000_000))
    raw = b"HTTP/1.1 500 No\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    with receiver(answering(raw + bomb)) as here:
        answer = post(here)

    assert answer.head == bomb[:HEAD_BYTES]


def test_a_chunked_body_is_read() -> None:
    raw = b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    with receiver(answering(raw)) as here:
        assert post(here).head == b"abcde"


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nabc",
    ],
)
def test_the_status_counts_where_the_body_is_cut_off_or_malformed(raw: bytes) -> None:
    with receiver(answering(raw)) as here:
        assert post(here).status == 200


def test_a_100_continue_before_the_answer_is_passed_over() -> None:
    with receiver(answering(b"HTTP/1.1 100 Continue\r\n\r\n" + OK)) as here:
        assert post(here).status == 200


def test_other_interim_answers_are_passed_over_too() -> None:
    hints = b"HTTP/1.1 102 Processing\r\n\r\n" + b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" * 2
    with receiver(answering(hints + OK)) as here:
        answer = post(here)

    assert (answer.status, answer.headers, answer.head) == (200, {"content-length": "2"}, b"ok")


def test_interim_answers_without_end_are_a_bad_answer() -> None:
    def endless(here: Receiver, connection: socket.socket) -> None:
        while not here.stop.is_set():
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1_000)

    with receiver(endless) as here:
        assert failure(here) == "bad_answer"


def test_a_change_of_protocol_that_nobody_asked_for_is_an_answer() -> None:
    with receiver(answering(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")) as here:
        assert post(here).status == 101


@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_without_a_body_ends_at_once(status: int) -> None:
    def manners(here: Receiver, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 %d X\r\n\r\n" % status)
        here.stop.wait(5)

    with receiver(manners) as here:
        assert post(here).status == status


# -------------------------------------------------------------------------------------------------------- failures ----


def test_a_closed_port_refuses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    assert failure(Receiver(port)) == "connection_refused"


@pytest.mark.parametrize("manners", [reset, answering(b"")], ids=["reset", "closed"])
def test_a_connection_that_is_dropped_without_an_answer_is_refused(
    manners: Callable[[Receiver, socket.socket], None],
) -> None:
    with receiver(manners) as here:
        assert failure(here) == "connection_refused"


def test_a_silent_receiver_times_out() -> None:
    with receiver(silent) as here:
        assert failure(here, seconds=SHORT) == "read_timeout"


def test_a_receiver_that_does_not_read_times_out() -> None:
    with receiver(silent, read=False) as here:
        assert failure(here, seconds=SHORT, body=b"x" * 20_000_000) == "read_timeout"


def test_trickling_headers_time_out() -> None:
    with receiver(trickle(b"HTTP/1.1 200 OK\r\n", *[b"X: y\r\n"] * STEPS, b"\r\n")) as here:
        assert failure(here, seconds=SHORT) == "read_timeout"


def test_a_trickling_status_line_times_out() -> None:
    line = b"HTTP/1.1 200 " + b"O" * STEPS + b"K\r\n\r\n"
    with receiver(trickle(*[line[place : place + 1] for place in range(len(line))])) as here:
        assert failure(here, seconds=SHORT) == "read_timeout"


def test_a_trickling_body_ends_with_the_deadline_and_the_status_counts() -> None:
    last = b"the end"
    with receiver(trickle(b"HTTP/1.1 500 No\r\n\r\n", *[b"x"] * STEPS, last)) as here:
        answer = post(here, seconds=SHORT)

    assert answer.status == 500
    assert not answer.head.endswith(last)


def test_headers_without_end_are_a_bad_answer() -> None:
    def endless(here: Receiver, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while not here.stop.is_set():
            connection.sendall(b"X: y\r\n" * 1_000)

    with receiver(endless) as here:
        assert failure(here) == "bad_answer"


def test_one_header_without_end_is_a_bad_answer() -> None:
    def endless(here: Receiver, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        while not here.stop.is_set():
            connection.sendall(b"y" * 65_536)

    with receiver(endless) as here:
        assert failure(here) == "bad_answer"


def test_an_answer_with_large_headers_is_read_up_to_a_limit() -> None:
    line = b"X: " + b"y" * 60_000 + b"\r\n"
    lines = ANSWER_BYTES // len(line) + 1
    with receiver(answering(b"HTTP/1.1 200 OK\r\n" + line * lines + b"\r\n")) as here:
        assert failure(here) == "bad_answer"


@pytest.mark.parametrize("raw", [b"SSH-2.0-OpenSSH_9.6\r\n", b"\x16\x03\x01\x02", b"HTTP/1.1 abc\r\n\r\n", b"\r\n\r\n"])
def test_what_is_not_http_is_a_bad_answer(raw: bytes) -> None:
    with receiver(answering(raw)) as here:
        assert failure(here) == "bad_answer"


def test_malformed_headers_leave_no_url_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), receiver(answering(b"HTTP/1.1 200 OK\r\nno colon\r\nX: y\r\n\r\n")) as here:
        assert post(here).status == 200

    assert "s3cret" not in caplog.text


@pytest.mark.parametrize("number", [errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL])
def test_an_address_without_a_way_to_it_has_no_route(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise OSError(number, "unreachable")

    monkeypatch.setattr("urllib3.util.connection.create_connection", unreachable)

    assert failure(Receiver(1)) == "no_route"


def test_c6_a_connection_that_ends_up_elsewhere_is_blocked_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with receiver(answering(OK), read=False) as here:

        def elsewhere(*_: object, **__: object) -> socket.socket:
            return socket.create_connection(("127.0.0.1", here.port))

        monkeypatch.setattr("urllib3.util.connection.create_connection", elsewhere)
        assert failure(here, address="127.0.0.2") == "ssrf_blocked"

    assert here.requests == []


# ------------------------------------------------------------------------------------------------------------ TLS ----


def over_tls(here: Receiver, certificates: Certificates, **how: Any) -> Answer:
    return post(here, scheme="https", transport=PinnedTransport(certificates.trusting), **how)


def tls_failure(here: Receiver, certificates: Certificates, **how: Any) -> str:
    return failure(here, scheme="https", transport=PinnedTransport(certificates.trusting), **how)


def test_tls_is_checked_against_the_host_name_although_the_address_is_dialled(certificates: Certificates) -> None:
    with receiver(answering(OK), tls=certificates.serving(HOST)) as here:
        assert over_tls(here, certificates).status == 200

    assert f"Host: {HOST}:{here.port}" in here.head


def test_the_server_name_is_that_of_the_url(certificates: Certificates) -> None:
    names: list[str | None] = []
    tls = certificates.serving(HOST)
    tls.sni_callback = lambda _, name, __: names.append(name)
    with receiver(answering(OK), tls=tls) as here:
        over_tls(here, certificates)

    assert names == [HOST]


def test_a_certificate_for_the_address_serves_a_url_with_that_address(certificates: Certificates) -> None:
    with receiver(answering(OK), tls=certificates.serving("127.0.0.1")) as here:
        assert over_tls(here, certificates, host="127.0.0.1").status == 200


def test_a_certificate_for_the_address_does_not_serve_a_host_name(certificates: Certificates) -> None:
    with receiver(answering(OK), tls=certificates.serving("127.0.0.1")) as here:
        assert tls_failure(here, certificates) == "tls_error"


@pytest.mark.parametrize(
    "wrong",
    [{"names": ("other.test",)}, {"self_signed": True}, {"expired": True}, {"newest": ssl.TLSVersion.TLSv1_1}],
    ids=["wrong host", "self-signed", "expired", "TLS 1.1"],
)
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated:DeprecationWarning")
def test_a_connection_that_cannot_be_trusted_is_a_tls_error_and_nothing_is_sent(
    wrong: dict[str, Any], certificates: Certificates
) -> None:
    names = wrong.pop("names", (HOST,))
    with receiver(answering(OK), tls=certificates.serving(*names, **wrong)) as here:
        assert tls_failure(here, certificates) == "tls_error"

    assert here.requests == []


def test_the_systems_authorities_do_not_trust_a_test_authority(certificates: Certificates) -> None:
    with receiver(answering(OK), tls=certificates.serving(HOST)) as here:
        assert failure(here, scheme="https") == "tls_error"


def test_a_receiver_that_does_not_speak_tls_is_a_tls_error(certificates: Certificates) -> None:
    with receiver(answering(b"HTTP/1.1 400 Bad Request\r\n\r\n"), read=False) as here:
        assert tls_failure(here, certificates) == "tls_error"


def test_a_handshake_without_end_times_out(certificates: Certificates) -> None:
    with receiver(silent, read=False) as here:
        assert tls_failure(here, certificates, seconds=SHORT) == "connect_timeout"


def test_trickling_headers_time_out_under_tls_too(certificates: Certificates) -> None:
    manners = trickle(b"HTTP/1.1 200 OK\r\n", *[b"X: y\r\n"] * STEPS, b"\r\n")
    with receiver(manners, tls=certificates.serving(HOST)) as here:
        assert tls_failure(here, certificates, seconds=SHORT) == "read_timeout"


def test_a_large_body_arrives_under_tls(certificates: Certificates) -> None:
    with receiver(answering(OK), tls=certificates.serving(HOST)) as here:
        assert over_tls(here, certificates, body=b"x" * 2_000_000).status == 200

    assert len(here.body) == 2_000_000


def test_tls_1_2_is_the_least() -> None:
    transport = PinnedTransport()

    assert transport._context.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert transport._context.verify_mode is ssl.CERT_REQUIRED
    assert transport._context.check_hostname


# ---------------------------------------------------------------------------------------------------------- names ----


def found(*addresses: str) -> Callable[..., list[Any]]:
    def lookup(host: str, port: int, *_: object) -> list[Any]:
        return [
            (socket.AF_INET6 if ":" in address else socket.AF_INET, 1, 6, "", (address, port)) for address in addresses
        ]

    return lookup


def test_a_records_come_first_and_each_address_once() -> None:
    resolver = SystemResolver(found("2606:4700::1111", "1.1.1.1", "2606:4700::1111", "1.0.0.1"))

    assert resolver.resolve(HOST, 443, 2) == ["1.1.1.1", "1.0.0.1", "2606:4700::1111"]


def test_localhost_resolves_on_this_machine() -> None:
    assert "127.0.0.1" in SystemResolver().resolve("localhost", 80, 2)


@pytest.mark.parametrize("error", [socket.gaierror(socket.EAI_NONAME, "unknown"), UnicodeError("label too long")])
def test_a_name_that_is_not_there_is_a_dns_error(error: Exception) -> None:
    def lookup(*_: object) -> list[Any]:
        raise error

    with pytest.raises(TransportFailure, match="dns_error"):
        SystemResolver(lookup).resolve(HOST, 443, 2)


def test_a_name_without_addresses_is_a_dns_error() -> None:
    with pytest.raises(TransportFailure, match="dns_error"):
        SystemResolver(found()).resolve(HOST, 443, 2)


def test_a_resolver_that_hangs_is_a_dns_error_in_time() -> None:
    over = threading.Event()

    def lookup(*_: object) -> list[Any]:
        over.wait(5)
        return found("1.1.1.1")(HOST, 443)

    try:
        with pytest.raises(TransportFailure, match="dns_error") as failure:
            SystemResolver(lookup).resolve(HOST, 443, 0.05)
        assert failure.value.passing
    finally:
        over.set()


def failing(error: int, *, but: str = "") -> Callable[..., list[Any]]:
    """A lookup that learns nothing, save of one name."""

    def lookup(host: str, port: int, *_: object) -> list[Any]:
        if host == but:
            return found("52.94.0.1")(host, port)
        raise socket.gaierror(error, "failed")

    return lookup


LEARNT_NOTHING = [socket.EAI_AGAIN, socket.EAI_FAIL, socket.EAI_SYSTEM, socket.EAI_MEMORY]


@pytest.mark.parametrize("error", LEARNT_NOTHING)
def test_a_name_of_which_nothing_is_learnt_is_its_own_fault_while_the_witness_resolves(error: int) -> None:
    resolver = SystemResolver(failing(error, but="dynamodb.example"), lambda: "dynamodb.example")

    with pytest.raises(TransportFailure, match="dns_error") as failure:
        resolver.resolve(HOST, 443, 2)
    assert failure.value.passing


@pytest.mark.parametrize("error", LEARNT_NOTHING)
def test_where_the_witness_cannot_be_resolved_either_dns_is_down(error: int) -> None:
    with pytest.raises(Unavailable, match="DNS doesn't answer"):
        SystemResolver(failing(error), lambda: "dynamodb.example").resolve(HOST, 443, 2)


def test_a_name_that_is_not_there_asks_for_no_witness() -> None:
    def witness() -> str:
        raise AssertionError("asked")

    with pytest.raises(TransportFailure) as failure:
        SystemResolver(failing(socket.EAI_NONAME), witness).resolve(HOST, 443, 2)
    assert not failure.value.passing


def test_httplibs_own_limits_are_what_the_adapter_counts_on() -> None:
    assert http.client._MAXHEADERS == 100  # type: ignore[attr-defined]
    assert http.client._MAXLINE == 65_536  # type: ignore[attr-defined]
