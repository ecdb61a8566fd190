"""Given containers that reach this machine at another address, then the emulator's port is there, too."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from local.emulator import bridge

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8")

ELSEWHERE = "127.0.0.2"
BOUND = 10.0  # seconds; it takes none


async def _ask(port: int) -> bytes:
    while True:
        with suppress(ConnectionRefusedError):
            reader, writer = await asyncio.open_connection(ELSEWHERE, port)
            writer.write(b"ping")
            writer.write_eof()
            answer = await reader.read()
            writer.close()
            return answer
        await asyncio.sleep(0.01)


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"heard " + await reader.read(4))
    await writer.drain()
    writer.close()


async def _through_the_door(start_server: Callable[..., Any] = asyncio.start_server) -> bytes:
    """What an emulator hears and answers through the door."""
    emulator = await start_server(_echo, "127.0.0.1", 0)
    port = emulator.sockets[0].getsockname()[1]
    door = asyncio.create_task(bridge.listen(ELSEWHERE, port))
    try:
        return await asyncio.wait_for(_ask(port), BOUND)
    finally:
        door.cancel()
        emulator.close()


def test_what_comes_in_is_handed_on_and_answered() -> None:
    assert asyncio.run(_through_the_door()) == b"heard ping"


def test_an_address_that_comes_later_is_listened_at_then(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []
    listen = asyncio.start_server

    async def not_at_first(*arguments: object, **options: object) -> object:
        tries.append(arguments[1])
        if len(tries) == 1:
            raise OSError("Cannot assign requested address")
        return await listen(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(bridge, "PAUSE", 0)
    monkeypatch.setattr(asyncio, "start_server", not_at_first)

    assert asyncio.run(_through_the_door(listen)) == b"heard ping"
    assert tries == [ELSEWHERE, ELSEWHERE]
