"""An agent that does what the message's text tells it, for tests that run whole functions."""

from __future__ import annotations

from collections.abc import Callable

from herald.agent import Agent, Checkpoint, TaskContext, checkpoint

MEANWHILE: list[Callable[[], object]] = []  # a client's calls in the middle of a run, one a ``meanwhile``


class Obedient(Agent):
    """Words of the text, in order: ``work``, ``chunks``, ``ask``, ``authorize``, ``complete``, ``reject``, ``fail``,
    ``raise``, ``crash``, ``crash-once``, ``steps``, ``meanwhile``, ``read``. A follow-up of any words is obeyed
    in the same way.
    """

    async def run(self, task: TaskContext) -> Checkpoint | None:
        for word in task.text.split():
            if word == "work":
                await task.working("Working")
            elif word == "chunks":
                artifact = await task.artifact("one ", artifact_id="report", name="Report")
                await task.artifact("two", artifact_id=artifact, append=True, last_chunk=True)
            elif word == "ask":
                await task.require_input("Which one?")
            elif word == "reject":
                await task.reject("No.")
            elif word == "fail":
                await task.fail("It broke.")
            elif word == "authorize":
                await task.require_auth("Who are you?")
            elif word == "complete":
                await task.complete("Done")
            elif word == "raise":
                raise ValueError("a secret of the agent's")
            elif word == "crash" or (word == "crash-once" and task.attempt == 1):
                raise SystemExit(1)
            elif word == "meanwhile" and MEANWHILE:
                MEANWHILE.pop(0)()
            elif word == "read":
                await task.working([said.text for said in task.new_messages()] or "Nothing new")
            elif word == "steps" and task.step < 2:
                return checkpoint({"step": task.step})
        return None
