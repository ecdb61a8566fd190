"""Each port twice: the fake, and the adapter on moto. One suite must hold for both."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import boto3
import botocore.session
import pytest
import pytest_socket
from botocore.loaders import Loader
from moto import mock_aws

from builders.stores import AWS_ENVIRONMENT, Store, dynamo_store, fake_store
from fakes.clock import FakeClock
from fakes.store import World
from herald.adapters.aws import AwsClients


@pytest.fixture(autouse=True)
def _no_sockets() -> Iterator[None]:
    pytest_socket.disable_socket(allow_unix_socket=True)
    yield
    pytest_socket.enable_socket()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    """Clients that talk to moto."""
    for name, value in AWS_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with mock_aws():
        yield AwsClients(_session(_loader()))


@cache
def _loader() -> Loader:
    """One reading of botocore's service models for all tests: it takes longer than most of them."""
    loader: Loader = botocore.session.Session().get_component("data_loader")
    return loader


def _session(loader: Loader) -> boto3.Session:
    session = botocore.session.Session()
    session.register_component("data_loader", loader)
    return boto3.Session(botocore_session=session)


@pytest.fixture
def dynamo(aws: AwsClients, clock: FakeClock) -> Store:
    """The adapters on moto's DynamoDB and S3."""
    return dynamo_store(aws, clock)


@pytest.fixture(params=["fake", "dynamodb"])
def store(request: pytest.FixtureRequest, clock: FakeClock) -> Store:
    if request.param == "fake":
        return fake_store(World(clock))
    found: Store = request.getfixturevalue("dynamo")
    return found
