"""``erase``: remove everything that is stored of a task, or of an owner; docs/erasure.md tells what stays elsewhere."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from herald.adapters.cloudformation import NoSuchStack
from herald.bootstrap import Platform
from herald.ops.erasure import BODY, NAMES, Counts, Erasure
from herald.records import Caller, TaskRef

if TYPE_CHECKING:
    from herald.ports import Remains

DONE, FAILED, WRONG, NOT_YET = 0, 1, 2, 3
NEEDED = ("TableName", "BucketName", "StateMachineArn")  # the stack's outputs


def arguments(commands: Any) -> None:
    """Add the command and its arguments."""
    told = commands.add_parser(
        "erase",
        help="remove everything that is stored of a task, or of an owner",
        description="Remove everything that is stored of a task, or of an owner: stop its deliveries and its work, "
        "delete its items and objects, wait until nobody can write any more, and delete what came meanwhile.",
    )
    told.add_argument("--stack", required=True, help="the name of the CloudFormation stack")
    told.add_argument("--task", default="", help="a task's id; with --owner it needn't be looked for")
    told.add_argument("--owner", default="", help="an owner, as its tasks are stored; without --task all of it goes")
    told.add_argument("--tenant", default="", help="the owner's tenant, if it has one")
    told.add_argument("--dry-run", action="store_true", help="list what would be removed, and change nothing")
    told.add_argument("--no-wait", action="store_true", help="leave the last pass to a second run of the same command")
    told.add_argument("--yes", action="store_true", help="don't ask")
    told.add_argument("--json", action="store_true", help="print one JSON object; what goes on is told on stderr")


def run(told: argparse.Namespace, platform: Platform) -> int:
    """Run the command; the process's exit code: 3 when the last pass is still to come."""
    if not (told.task or told.owner):
        return _refuse("Say whose data to erase: --task, --owner, or both.")
    if told.tenant and not told.owner:
        return _refuse("--tenant is a part of whose data to erase: give --owner as well.")
    try:
        found = platform.outputs(told.stack)
    except NoSuchStack:
        return _refuse(f"There is no stack {told.stack} in this account and region: set AWS_REGION, or name another.")
    if missing := [name for name in NEEDED if name not in found]:
        return _refuse(f"Stack {told.stack} has no output {', '.join(missing)}: it isn't one of Herald's.")
    table, bucket = found["TableName"], found["BucketName"]
    launcher, log = platform.launcher(found["StateMachineArn"]), platform.task_log(table, bucket)
    erasure = Erasure(log, platform.remains(table, bucket), launcher, platform.clock, platform.ids)
    owner = Caller(told.tenant, told.owner) if told.owner and not told.task else None
    say = _voice(told)
    say(f"Stack {told.stack} ({found['StackId'] or found['TableName']})")
    if owner:
        refs = list(dict.fromkeys(erasure.remains.tasks_of(owner)))
    elif told.owner:
        refs = [TaskRef(told.tenant, told.owner, told.task)]
    else:
        refs = _look_for(told.task, erasure.remains, say)
    command = _Command(erasure, refs, owner, told, say)
    code = command.run()
    if told.json:
        print(json.dumps(command.report(code), indent=2))
    return code


Say = Callable[[str], None]


def _voice(told: argparse.Namespace) -> Say:
    """Where a person is told what goes on: beside the JSON, where that was asked for."""
    return partial(print, file=sys.stderr if told.json else sys.stdout, flush=True)


def _look_for(task_id: str, remains: Remains, say: Say) -> list[TaskRef]:
    say("Looking for the task in the index of all tasks, which reads all of it; --owner would spare that.")
    return list(dict.fromkeys(remains.find(task_id)))


