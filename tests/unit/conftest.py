"""Unit tests open no socket: what they need of the world is faked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_socket import disable_socket, enable_socket


@pytest.fixture(autouse=True)
def _no_sockets() -> Iterator[None]:
    disable_socket(allow_unix_socket=True)  # asyncio's own loop needs a pair of them
    yield
    enable_socket()
