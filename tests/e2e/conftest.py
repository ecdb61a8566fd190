"""One deployed stack for all e2e tests: an emulator of its own on a free port, gone when the tests are over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from local import stack as local_stack
from local import token as local_token
from local.stack import Place, Variant

from e2e.client import Client
from e2e.cloud import Cloud
from e2e.loopback import Meeting, Receiver
from e2e.places import ended_like_ctrl_c, own_place

Mint = Callable[..., str]

HERE = Path(__file__).parent
SECONDS = 300  # for one test, the deployment before the first one included

VARIANT = Variant(
    # The scripted agent; and receivers may take their time, for those that are held until something else has happened.
    parameters={"Agent": "agent.scripted:Scripted", "WebhookTimeout": "30"},
    agent_overlay=HERE / "overlay",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(SECONDS))


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    """Where this run's stack is; whatever happens, it is down when the tests are over."""
    with own_place("e2e") as found, ended_like_ctrl_c():
        try:
            yield found
        finally:
            local_stack.down(found)


@pytest.fixture(scope="session")
def addresses(place: Place) -> Mapping[str, str]:
    """Where everything of the deployed stack is."""
    return local_stack.up(place, VARIANT)


@pytest.fixture(scope="session")
def cloud(addresses: Mapping[str, str]) -> Cloud:
    return Cloud(addresses)


@pytest.fixture(scope="session")
def jwks(addresses: Mapping[str, str]) -> Callable[[], Mapping[str, Any]]:
    """The stack's published keys, fetched once."""

    @cache
    def fetched() -> Mapping[str, Any]:
        told: dict[str, Any] = httpx.get(addresses["jwksUrl"], timeout=60, trust_env=False).raise_for_status().json()
        return told

    return fetched


@pytest.fixture(scope="session")
def mint(place: Place, addresses: Mapping[str, str]) -> Mint:
    """Makes access tokens of the local issuer: ``mint("bob", tenant="acme")``; more as in ``local.token.mint``."""

    def minted(owner: str, **what: Any) -> str:
        return local_token.mint(place.issuer_key, addresses["issuer"], owner, **what)

    return minted


@pytest.fixture(scope="session")
def token(mint: Mint, cloud: Cloud) -> str:
    """An access token of the owner whose tasks ``cloud`` looks at."""
    return mint(cloud.subject)


@pytest.fixture(scope="session")
def new_client(addresses: Mapping[str, str], mint: Mint) -> Iterator[Callable[..., Client]]:
    """Makes clients for any owner and tenant, as ``mint`` makes tokens."""
    with ExitStack() as all_of_them:

        def make(owner: str, **what: Any) -> Client:
            made = Client(addresses["baseUrl"], mint(owner, **what))
            all_of_them.callback(made.close)
            return made

        yield make


@pytest.fixture
def client(addresses: Mapping[str, str], cloud: Cloud, token: str) -> Iterator[Client]:
    """Calls the stack's agent. What a test leaves to be delivered is forgotten: the next one begins in peace."""
    made = Client(addresses["baseUrl"], token)
    yield made
    made.close()
    cloud.forget_webhooks()


@pytest.fixture
def new_receiver(jwks: Callable[[], Mapping[str, Any]]) -> Iterator[Callable[..., Receiver]]:
    """Makes receivers that listen until the test is over."""
    with ExitStack() as all_of_them:

        def make(**how: Any) -> Receiver:
            receiver = Receiver(jwks, **how)
            receiver.start()
            all_of_them.callback(receiver.stop)
            return receiver

        yield make


@pytest.fixture
def receiver(new_receiver: Callable[..., Receiver]) -> Receiver:
    return new_receiver()


@pytest.fixture
def meeting() -> Iterator[Meeting]:
    """Where the agent waits for the test."""
    made = Meeting()
    made.start()
    yield made
    made.stop()
