"""Our own delivery over real connections to receivers on loopback, and the keys that it is verified with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import time
from typing import Any

from clients.vectors import keys as known

from builders.deliveries import Road
from builders.jwt_profile import TokenKey
from builders.receivers import answering, receiver
from fakes.secret_versions import FakeVersions
from fakes.token_key import FakeTokenKey
from herald.adapters.http import PinnedTransport
from herald.client_secrets import Secrets
from herald.delivery.signing import SigningKeys
from herald.delivery.token import BearerTokens
from herald.ports import Answer, TransportFailure, WebhookTransport

SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
NOTHING = Secrets()
ASKING = Secrets(scheme="Bearer")  # without credentials: for a token of the sender's

Request = tuple[dict[str, str], bytes]  # headers, body
Change = Callable[[dict[str, str], bytes], Request]


@dataclass(frozen=True)
class Published:
    """All keys of a tenant, at an address. ``foreign`` signs tokens that our sender wouldn't make."""

    notifications: SigningKeys
    tokens: FakeTokenKey
    foreign: TokenKey
    base_url: str = ""

    @property
    def issuer(self) -> str:
        return f"{self.base_url}/acme"

    @property
    def url(self) -> str:
        return f"{self.issuer}/.well-known/jwks.json"

    @property
    def jwks(self) -> dict[str, Any]:
        """Notifications' keys, the tokens', and the card's, which signs no notification."""
        signing = [key.jwk for key in self.notifications.public("acme")]
        return {"keys": [known.card_jwk(known.CARD, "card-1"), *signing, self.tokens.jwk(), self.foreign.jwk]}


@contextmanager
def published() -> Iterator[Published]:
    """Keys, and the server that publishes them."""
    keys = Published(SigningKeys(FakeVersions()), FakeTokenKey(), TokenKey())
    body = json.dumps(keys.jwks).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/jwk-set+json\r\nContent-Length: {len(body)}\r\n\r\n"
    with receiver(answering(head.encode() + body)) as here:
        yield replace(keys, base_url=f"http://127.0.0.1:{here.port}")


@dataclass
class Between:
    """Between a sender and its receiver: changes what is sent, and loses answers."""

    transport: WebhookTransport
    change: Change
    lose: int = 0  # so many of the next answers
    sent: list[Request] = field(default_factory=list)

    def post(self, url: str, address: str, headers: Mapping[str, str], body: bytes, seconds: float) -> Answer:
        request = self.change(dict(headers), body)
        self.sent.append(request)
        answer = self.transport.post(url, address, *request, seconds)
        if self.lose:
            self.lose -= 1
            raise TransportFailure("read_timeout")
        return answer


def unchanged(headers: dict[str, str], body: bytes) -> Request:
    return headers, body


def with_token(tokens: TokenKey, **claims: Any) -> Change:
    """Put another token into each request."""

    def change(headers: dict[str, str], body: bytes) -> Request:
        token = tokens.token(headers["webhook-id"], body, int(headers["webhook-timestamp"]), **claims)
        return {**headers, "Authorization": f"Bearer {token}"}, body

    return change


class Delivered:
    """The road of a short task, from its log over a real connection to a receiver on this machine."""

    def __init__(
        self, keys: Published, url: str, change: Change = unchanged, *, secrets: Secrets = NOTHING, lose: int = 0
    ) -> None:
        authority = url.split("/")[2]
        tokens = BearerTokens(keys.tokens, keys.base_url)
        road = self.road = Road(signer=keys.notifications, tokens=tokens, allow=authority)
        self.between = Between(PinnedTransport(), change, lose)
        road.delivery = replace(road.delivery, sender=replace(road.sender, transport=self.between))
        road.clock.set(int(time() * 1000))
        road.register(url=url, snapshot_due=True, secrets=secrets)
        road.working(1)
        road.artifact(2)
        road.completed(3)
        road.run()

    @property
    def answers(self) -> list[tuple[str, int | None, str]]:
        """Of each attempt: outcome, status, and what was kept of the answer."""
        return [(outcome.name, outcome.status, outcome.head) for _, _, outcome in self.road.watch.attempts]
