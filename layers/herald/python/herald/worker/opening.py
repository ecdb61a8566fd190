"""What a run finds in its task's log when it opens."""

from __future__ import annotations

from collections.abc import Sequence

from herald.agent import Incoming, Turn
from herald.log import Fence, Fenced, fold
from herald.protocol import codec
from herald.protocol.model import Artifact, Message
from herald.records import Entry, Header


def same_turn(turn: int) -> Fence:
    """The fence of who opens a run: the turn must still be running. Other runs are no reason to stop."""

    def check(header: Header) -> None:
        if header.terminal or header.interrupted or header.turn != turn:
            raise Fenced(f"turn {turn} is over: the task is {header.state}")

    return check


def turn_of(header: Header, entries: Sequence[Entry], run: Entry) -> Turn:
    """The facts of a run for its agent; ``entries`` is the log up to its run entry."""
    return Turn(
        task_id=header.ref.task_id,
        context_id=header.context_id,
        number=run.turn,
        opening=incoming(entries[run.turn]),
        history=tuple(_history(header, entries, run.turn)),
        artifacts=tuple(Artifact.parse(artifact) for artifact in fold(header.ref, entries).get("artifacts", [])),
        step=steps_of(entries, run.turn),
        attempt=_attempt(entries, run.turn),
        checkpoint=_checkpoint(entries, run.turn),
        state=header.state,
    )


def incoming(entry: Entry) -> Incoming:
    """What a message entry holds, as an agent sees it."""
    body = codec.loads(entry.body)
    return Incoming(
        message=Message.parse(body["message"]),
        metadata=body.get("metadata", {}),
        accepted_output_modes=tuple(body.get("acceptedOutputModes", ())),
        extensions=tuple(body.get("extensions", ())),
    )


def _history(header: Header, entries: Sequence[Entry], turn: int) -> list[Message]:
    """What was said in earlier turns. Messages from the turn's own on aren't part of it: they are yet to be read."""
    if turn == 0:
        return []
    opened = next(entry.number for entry in entries if entry.opens_turn and entry.turn == turn)
    earlier = [entry for entry in entries[: opened + 1] if entry.kind != "message" or entry.number < turn]
    before = fold(header.ref, earlier)
    said = before.get("history", [])
    if "message" in before["status"]:
        said = [*said, before["status"]["message"]]
    return [Message.parse(message) for message in said]


def steps_of(entries: Sequence[Entry], turn: int) -> int:
    """How many checkpoints a turn has passed."""
    return sum(_ends_step(entry) for entry in _runs(entries, turn))


def _attempt(entries: Sequence[Entry], turn: int) -> int:
    attempt = 0
    for entry in _runs(entries, turn):
        attempt = 0 if _ends_step(entry) else attempt + 1
    return attempt


def _checkpoint(entries: Sequence[Entry], turn: int) -> object:
    for entry in reversed(_runs(entries, turn)):
        if _ends_step(entry):
            return codec.loads(entry.body)["checkpoint"]
    return None


def _runs(entries: Sequence[Entry], turn: int) -> list[Entry]:
    return [entry for entry in entries if entry.kind == "run" and entry.turn == turn]


def _ends_step(run: Entry) -> bool:
    return run.body != "{}"
