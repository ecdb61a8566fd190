"""Names of webhooks' hosts, looked up in a bounded time."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable
from typing import Any

from herald.delivery import retry
from herald.ports import TransportFailure, Unavailable

# What getaddrinfo says when it has learnt nothing of a name: the name's own servers may be down, or our resolver.
PASSING = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL, socket.EAI_SYSTEM, socket.EAI_MEMORY})


class SystemResolver:
    """The system's resolver in a bounded time, A records first.

    Args:
        witness: tells a host whose name always resolves, AWS's own. Where nothing is learnt of a name, it shows whether
            DNS is down altogether.
    """

    def __init__(
        self, lookup: Callable[..., list[Any]] = socket.getaddrinfo, witness: Callable[[], str | None] = lambda: None
    ) -> None:
        self._lookup = lookup
        self._witness = witness

    def resolve(self, host: str, port: int, timeout: float) -> list[str]:
        """All A and AAAA addresses, IPv4 first.

        Raises:
            TransportFailure: "dns_error" when there are none in time.
            Unavailable: the witness can't be resolved either: DNS is down, and that is no receiver's fault.
        """
        try:
            return self._resolve(host, port, timeout)
        except TransportFailure as failure:
            if failure.passing and not self._answers(timeout):
                raise Unavailable("DNS doesn't answer") from None
            raise

    def _answers(self, timeout: float) -> bool:
        witness = self._witness()
        try:
            return witness is None or bool(self._resolve(witness, 443, timeout))
        except TransportFailure:
            return False

    def _resolve(self, host: str, port: int, timeout: float) -> list[str]:
        # getaddrinfo knows no time-out. A thread that hangs ends by itself when the system's resolver gives up.
        answers: queue.SimpleQueue[list[Any] | OSError] = queue.SimpleQueue()
        threading.Thread(target=self._look_up, args=(host, port, answers), daemon=True, name="resolver").start()
        try:
            found = answers.get(timeout=timeout)
        except queue.Empty:
            raise TransportFailure(retry.DNS_ERROR, round(timeout * 1000), passing=True) from None
        if isinstance(found, OSError):
            raise TransportFailure(retry.DNS_ERROR, passing=found.errno in PASSING) from found
        order = {socket.AF_INET: 0, socket.AF_INET6: 1}
        addresses = [info[4][0] for info in sorted(found, key=lambda info: order.get(info[0], 2)) if info[0] in order]
        if not addresses:
            raise TransportFailure(retry.DNS_ERROR)
        return list(dict.fromkeys(addresses))

    def _look_up(self, host: str, port: int, answers: queue.SimpleQueue[list[Any] | OSError]) -> None:
        try:
            answers.put(self._lookup(host, port, socket.AF_UNSPEC, socket.SOCK_STREAM))
        except OSError as error:
            answers.put(error)
        except UnicodeError:  # a label that IDNA can't encode
            answers.put(OSError("not a name"))
