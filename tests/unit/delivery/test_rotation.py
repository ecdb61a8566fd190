"""The rotation of the signing secret under a moving clock: at no moment is a delivery made that receivers would refuse.

Senders and publishers are processes that know of the secret what they saw up to five minutes ago. Receivers keep the
published keys as long as they may, each kind in its own way.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from fakes.clock import START, FakeClock
from fakes.secret_versions import FakeVersion
from fakes.secrets_manager import FakeSecretsManager
from herald.adapters.secret_rotation import RotatableSecret
from herald.adapters.secrets import SecretVersions
from herald.bindings import caching
from herald.delivery import rotation
from herald.delivery.rotation import Staged
from herald.delivery.signing import SigningKeys
from herald.webhooks import Jwks, VerificationError, verify

MINUTE, HOUR = 60_000, 3_600_000
BODY = b'{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}'
URL = "https://agent.example/.well-known/jwks.json"

OLD, NEW, NEXT = FakeVersion("old"), FakeVersion("new", created_at=START), FakeVersion("next", created_at=START)


# ------------------------------------------------------------------------------------------------ what is decided ----


@pytest.mark.parametrize(
    ("age", "signing", "published"),
    [
        (-1, [OLD], [OLD, NEW]),  # a clock that is behind
        (0, [OLD], [OLD, NEW]),
        (HOUR - 1, [OLD], [OLD, NEW]),
        (HOUR, [NEW, OLD], [NEW, OLD]),
        (25 * HOUR - 1, [NEW, OLD], [NEW, OLD]),
        (25 * HOUR, [NEW], [NEW, OLD]),
        (26 * HOUR - 1, [NEW], [NEW, OLD]),
        (26 * HOUR, [NEW], [NEW]),
    ],
)
def test_the_age_of_the_newest_version_decides(
    age: int, signing: list[FakeVersion], published: list[FakeVersion]
) -> None:
    staged = Staged(NEW, OLD)

    assert staged.signing(START + age) == signing
    assert staged.published(START + age) == published


def test_where_there_is_no_former_version_the_only_one_signs_at_once() -> None:
    for staged in (Staged(NEW), Staged(NEW, NEW)):
        assert staged.signing(START) == staged.published(START) == [NEW]


def test_a_version_that_waits_is_published_only() -> None:
    staged = Staged(NEW, OLD, NEXT)

    assert staged.published(START) == [OLD, NEW, NEXT]
    assert NEXT not in staged.signing(START + 100 * HOUR)


def test_a_key_is_published_longer_before_it_signs_than_anybody_keeps_anything() -> None:
    from herald.adapters.secrets import FRESH_MS

    # A publisher that is behind, a cache that took from it, a client's cache that took from that one.
    assert rotation.LEAD_MS > 2 * (FRESH_MS + 2 * caching.MAX_AGE * 1000)


# --------------------------------------------------------------------------------------------- with a moving clock ----


@dataclass
class Receiver:
    """One way to keep keys and to check with them. ``refused`` are the moments at which it didn't take a delivery."""

    name: str
    accepts: Callable[[bytes, dict[str, str], float], None]
    refused: list[int] = field(default_factory=list)


