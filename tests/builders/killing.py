"""Ends a process at the nth call of any port, before or after the call's effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from builders.deliveries import Road
from herald.delivery.url_policy import AllowList, UrlPolicy


class Killed(BaseException):
    """The function's process ends here."""


def nothing() -> None: ...


@dataclass
class Calls:
    """Counts the calls of all ports; ``at`` acts at one of them: it may kill, or let somebody else act."""

    at: int = 0  # 1 for the first call; 0 for none
    before: Callable[[], None] = nothing
    after: Callable[[], None] = nothing
    names: list[str] = field(default_factory=list)

    def watched(self, port: Any, name: str) -> Any:
        """The port, its calls counted."""
        return _Watched(port, name, self)


class _Watched:
    def __init__(self, port: Any, name: str, calls: Calls) -> None:
        self._port = port
        self._name = name
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        effect = getattr(self._port, name)
        calls = self._calls

        def call(*args: Any, **kwargs: Any) -> Any:
            calls.names.append(f"{self._name}.{name}")
            here = len(calls.names) == calls.at
            if here:
                calls.before()
            answer = effect(*args, **kwargs)
            if here:
                calls.after()
            return answer

        return call


def watch(road: Road, calls: Calls) -> None:
    """Let ``calls`` see every call that the road's senders make, acknowledging and hiding included."""
    watched = calls.watched
    clock = watched(road.clock, "clock")
    sender = replace(
        road.sender,
        policy=UrlPolicy(watched(road.resolver, "resolver"), AllowList()),
        transport=watched(road.transport, "transport"),
        signer=watched(road.signer, "signer"),
        sealer=watched(road.sealer, "sealer"),
        clock=clock,
    )
    road.doorbells_of_senders = watched(road.doorbells, "doorbells")
    road.delivery = replace(
        road.delivery,
        log=watched(road.log, "log"),
        webhooks=watched(road.webhooks, "webhooks"),
        doorbells=road.doorbells_of_senders,
        sender=sender,
        clock=clock,
        ids=watched(road.ids, "ids"),
    )
