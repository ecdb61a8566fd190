"""The agent of the soak: it waits a little, then makes as many updates as its message asks for."""

from __future__ import annotations

import asyncio
from typing import Any

from herald.agent import Agent, TaskContext


class Steady(Agent):
    """Makes a status, artifact chunks and an end, as a data part tells it: ``{"updates", "before", "pause"}``.

    These are how many updates, seconds before the first, and seconds between two.
    """

    async def run(self, task: TaskContext) -> None:
        told = next(part.data for part in task.parts if isinstance(part.data, dict))
        chunks, pause = int(_number(told, "updates")) - 2, _number(told, "pause")
        await asyncio.sleep(_number(told, "before"))
        await task.working("Under way")
        for number in range(chunks):
            await asyncio.sleep(pause)
            chunk, last = f"Chunk {number}. ", number == chunks - 1
            await task.artifact(chunk, artifact_id="report", append=number > 0, last_chunk=last)
        await asyncio.sleep(pause)
        await task.complete("Done")


def _number(told: dict[str, Any], name: str) -> float:
    return float(told[name])
