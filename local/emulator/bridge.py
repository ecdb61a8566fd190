"""A door for containers, which reach this machine at Docker's bridge address, where the emulator doesn't listen.

What comes in there is handed on to it, so that `make invoke` works although nobody on the network can reach the
emulator. Where the address doesn't exist, no Docker is there and nothing is opened.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress

ADDRESS = "172.17.0.1"  # of Docker's default bridge


def open_door() -> None:
    threading.Thread(target=lambda: asyncio.run(_listen(int(os.environ["GATEWAY_PORT"]))), daemon=True).start()


async def _listen(port: int) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_pass_on(reader, back), _pass_on(to, writer))

    with suppress(OSError):
        server = await asyncio.start_server(serve, ADDRESS, port)
        await server.serve_forever()


async def _pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    sink.close()
