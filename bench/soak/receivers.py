"""Receivers on loopback: one listener for all webhooks of a run, which fails by a seeded choice and keeps count."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import socket
import struct
import time
from collections.abc import Callable, Mapping
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from bench.soak.judge import OK, Arrival
from herald.webhooks import VerificationError, verify

FAULTS = ("500", "reset", "late", "429")  # each makes a share of the failures of its own size
SLOW = "slow"  # answers well, but after SLOW_SECONDS
SLOW_SHARE = 0.02
SLOW_SECONDS = 1.0
FIRST = "first"  # name of the run that only wakes the functions: none of its arrivals fails
LATER = 2.0  # seconds by which a late receiver misses the sender's bound

Choose = Callable[[str, int, int], str]
"""(hook, number, how many times it has arrived before) -> OK, SLOW or one of FAULTS."""


def chance(*what: object) -> float:
    """A number from 0 to 1 that hangs on nothing else."""
    return int.from_bytes(hashlib.sha256(repr(what).encode()).digest()[:6]) / 2**48


def failing(seed: int, share: float) -> Choose:
    """Fail this share of first arrivals, and half as many of those that come again.

    The same notification fails four times in a row once in 80,000 times then, where 10 % fail: the fifth attempt comes
    after ten minutes, and a soak has to wait for it.
    """

    def choose(hook: str, number: int, before: int) -> str:
        drawn, fails = chance(seed, hook, number, before), share if before == 0 else share / 2
        if drawn < fails:
            return FAULTS[int(drawn / fails * len(FAULTS))]
        return SLOW if drawn > 1 - SLOW_SHARE else OK

    return choose


def secret_of(seed: int, hook: str) -> str:
    """The ``whsec_`` secret of a webhook: its own, so that nobody's is taken for another's."""
    return "whsec_" + base64.b64encode(hashlib.sha256(f"{seed} {hook}".encode()).digest()).decode()


class Receivers:
    """Listens on an ephemeral port of 127.0.0.1. What arrives is verified at once, both ways, and kept.

    Args:
        timeout: seconds after which the sender gives up; a late receiver takes longer.
    """

    def __init__(self, seed: int, choose: Choose, jwks: Mapping[str, Any], timeout: float) -> None:
        self.arrivals: list[Arrival] = []
        self._seed, self._choose, self._jwks, self._timeout = seed, choose, jwks, timeout
        self._seen: dict[tuple[str, str, int], int] = {}
        self._server: asyncio.Server | None = None
        self.origin = ""

    async def start(self) -> None:
        # The system keeps a few more than it is asked for; a burst of connections must not be refused.
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1_024)
        self.origin = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            await self._answer(self._taken(head[0].split(" ")[1], headers, body), writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the sender has gone, as it does when a receiver is late
        finally:
            writer.close()

    def _taken(self, hook: str, headers: Mapping[str, str], body: bytes) -> str:
        """Keep an arrival; what becomes of it."""
        _, _, rest = headers.get("webhook-id", "").partition("_")
        key, _, text = rest.rpartition("_")
        number = int(text) if text.isdecimal() else -1
        before = self._seen.get((hook, key, number), 0)
        self._seen[hook, key, number] = before + 1
        made = OK if hook.startswith(f"/{FIRST}/") else self._choose(hook, number, before)
        answer = OK if made == SLOW else made
        digest, unverified = hashlib.sha256(body).hexdigest(), self._unverified(hook, headers, body)
        self.arrivals.append(Arrival(hook, key, number, time.time(), digest, unverified, answer))
        return made

    def _unverified(self, hook: str, headers: Mapping[str, str], body: bytes) -> str:
        try:
            verify(body, headers, jwks=self._jwks)
            Webhook(secret_of(self._seed, hook)).verify(body.decode(), dict(headers))
        except (VerificationError, ValueError) as error:
            return f"v1a: {error}"
        except WebhookVerificationError as error:
            return f"v1: {error}"
        return ""

    async def _answer(self, made: str, writer: asyncio.StreamWriter) -> None:
        if made == "reset":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return
        if made in ("late", SLOW):
            await asyncio.sleep(self._timeout + LATER if made == "late" else SLOW_SECONDS)
        status = {"500": "500 Oops", "429": "429 Not so fast\r\nRetry-After: 3"}.get(made, "204 No Content")
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()


def refusing() -> socket.socket:
    """A port of 127.0.0.1 that refuses connections for as long as this socket is open: bound, but not listening."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    return bound
