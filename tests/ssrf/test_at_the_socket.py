"""What urls.yaml says of each URL, at the socket: a sender that finds a refused one in its webhook connects to nobody.

Every connection of these tests is led to a canary that listens on this machine, whatever address it was meant for: who
connects at all is seen, and so is every byte.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from builders.deliveries import Road
from builders.receivers import Receiver, receiver
from e2e.waiting import wait_for
from fakes.clock import START
from fakes.world import FakeResolver
from herald.adapters.http import PinnedTransport
from herald.client_secrets import Secrets
from herald.delivery.url_policy import AllowList, UrlPolicy
from herald.records import WebhookState
from ssrf.urls import PUBLIC, Allowed, Refused, allowed, hosts, refused

SECRETS = Secrets("tok-s3cret", "Bearer", "sek-s3cret")
INNER = "169.254.169.254"
NAME = "hooks.example.com"
URL = f"https://{NAME}/in"


@dataclass
class Canary:
    """Where every connection ends.

    Attributes:
        dialled: the addresses that were meant.
        heard: what was said.
    """

    dialled: list[str] = field(default_factory=list)
    _heard: list[bytes] = field(default_factory=list)  # one for each connection that has ended

    def listen(self, _: Receiver, connection: socket.socket) -> None:
        said = b""
        try:
            while piece := connection.recv(65_536):
                said += piece
        finally:
            self._heard.append(said)

    @property
    def heard(self) -> bytes:
        wait_for("every connection to end", lambda: len(self._heard) == len(self.dialled))
        return b"".join(self._heard)

    def forget(self) -> None:
        self.dialled.clear()
        self._heard.clear()


@pytest.fixture(scope="module")
def listening() -> Iterator[tuple[Canary, dict[int, tuple[str, int]]]]:
    """The canary, and its own address in each family."""
    found = Canary()
    with receiver(found.listen, read=False) as v4, receiver(found.listen, read=False, host="::1") as v6:
        yield found, {socket.AF_INET: ("127.0.0.1", v4.port), socket.AF_INET6: ("::1", v6.port)}


@pytest.fixture
def canary(listening: tuple[Canary, dict[int, tuple[str, int]]], monkeypatch: pytest.MonkeyPatch) -> Canary:
    found, own = listening
    found.forget()
    connect = socket.socket.connect

    def divert(self: socket.socket, address: tuple[str, int]) -> None:
        found.dialled.append(address[0])
        connect(self, own[self.family])

    monkeypatch.setattr(socket.socket, "connect", divert)
    return found


def sending(road: Road, resolver: FakeResolver, allow: str = "") -> None:
    """Let the road's sender use the real guard and the real transport."""
    sender = replace(
        road.sender, policy=UrlPolicy(resolver, AllowList.parse(allow)), transport=PinnedTransport(), seconds=5.0
    )
    road.delivery = replace(road.delivery, sender=sender)


def road_to(url: str, resolver: FakeResolver, allow: str = "") -> Road:
    """A webhook with this URL, which nobody vetted when it was made, and an update to be sent."""
    road = Road()
    sending(road, resolver, allow)
    road.register(url=url, secrets=SECRETS, due_at=START + 3_600_000)
    road.working(1)
    return road


# --------------------------------------------------------------------------------------------------- each URL ----


@pytest.mark.parametrize("row", refused(), ids=str)
def test_c6_c8_a_refused_url_is_never_connected_to_and_disables_its_webhook(row: Refused, canary: Canary) -> None:
    road = road_to(row.url, FakeResolver(hosts()))
    for seconds in (0, 72, 360, 3_600):
        road.wait(seconds)

    assert canary.dialled == []
    assert road.watch.outcomes == ["ssrf_blocked"] * 3
    webhook = road.webhook()
    assert (webhook.state, webhook.reason) == (WebhookState.DISABLED, "ssrf_blocked: its URL was refused 3 times")
    assert webhook.cursor == 0
    assert [attempt.head for attempt in road.webhooks.attempts(webhook)] == ["", "", ""]


@pytest.mark.parametrize("row", allowed(), ids=str)
def test_an_allowed_url_is_connected_to_at_its_vetted_address_and_a_wrong_peer_hears_nothing(
    row: Allowed, canary: Canary
) -> None:
    """The control: the canary hears who connects. And since it is not who was meant, it isn't told a byte."""
    road = road_to(row.url, FakeResolver(hosts()))
    road.run()

    literal = ":" in row.host or row.host.replace(".", "").isdigit()
    assert (canary.dialled, canary.heard) == ([row.host if literal else PUBLIC], b"")
    assert road.watch.outcomes == ["ssrf_blocked"]


# -------------------------------------------------------------------------------------------------- rebinding ----


def test_c8_a_name_is_resolved_once_for_an_attempt_and_never_by_the_transport(
    canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up = []
    look_up = socket.getaddrinfo

    def rebound(host: str, *args: object, **kwargs: object) -> object:
        looked_up.append(host)
        return look_up(host if host == PUBLIC else INNER, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    resolver = FakeResolver()
    resolver.set(NAME, [PUBLIC], [INNER])  # public to the guard, and never again
    road_to(URL, resolver).run()

    assert resolver.calls["resolve"] == 1
    assert canary.dialled == [PUBLIC]
    assert set(looked_up) <= {PUBLIC}


def test_c8_a_name_that_turns_inner_between_two_attempts_is_blocked_at_the_second(canary: Canary) -> None:
    resolver = FakeResolver()
    resolver.set(NAME, [PUBLIC], [INNER], [PUBLIC, "::1"], ["fd00::1"])
    road = road_to(URL, resolver)
    for seconds in (0, 72, 360, 3_600):
        road.wait(seconds)

    assert road.watch.outcomes == ["ssrf_blocked"] * 3  # the first: the canary isn't who was meant
    assert (canary.dialled, canary.heard) == ([PUBLIC], b"")
    assert road.webhook().state is WebhookState.DISABLED


def test_a_name_that_turns_public_again_is_delivered_to() -> None:
    road = Road()
    road.resolver.set("client.example", [INNER], ["10.0.0.1"], [PUBLIC])
    road.register(due_at=START + 3_600_000)
    road.working(1)
    for seconds in (0, 72, 360):
        road.wait(seconds)

    assert road.watch.outcomes == ["ssrf_blocked", "ssrf_blocked", "delivered"]
    assert road.webhook().state is WebhookState.ACTIVE


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
def test_no_proxy_of_the_environment_is_connected_to(
    name: str, canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:3128")
    road_to(URL, FakeResolver({NAME: [PUBLIC]})).run()

    assert canary.dialled == [PUBLIC]
