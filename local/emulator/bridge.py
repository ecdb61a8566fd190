"""A door for containers, which reach this machine at Docker's bridge address, where the emulator doesn't listen.

What comes in there is handed on to it, so that `make invoke` works although nobody on the network can reach the
emulator. Where the address doesn't exist, no Docker runs; it is tried again, because one may be started later.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress

ADDRESS = "172.17.0.1"  # of Docker's default bridge
PAUSE = 3.0  # seconds between tries


def open_door() -> None:
    port = int(os.environ["GATEWAY_PORT"])
    threading.Thread(target=lambda: asyncio.run(listen(ADDRESS, port)), daemon=True).start()


async def listen(address: str, port: int) -> None:
    """Hand what comes in at this address on to the same port of 127.0.0.1, for ever."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_pass_on(reader, back), _pass_on(to, writer))
        back.close()
        writer.close()

    while True:
        with suppress(OSError):
            server = await asyncio.start_server(serve, address, port)
            await server.serve_forever()
        await asyncio.sleep(PAUSE)


async def _pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
        sink.write_eof()  # the answer may still be on its way
