"""Receivers on loopback: a real socket each, its own thread, an ephemeral port, and whatever manners a test wants."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

BOUND = 10.0  # seconds after which no thread of a test is left


@dataclass
class Receiver:
    """A listening receiver. ``requests`` holds the raw bytes of each request; ``connections`` counts."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def head(self) -> list[str]:
        """The lines of the last request's head."""
        return self.requests[-1].partition(b"\r\n\r\n")[0].decode().split("\r\n")

    @property
    def body(self) -> bytes:
        return self.requests[-1].partition(b"\r\n\r\n")[2]


Manners = Callable[[Receiver, socket.socket], None]  # what is done with a connection after its request was read


class Wraps(Protocol):
    """What makes TLS of a connection: an SSLContext, or one that a test puts in its place."""

    def wrap_socket(self, sock: socket.socket, /, *, server_side: bool) -> ssl.SSLSocket: ...


@contextmanager
def receiver(
    manners: Manners,
    *,
    tls: Wraps | None = None,
    read: bool = True,
    host: str = "127.0.0.1",
) -> Iterator[Receiver]:
    """Accept connections one after the other; ``read`` whether a request is read before ``manners`` get the socket."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:
        server.settimeout(0.01)  # how long the end of a test may wait for it
        found = Receiver(server.getsockname()[1])

        def serve() -> None:
            while not found.stop.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                except OSError:
                    return
                found.connections += 1
                connection.settimeout(BOUND)
                try:
                    if tls is not None:
                        connection = tls.wrap_socket(connection, server_side=True)
                    if read:
                        found.requests.append(read_request(connection))
                    manners(found, connection)
                except OSError:
                    pass  # the client has gone, as some tests want it
                finally:
                    connection.close()

        thread = threading.Thread(target=serve, name="receiver")
        thread.start()
        try:
            yield found
        finally:
            found.stop.set()
            thread.join(BOUND)
            assert not thread.is_alive()


def read_request(connection: socket.socket) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request:
        piece = connection.recv(65_536)
        if not piece:
            return request
        request += piece
    head, _, body = request.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
    )
    while len(body) < length:
        piece = connection.recv(65_536)
        if not piece:
            break
        body += piece
    return head + b"\r\n\r\n" + body


def answering(raw: bytes) -> Manners:
    """Send these bytes and hang up."""

    def manners(_: Receiver, connection: socket.socket) -> None:
        connection.sendall(raw)

    return manners


def silent(here: Receiver, _: socket.socket) -> None:
    """Say nothing until the test is over."""
    here.stop.wait(BOUND)


@dataclass(frozen=True)
class Certificates:
    """A certificate authority for tests: ``trusting()`` is a client's context, ``serving(…)`` a server's."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def make(cls, folder: Path) -> Certificates:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test CA")])
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=2))
            .not_valid_after(now + datetime.timedelta(days=2))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.KeyUsage(True, False, False, False, False, True, True, False, False),
                critical=True,
            )
            .sign(key, hashes.SHA256())
        )
        return cls(folder, key, certificate)

    def trusting(self) -> ssl.SSLContext:
        pem = self.certificate.public_bytes(serialization.Encoding.PEM).decode()
        return ssl.create_default_context(cadata=pem)

    def serving(
        self,
        *names: str,
        expired: bool = False,
        self_signed: bool = False,
        newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3,
    ) -> ssl.SSLContext:
        """A server's context with a certificate for these host names and addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])
        now = datetime.datetime.now(datetime.UTC)
        end = now - datetime.timedelta(hours=1) if expired else now + datetime.timedelta(days=1)
        issuer_key = key if self_signed else self.key
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject if self_signed else self.certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(end)
            .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
            .sign(issuer_key, hashes.SHA256())
        )
        file = self.folder / f"{certificate.serial_number}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        context.maximum_version = newest
        return context


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
