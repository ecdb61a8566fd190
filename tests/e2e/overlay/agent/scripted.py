"""The agent of the e2e stack: it does what a message's script tells, step by step; without one it is the example.

A script is a data part ``{"script": [step, …]}``; a step is an object of one member, see STEPS. With ``"ended": URL``
beside it, the URL is asked for when a report finds that the task has ended. The messages of the conformance kit bring
no script but have one by their id, see ``scenarios``.
"""

from __future__ import annotations

import os
import signal
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from agent.financial_analysis import FinancialAnalysis
from herald.agent import Agent, Checkpoint, Part, TaskContext, TaskEnded, checkpoint

from . import scenarios

Step = Callable[[TaskContext, Any], object]

LONGEST_MEETING = 100  # seconds; whoever is met answers long before
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Scripted(Agent):
    """Runs a script from its first step, or from the one after the last checkpoint."""

    def __init__(self) -> None:
        self._example = FinancialAnalysis()

    async def run(self, task: TaskContext) -> Checkpoint | None:
        told = next((part.data for part in task.parts if isinstance(part.data, dict) and "script" in part.data), None)
        if told is None and (script := scenarios.script(task.message.message_id)):
            told = {"script": script}
        if told is None:
            await self._example.run(task)
            return None
        try:
            return _play(task, told["script"])
        except TaskEnded:
            if "ended" in told:
                _meet(task, told["ended"])
            raise


def _play(task: TaskContext, script: list[dict[str, Any]]) -> Checkpoint | None:
    for number, step in enumerate(script):
        if number < (task.checkpoint or 0):
            continue
        ((name, value),) = step.items()
        if name == "checkpoint":
            return checkpoint(number + 1)
        STEPS[name](task, value)
    return None


def _artifact(task: TaskContext, chunk: dict[str, Any]) -> None:
    parts: list[str | Part] = [Part.parse(part) for part in chunk.get("parts", [])]
    content = parts or chunk.get("text") or "x" * chunk["bytes"]
    append, last = chunk.get("append", False), chunk.get("last", False)
    task.artifact(content, artifact_id=chunk["id"], append=append, last_chunk=last)


def _read(task: TaskContext, _: object) -> None:
    """Say what the client has said since."""
    task.working([said.text for said in task.new_messages()] or "nothing")


def _meet(_: TaskContext, url: str) -> None:
    """Wait until this URL answers."""
    with _OPENER.open(url, timeout=LONGEST_MEETING) as answer:
        answer.read()


def _wait(_: TaskContext, seconds: float) -> None:
    time.sleep(seconds)


def _crash(task: TaskContext, times: int) -> None:
    """End this process as the kernel does when memory runs out, in the first so many runs."""
    if task.attempt <= times:
        os.kill(os.getpid(), signal.SIGKILL)


def _raise(_: TaskContext, text: str) -> None:
    raise RuntimeError(text)


STEPS: dict[str, Step] = {
    "working": TaskContext.working,
    "artifact": _artifact,  # {"id", "text" or "bytes" or "parts", "append", "last"}
    "read": _read,
    "meet": _meet,  # a URL
    "wait": _wait,  # seconds, for who can't be met
    "crash": _crash,  # how often
    "raise": _raise,
    "require_input": TaskContext.require_input,
    "reject": TaskContext.reject,
    "complete": TaskContext.complete,
}
