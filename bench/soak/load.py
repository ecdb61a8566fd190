"""The client: it sends tasks at a fixed rate, whether the last ones were answered or not, and counts what it saw."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from bench.soak.receivers import secret_of

Json = dict[str, Any]

HEADERS = {"A2A-Version": "1.0", "Content-Type": "application/a2a+json"}
MOST_AT_ONCE = 400  # tasks being sent; beyond it the stack doesn't answer any more, and more would only be lost
BEHIND = 1.0  # seconds by which a send may begin late and still be said to keep the rate
TRIES = 3  # of one send, which is the same task when it comes again


@dataclass(frozen=True, slots=True)
class Shape:
    """What a task of this run is like."""

    webhooks: int
    updates: int
    before: float  # seconds before its first update
    pause: float  # seconds between two updates


@dataclass
class Told:
    """What the client saw."""

    planned: int = 0
    begun: int = 0
    answered: int = 0
    late: int = 0  # sends that began more than BEHIND after their time
    again: int = 0  # sends that had to be repeated
    hooks: list[str] = field(default_factory=list)  # webhooks whose registration was answered with success
    seconds: list[float] = field(default_factory=list)  # that a SendMessage took
    trouble: list[str] = field(default_factory=list)  # what failed for good

    @property
    def under_way(self) -> int:
        return self.begun - self.answered - len(self.trouble)


class Client:
    """Sends tasks to one agent.

    Args:
        name: of the run; with it begin the paths of its webhooks, ``/<name>/<task>/<webhook>``.
        url: a webhook's path -> its URL.
    """

    def __init__(self, http: httpx.AsyncClient, name: str, seed: int, shape: Shape, url: Callable[[str], str]) -> None:
        self.told = Told()
        self._http, self._name, self._seed, self._shape, self._url = http, name, seed, shape, url

    async def run(self, count: int, per_minute: float) -> None:
        """Send so many tasks, each at its time."""
        loop = asyncio.get_running_loop()
        started, running = loop.time(), set[asyncio.Task[None]]()
        self.told.planned += count
        for number in range(count):
            due = started + number * 60 / per_minute
            await asyncio.sleep(max(0.0, due - loop.time()))
            self.told.late += loop.time() - due > BEHIND
            self.told.begun += 1
            if len(running) >= MOST_AT_ONCE:
                self.told.trouble.append(f"task {number}: {MOST_AT_ONCE} others wait for an answer")
                continue
            sending = asyncio.create_task(self._one(number))
            running.add(sending)
            sending.add_done_callback(running.discard)
        if running:
            await asyncio.wait(running)

    async def _one(self, number: int) -> None:
        try:
            began = asyncio.get_running_loop().time()
            task = await self._send(number)
            self.told.seconds.append(asyncio.get_running_loop().time() - began)
            for other in range(1, self._shape.webhooks):
                config = self._config(number, other)
                await self._post(f"/tasks/{task}/pushNotificationConfigs", {"id": f"webhook-{other}", **config})
                self.told.hooks.append(self._hook(number, other))
        except (httpx.HTTPError, KeyError, ValueError) as error:
            self.told.trouble.append(f"task {number}: {type(error).__name__}: {error}"[:300])
        else:
            self.told.answered += 1

    async def _send(self, number: int) -> str:
        """SendMessage with the first webhook; the task's id. Repeated, it is the same task."""
        shape = self._shape
        part = {"data": {"updates": shape.updates, "before": shape.before, "pause": shape.pause}}
        message = {"messageId": f"{self._name}-{number}", "role": "ROLE_USER", "parts": [part]}
        configuration = {"returnImmediately": True, "taskPushNotificationConfig": self._config(number, 0)}
        for left in reversed(range(TRIES)):
            try:
                answer = await self._post("/message:send", {"message": message, "configuration": configuration})
                self.told.hooks.append(self._hook(number, 0))
                return str(answer["task"]["id"])
            except httpx.HTTPError:
                if not left:
                    raise
                self.told.again += 1
                await asyncio.sleep(1)
        raise AssertionError("the last try returns or raises")

    async def _post(self, path: str, body: Json) -> Json:
        answer = await self._http.post(path, json=body)
        answer.raise_for_status()
        told: Json = answer.json()
        return told

    def _hook(self, number: int, webhook: int) -> str:
        return f"/{self._name}/{number}/{webhook}"

    def _config(self, number: int, webhook: int) -> Json:
        hook = self._hook(number, webhook)
        return {"url": self._url(hook), "token": secret_of(self._seed, hook)}


def connection(base_url: str, token: str) -> httpx.AsyncClient:
    """A client of the local stack; no proxy that the environment names gets between."""
    limits = httpx.Limits(max_connections=100, max_keepalive_connections=20)
    headers = HEADERS | {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=base_url, headers=headers, timeout=60, limits=limits, trust_env=False)
