"""``remove-unreadable``: take out of a task what Herald can't read, so that the rest of it goes on."""

from __future__ import annotations

import argparse
from typing import Any

from herald.ops import arguments
from herald.ops.answer import DONE, NOT_YET, Answer
from herald.ops.stack import Stack
from herald.ops.text import many, safe, table

LASTING = ("TASK", "LOG#")  # a task is its header and its log: without one of these items it is another task


def add(commands: Any) -> None:
    told = arguments.command(
        commands,
        "remove-unreadable",
        "delete the items of a task that Herald can't read",
        "Who wrote them? They come from another program, or another version of Herald. What is part of the task itself"
        " stays: then only erase helps.",
    )
    arguments.a_task(told)
    told.add_argument("--dry-run", action="store_true", help="list them, and change nothing")


def run(told: argparse.Namespace, stack: Stack) -> Answer:
    ref = stack.task(told.task, told)
    found = stack.survey.unreadable(ref)
    lasting = [item.sk for item in found if item.sk.startswith(LASTING)]
    removed = [] if told.dry_run else [item.sk for item in found if item.sk not in lasting]
    stack.remains.delete(ref, removed)
    rows = [
        [
            safe(item.sk),
            "deleted" if item.sk in removed else "stays" if item.sk in lasting else "would be deleted",
            safe(item.why),
            safe(", ".join(item.holds), 120) or "nothing",
        ]
        for item in found
    ]
    lines = table(["ITEM", "NOW", "WHY", "IT HAS"], rows) or [f"All items of task {told.task} can be read."]
    if lasting:
        lines.append(f"{many(len(lasting), 'item')} of the task itself can't be read: erase --task {told.task}")
    if removed:
        lines.append("Put right what it held up: drain-dead-letters")
    data = {
        "task": told.task,
        "unreadable": [
            {"item": item.sk, "why": item.why, "has": list(item.holds), "deleted": item.sk in removed} for item in found
        ],
    }
    return Answer(data, lines, NOT_YET if lasting else DONE)
