"""The stack under load: brought up for one run, in a folder of its own and on a free port, and taken down after it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from botocore.exceptions import BotoCoreError, ClientError
from local import process, token
from local import stack as local_stack
from local.environments import ROOT
from local.stack import Place, Variant
from local.terminal import say

from bench.soak import resources
from bench.soak.judge import Process
from bench.soak.load import Client, Shape, connection
from bench.soak.receivers import FIRST, Choose, Receivers
from bench.soak.stored import Stack, Stored
from e2e.places import ended_like_ctrl_c, free_port

OWNER = "soak"
TOKEN_SECONDS = 6 * 3_600
TICK = 15.0  # seconds between two lines of progress
LOOK = 3.0  # seconds between two looks at whether all is delivered
COUNTS = 3  # looks in a row that must find nothing left

PARAMETERS = {"Agent": "agent.steady:Steady", "OpenTasksPerOwner": "100000"}


def number(environment: Mapping[str, str], name: str, default: float) -> float:
    """A setting from the environment.

    Raises:
        SystemExit: it isn't a positive number.
    """
    text = environment.get(name) or str(default)
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e6:
        raise SystemExit(f"{name}={text} isn't a number from 0 on.")
    return found


@contextmanager
def place(folder: str) -> Iterator[Place]:
    """Where the run's stack is; whatever happens, it is down afterwards. What an ended run left there is taken away."""
    found = Place(ROOT / (os.environ.get("LOCAL_DIR") or folder), free_port())
    found.folder.mkdir(parents=True, exist_ok=True)
    with ended_like_ctrl_c():
        local_stack.down(found)
        try:
            yield found
        finally:
            local_stack.down(found)


@dataclass
class Ground:
    """A stack that is up, its receivers, and a connection to it."""

    leader: int  # process of the emulator
    stack: Stack
    receivers: Receivers
    http: httpx.AsyncClient
    seed: int

    def client(self, name: str, shape: Shape, url: Callable[[str], str] | None = None) -> Client:
        return Client(self.http, name, self.seed, shape, url or self.url)

    def url(self, hook: str) -> str:
        return self.receivers.origin + hook

    def processes(self) -> list[Process]:
        own = resources.own()
        return resources.of_stack(self.leader) + ([own] if own else [])

    async def stored(self) -> Stored:
        return await asyncio.to_thread(self.stack.stored)

    async def drained(self, seconds: float) -> bool:
        """Wait until nothing is due and no doorbell is left; False if that takes longer."""
        loop = asyncio.get_running_loop()
        give_up, in_a_row = loop.time() + seconds, 0
        while in_a_row < COUNTS:
            if loop.time() > give_up:
                return False
            nothing = await self._nothing_left()
            in_a_row = in_a_row + 1 if nothing else 0
            if in_a_row < COUNTS:
                await asyncio.sleep(LOOK)
        return True

    async def _nothing_left(self) -> bool:
        try:
            return not await asyncio.to_thread(lambda: self.stack.due() or sum(self.stack.doorbells()))
        except (BotoCoreError, ClientError):
            return False  # a stack under load may be late with an answer; the next look tells

    async def _queue(self) -> str:
        try:
            waiting, hidden = await asyncio.to_thread(self.stack.doorbells)
        except (BotoCoreError, ClientError):
            return "the queue doesn't answer"
        return f"{waiting} waiting, {hidden} in flight or hidden"

    @asynccontextmanager
    async def telling(self, client: Client, what: str) -> AsyncIterator[None]:
        """A line of progress now and then while the block runs."""
        telling = asyncio.create_task(self._tell(client, what))
        try:
            yield
        finally:
            telling.cancel()
            with suppress(asyncio.CancelledError):
                await telling

    async def _tell(self, client: Client, what: str) -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        while True:
            await asyncio.sleep(TICK)
            told = client.told
            minutes, seconds = divmod(int(loop.time() - started), 60)
            line = (
                f"  {what} {minutes:02}:{seconds:02}  sent {told.begun} of {told.planned}, {told.under_way} unanswered"
            )
            line += f"; arrived {len(self.receivers.arrivals)}; doorbells: {await self._queue()}"
            say(line + (f"; failed for good: {len(told.trouble)}" if told.trouble else ""))


@asynccontextmanager
async def ground(
    found: Place, addresses: Mapping[str, str], seed: int, choose: Choose, timeout: float
) -> AsyncIterator[Ground]:
    """What a run stands on, the first tasks behind it: functions are warm."""
    running = process.running(found.record)
    if running is None:
        raise SystemExit("The emulator has ended.")
    bearer = token.mint(found.issuer_key, addresses["issuer"], OWNER, seconds=TOKEN_SECONDS)
    async with connection(addresses["baseUrl"], bearer) as http:
        jwks: dict[str, Any] = (await http.get(addresses["jwksUrl"])).raise_for_status().json()
        receivers = Receivers(seed, choose, jwks, timeout)
        await receivers.start()
        try:
            stack = await asyncio.to_thread(Stack, addresses)
            made = Ground(running.pid, stack, receivers, http, seed)
            say("  Waking the functions …")
            first = made.client(FIRST, Shape(webhooks=1, updates=5, before=0.5, pause=0.2))
            await first.run(3, 60)
            if first.told.trouble:
                raise SystemExit(f"The stack doesn't answer: {first.told.trouble[0]}")
            await made.drained(120)
            yield made
        finally:
            receivers.stop()


def up(found: Place, parameters: Mapping[str, str], environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Deploy the stack of a run, the emulator with these settings beside its usual ones; where everything is."""
    variant = Variant(
        parameters={**PARAMETERS, **parameters},
        agent_overlay=Path(__file__).parent / "overlay",
        environment=environment or {},
    )
    return local_stack.up(found, variant)