@dataclass(slots=True)
class _Command:
    erasure: Erasure
    refs: list[TaskRef]
    owner: Caller | None  # whose everything is to be erased
    told: argparse.Namespace
    say: Say
    found: Counts = field(default_factory=Counter)
    removed: Counts = field(default_factory=Counter)

    def report(self, code: int) -> dict[str, Any]:
        """What was found and what was removed, for programs: numbers by name."""
        return {
            "stack": self.told.stack,
            "tasks": [ref.task_id for ref in self.refs],
            "owner": self.owner.owner if self.owner else None,
            "dryRun": self.told.dry_run,
            "found": dict(self.found),
            "removed": dict(+self.removed),
            "done": code == DONE and not self.told.dry_run,
        }

    def run(self) -> int:
        self.found = self._listing()
        if not self.found:
            self.say("There is nothing to erase." + self._hint())
            return DONE
        if self.told.dry_run:
            self.say("Nothing was changed: this was a dry run.")
            return DONE
        if not self.told.yes and not _agreed():
            print("Nothing was changed. Answer yes, or give --yes where nobody can be asked.", file=sys.stderr)
            return WRONG
        return self._erase()

    def _listing(self) -> Counts:
        total: Counts = Counter()
        for ref in self.refs:
            counts = self.erasure.look(ref)
            self.say(f"  task {ref.task_id} of owner {ref.owner}{_tenant(ref)}: {_text(counts)}")
            total += counts
        if self.owner:
            counts = self.erasure.look(self.owner)
            self.say(f"  owner {self.owner.owner}{_tenant(self.owner)}, besides tasks: {_text(counts)}")
            total += counts
        return total

    def _hint(self) -> str:
        if self.refs or self.owner:
            return ""
        return " No task of this name is in the index; with --owner I look at the very place where it would lie."

    def _erase(self) -> int:
        until = running = 0
        for ref in self.refs:
            done = self.erasure.first(ref)
            self.removed += done.removed
            if done.writers_until > until:
                until, running = done.writers_until, done.running
            self.say(f"  task {ref.task_id}: {'canceled, ' if done.canceled else ''}removed {_text(done.removed)}")
        if not self.refs:
            until = self.erasure.clock.now()
        moment = f"{datetime.fromtimestamp(until / 1000, UTC):%H:%M:%S} UTC"
        why = "a run of the agent may still be writing" if running else "a request or a delivery may still be under way"
        if self.told.no_wait and self.refs:
            self.say(f"Not done yet: until {moment} {why}. Run the same command after that to remove what is left.")
            return NOT_YET
        if self.refs:
            self.say(f"Waiting until {moment}: {why}.")
            self.erasure.clock.sleep(max(0, until - self.erasure.clock.now()) / 1000)
        return self._finish()

    def _finish(self) -> int:
        places: list[TaskRef | Caller] = [*self.refs, *([self.owner] if self.owner else [])]
        late = sum((self.erasure.last(place) for place in places), Counter[str]())
        self.removed += late
        headers = Counter({name: count for name, count in late.items() if name in (NAMES["header"], NAMES["origins"])})
        if written := late - headers:
            self.say(f"  written meanwhile, and removed: {_text(written)}")
        left = sum((self.erasure.look(place) for place in places), Counter[str]())
        if left:
            print(f"Something still writes: {_text(left)} left. Run the same command again.", file=sys.stderr)
            return NOT_YET
        self.say(f"Erased: {_text(self.removed)}. Looked again: nothing is left.")
        new = [ref for ref in self._tasks_now() if ref not in self.refs]
        if new:
            print(f"{len(new)} tasks were made meanwhile: stop the owner's access and run it again.", file=sys.stderr)
            return NOT_YET
        self.say("What stays elsewhere, and for how long, is in docs/erasure.md.")
        return DONE

    def _tasks_now(self) -> Iterable[TaskRef]:
        """The owner's tasks that are there now; the index may still name some that aren't."""
        found = self.erasure.remains.tasks_of(self.owner) if self.owner else ()
        return [ref for ref in dict.fromkeys(found) if self.erasure.look(ref)]


def _agreed() -> bool:
    return sys.stdin.isatty() and input("Erase this? Nothing brings it back. [yes/no] ").strip().lower() in ("y", "yes")


def _tenant(place: TaskRef | Caller) -> str:
    return f" of tenant {place.tenant}" if place.tenant else ""


def _text(counts: Counts) -> str:
    order = [*dict.fromkeys(NAMES.values()), BODY]
    told = [f"{counts[name]} {_many(name) if counts[name] != 1 else name}" for name in order if counts[name]]
    return ", ".join(told) or "nothing"


def _many(name: str) -> str:
    plurals = {
        "log entry": "log entries",
        "mark of a follow-up": "marks of follow-ups",
        "list of webhook origins": "lists of webhook origins",
        BODY: "large bodies",
    }
    return plurals.get(name, f"{name}s")


def _refuse(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return WRONG