class Deployment:
    """Processes around one secret, and receivers around them."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - the same walk each time
        self.clock = FakeClock(START)
        self.manager = FakeSecretsManager(self.clock, made_at=START - 1_000 * HOUR)
        self.rotatable = RotatableSecret(self._client, "arn")
        self.senders = [self._keys() for _ in range(10)]
        self.publishers = [self._keys() for _ in range(4)]
        self._shared: tuple[int, bytes] | None = None
        self.receivers = [
            Receiver("herald.webhooks", self._with(self._jwks())),
            Receiver("herald.webhooks behind a shared cache", self._with(self._jwks(self._through_a_shared_cache))),
            Receiver("keeps for max-age and never asks twice", self._with(self._kept(caching.MAX_AGE))),
            Receiver("the same behind a shared cache", self._with(self._kept(300, self._through_a_shared_cache))),
            Receiver("looks at the first signature only", self._with(self._kept(caching.MAX_AGE), first=True)),
            Receiver("loads once a day", self._with(self._kept(24 * 3_600))),
        ]

    def rotate(self) -> int:
        """A new version; when it was made."""
        self.rotatable.renew(self.rotatable.state())
        return self.clock.now()

    def finish(self) -> None:
        state = self.rotatable.state()
        assert state.previous is not None
        self.rotatable.forget(state.previous)
        self.manager.delete_forgotten()

    def run(self, until: int, events: list[int]) -> None:
        """Deliver until then: every ten minutes, and every half a minute for a quarter of an hour around each event."""
        while self.clock.now() < until:
            near = any(abs(self.clock.now() - event) < 15 * MINUTE for event in events)
            self.clock.advance(self.random.uniform(10, 50) if near else self.random.uniform(200, 1_000))
            for keys in self.random.sample(self.senders, 2):
                self._deliver(keys)
            if self.random.random() < 0.1:  # processes come and go
                self.senders[self.random.randrange(len(self.senders))] = self._keys()
                self.publishers[self.random.randrange(len(self.publishers))] = self._keys()

    def refusals(self) -> dict[str, list[int]]:
        return {receiver.name: receiver.refused for receiver in self.receivers if receiver.refused}

    def _deliver(self, keys: SigningKeys) -> None:
        second = self.clock.now() // 1000
        signatures = keys.sign("acme", "msg_k_000000000001", second, BODY)
        headers = {
            "webhook-id": "msg_k_000000000001",
            "webhook-timestamp": str(second),
            "webhook-signature": " ".join(signatures),
        }
        for receiver in self.receivers:
            try:
                receiver.accepts(BODY, headers, second)
            except VerificationError:
                receiver.refused.append(self.clock.now())

    def _client(self) -> Any:
        return self.manager

    def versions(self) -> SecretVersions:
        """The secret as a process sees it that has just started."""
        return SecretVersions(self._client, "arn", self.clock)

    def _keys(self) -> SigningKeys:
        return SigningKeys(self.versions())

    def _fetch(self, url: str = URL) -> bytes:
        assert url == URL
        publisher = self.random.choice(self.publishers)
        return json.dumps({"keys": [key.jwk for key in publisher.public("acme")]}).encode()

    def _through_a_shared_cache(self, url: str = URL) -> bytes:
        """One that keeps what it got for max-age, and whose clients keep it as long again."""
        now = self.clock.now()
        if self._shared is None or now - self._shared[0] >= caching.MAX_AGE * 1000:
            self._shared = now, self._fetch(url)
        return self._shared[1]

    def _seconds(self) -> float:
        return self.clock.now() / 1000

    def _jwks(self, fetch: Callable[[str], bytes] | None = None) -> Callable[[], Any]:
        jwks = Jwks(URL, fetch=fetch or self._fetch, clock=self._seconds)
        return lambda: jwks

    def _kept(self, seconds: float, fetch: Callable[[str], bytes] | None = None) -> Callable[[], Any]:
        kept: list[tuple[float, Any]] = []

        def jwks() -> Any:
            if not kept or self._seconds() - kept[-1][0] >= seconds:
                kept.append((self._seconds(), json.loads((fetch or self._fetch)(URL))))
            return kept[-1][1]

        return jwks

    @staticmethod
    def _with(jwks: Callable[[], Any], *, first: bool = False) -> Callable[[bytes, dict[str, str], float], None]:
        def accepts(body: bytes, headers: dict[str, str], now: float) -> None:
            if first:
                headers = {**headers, "webhook-signature": headers["webhook-signature"].split(" ")[0]}
            verify(body, headers, jwks=jwks(), now=now)

        return accepts


def rotated_twice(deployment: Deployment) -> list[int]:
    """Rotate, finish as soon as that is possible, and rotate again at once; the moments at which something changed."""
    deployment.run(START + HOUR, [])
    changes = []
    for _ in range(2):
        made = deployment.rotate()
        events = [made, made + HOUR, made + 25 * HOUR, made + 26 * HOUR]
        deployment.run(made + 26 * HOUR, events)
        deployment.finish()
        changes += events
    deployment.run(deployment.clock.now() + 2 * HOUR, changes)
    return changes


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_receiver_refuses_a_delivery_at_any_moment_of_two_rotations(seed: int) -> None:
    deployment = Deployment(seed)

    rotated_twice(deployment)

    assert deployment.refusals() == {}
    assert len(deployment.manager.versions) == 1


@pytest.fixture
def shortened(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def shorten(**lengths: int) -> None:
        for name, length in lengths.items():
            monkeypatch.setattr(rotation, name, length)

    return shorten


def test_without_the_lead_receivers_would_meet_keys_that_they_cannot_know(shortened: Callable[..., None]) -> None:
    shortened(LEAD_MS=0)
    deployment = Deployment(1)

    rotated_twice(deployment)

    assert "looks at the first signature only" in deployment.refusals()


def test_without_the_overlap_receivers_that_load_once_a_day_would_be_left_behind(
    shortened: Callable[..., None],
) -> None:
    shortened(OVERLAP_MS=0, SAFE_MS=2 * HOUR)
    deployment = Deployment(1)

    rotated_twice(deployment)

    assert set(deployment.refusals()) == {"loads once a day"}


def test_a_process_that_has_just_read_the_current_version_knows_the_one_before_it() -> None:
    """Read one by one and kept each for itself, they would be of two moments: the new one, and none before it."""
    deployment = Deployment(1)
    keys = deployment.senders[0]
    [before] = keys.sign("acme", "id", 1, BODY)
    deployment.clock.advance(299)
    deployment.rotate()
    deployment.clock.advance(1)

    assert keys.sign("acme", "id", 1, BODY) == [before]


@pytest.mark.parametrize("reads_before", [0, 1, 2])
def test_a_version_that_moves_while_a_publisher_reads_is_not_missed(reads_before: int) -> None:
    deployment = Deployment(1)
    manager, old, new = deployment.manager, "v" * 32, "n" * 32
    manager.put_secret_value(SecretId="arn", SecretString="next", ClientRequestToken=new, VersionStages=("AWSPENDING",))

    def promote() -> None:
        manager.update_secret_version_stage(SecretId="arn", VersionStage="AWSPENDING", RemoveFromVersionId=new)
        manager.update_secret_version_stage(
            SecretId="arn", VersionStage="AWSCURRENT", RemoveFromVersionId=old, MoveToVersionId=new
        )

    for _ in range(reads_before):
        manager.before_next("get_secret_value", lambda: None)
    manager.before_next("get_secret_value", promote)
    publisher = deployment.versions()

    assert {version.version_id for version in publisher.published()} == {old, new}


def test_a_key_that_was_found_out_stops_at_once_when_its_stage_is_taken_from_it() -> None:
    deployment = Deployment(1)
    deployment.rotate()
    deployment.finish()  # within the first hour, as docs/webhooks.md tells in an emergency
    keys = SigningKeys(deployment.versions())

    [signature] = keys.sign("acme", "id", 1, BODY)
    [public] = keys.public("acme")

    headers = {"webhook-id": "id", "webhook-timestamp": "1", "webhook-signature": signature}
    assert verify(BODY, headers, jwks={"keys": [public.jwk]}, now=1).kind == "statusUpdate"
