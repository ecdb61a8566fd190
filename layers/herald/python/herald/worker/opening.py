"""What a run finds in its task's log when it opens."""

from __future__ import annotations

from collections.abc import Sequence

from herald.agent import Turn
from herald.log import Fence, Fenced, fold
from herald.protocol import codec
from herald.protocol.codec import JsonObject
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
    opening = codec.loads(entries[run.turn].body)
    before = _folded(header, entries[: run.turn])
    now = _folded(header, entries)
    said = before.get("history", [])
    if "message" in before.get("status", {}):
        said = [*said, before["status"]["message"]]
    return Turn(
        task_id=header.ref.task_id,
        context_id=header.context_id,
        number=run.turn,
        message=Message.parse(opening["message"]),
        history=tuple(Message.parse(message) for message in said),
        artifacts=tuple(Artifact.parse(artifact) for artifact in now.get("artifacts", [])),
        metadata=opening.get("metadata", {}),
        accepted_output_modes=tuple(opening.get("acceptedOutputModes", ())),
        step=steps_of(entries, run.turn),
        attempt=_attempt(entries, run.turn),
        checkpoint=_checkpoint(entries, run.turn),
        state=header.state,
    )


def task_size(entries: Sequence[Entry]) -> int:
    """Bytes of the task's JSON, or somewhat more."""
    return sum(len(entry.body.encode()) for entry in entries if entry.kind != "run")


def steps_of(entries: Sequence[Entry], turn: int) -> int:
    """How many checkpoints a turn has passed."""
    return sum(_ends_step(entry) for entry in entries[turn:])


def _attempt(entries: Sequence[Entry], turn: int) -> int:
    attempt = 0
    for entry in entries[turn:]:
        if entry.kind == "run":
            attempt = 0 if _ends_step(entry) else attempt + 1
    return attempt


def _checkpoint(entries: Sequence[Entry], turn: int) -> object:
    for entry in reversed(entries[turn:]):
        if _ends_step(entry):
            return codec.loads(entry.body)["checkpoint"]
    return None


def _ends_step(entry: Entry) -> bool:
    return entry.kind == "run" and entry.body != "{}"


def _folded(header: Header, entries: Sequence[Entry]) -> JsonObject:
    return fold(header.ref, entries) if entries else {}
