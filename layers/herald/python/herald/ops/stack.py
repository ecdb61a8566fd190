"""A deployed stack as the operator's commands see it, and how they find a task or a webhook in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from herald.adapters.cloudformation import NoSuchStack
from herald.bootstrap import Platform
from herald.delivery.control import Control
from herald.delivery.ring import Ringer
from herald.ops.answer import Wrong
from herald.ops.text import safe
from herald.ports import Doorbells, DueIndex, Remains, TaskIndex, TaskLog, UnreadableWebhooks, Webhooks
from herald.records import Header, TaskRef, Webhook
from herald.upkeep.turns import Turns

if TYPE_CHECKING:
    from herald.adapters.dead_letters import SqsDeadLetters
    from herald.adapters.dynamodb.survey import DynamoSurvey
    from herald.adapters.stepfunctions import StepFunctionsExecutions

NEEDED = ("Tasks", "Bodies", "Doorbells", "TaskWorker")
QUEUE = "AWS::SQS::Queue"
FINDING = "Looking for the task in the index of all tasks, which reads all of it; --owner would spare that."


@dataclass(frozen=True)
class Stack:
    """The parts of one stack. ``tell`` says something to a person while a command is at work.

    Nothing is read from AWS before it is needed, but the list of the stack's resources.
    """

    platform: Platform
    name: str
    resources: Mapping[str, str]
    types: Mapping[str, str]
    owner_shards: int
    tell: Callable[[str], None]

    @classmethod
    def find(cls, name: str, platform: Platform, tell: Callable[[str], None] | None = None) -> Stack:
        """The stack of this name.

        Raises:
            Wrong: there is none, or it isn't one of Herald's.
        """
        if not name:
            raise Wrong("Name the stack: --stack NAME, or the variable HERALD_STACK.")
        try:
            parts = platform.parts(name)
        except NoSuchStack:
            raise Wrong(
                f"There is no stack {name} in this account and region: set AWS_REGION, or name another."
            ) from None
        if missing := [each for each in NEEDED if not parts.resources.get(each)]:
            raise Wrong(f"Stack {name} has no {', '.join(missing)}: it isn't one of Herald's.")
        shards = parts.parameters.get("OwnerShards", "")
        return cls(platform, name, parts.resources, parts.types, int(shards or 1), tell or _to_stderr)

    @property
    def table(self) -> str:
        return self.resources["Tasks"]

    @property
    def now(self) -> int:
        return self.platform.clock.now()

    @cached_property
    def log(self) -> TaskLog:
        return self.platform.task_log(self.table, self.resources["Bodies"])

    @cached_property
    def webhooks(self) -> Webhooks:
        return self.platform.webhooks(self.table)

    @cached_property
    def due(self) -> DueIndex:
        return self.platform.due_index(self.table)

    @cached_property
    def index(self) -> TaskIndex:
        return self.platform.task_index(self.table, self.owner_shards)

    @cached_property
    def survey(self) -> DynamoSurvey:
        return self.platform.survey(self.table)

    @cached_property
    def remains(self) -> Remains:
        return self.platform.remains(self.table, self.resources["Bodies"])

    @cached_property
    def doorbells(self) -> Doorbells:
        return self.platform.doorbells(self.resources["Doorbells"])

    @cached_property
    def executions(self) -> StepFunctionsExecutions:
        return self.platform.executions(self.resources["TaskWorker"])

    @cached_property
    def control(self) -> Control:
        return Control(self.log, self.webhooks, self.doorbells, self.platform.clock, self.platform.ids)

    @cached_property
    def ringer(self) -> Ringer:
        return Ringer(self.webhooks, self.doorbells)

    @cached_property
    def turns(self) -> Turns:
        """Ends what has stopped; how long a turn may take is not for an operator's command to judge."""
        launcher = self.platform.launcher(self.resources["TaskWorker"])
        return Turns(self.log, launcher, self.platform.clock, self.platform.ids, turn_seconds=0)

    def dead_letters(self) -> dict[str, SqsDeadLetters]:
        """The queues of what was given up, by their names in the template: all but that of the doorbells."""
        names = [name for name, kind in self.types.items() if kind == QUEUE and name != "Doorbells"]
        return {name: self.platform.dead_letters(self.resources[name]) for name in sorted(names)}

    def task(self, task_id: str, told: Any) -> TaskRef:
        """The task of this id; ``--owner`` and ``--tenant`` say where it lies, else it is looked for.

        Raises:
            Wrong: there is none, or more than one.
        """
        if told.owner:
            return TaskRef(told.tenant, told.owner, task_id)
        if told.tenant:
            raise Wrong("--tenant is a part of whose task it is: give --owner as well.")
        self.tell(FINDING)
        found = list(dict.fromkeys(self.remains.find(task_id)))
        if not found:
            raise Wrong(
                f"There is no task {task_id} in stack {self.name}. To list them: tasks for open ones, tasks --owner X."
            )
        if len(found) > 1:
            owners = "; ".join(f"--owner '{ref.owner}' --tenant '{ref.tenant}'" for ref in found)
            raise Wrong(f"{len(found)} owners have a task {task_id}. Say which: {owners}")
        return found[0]

    def header(self, task_id: str, told: Any) -> Header:
        """The header of the task of this id.

        Raises:
            Wrong: there is none.
        """
        header = self.log.header(self.task(task_id, told))
        if header is None:
            raise Wrong(f"There is no task {task_id} of this owner. Without --owner it is looked for.")
        return header

    def webhooks_of(self, ref: TaskRef) -> tuple[list[Webhook], str]:
        """Those webhooks of a task that can be read, and what to do about the others; "" when there are none."""
        try:
            return self.webhooks.list(ref), ""
        except UnreadableWebhooks as error:
            return error.readable, self.complaint(ref)

    def complaint(self, ref: TaskRef) -> str:
        """Which items of a task can't be read, and what to do; "" when all can."""
        found = "; ".join(f"{safe(item.sk)} ({safe(item.why, 80)})" for item in self.survey.unreadable(ref))
        return found and (
            f"Task {ref.task_id} holds what Herald can't read: {found}."
            f" Whoever wrote it should mend it; to delete it: remove-unreadable {ref.task_id}"
        )

    def webhook(self, place: str, told: Any) -> Webhook:
        """The webhook ``TASK/CONFIG``; ``TASK`` alone where the task has one only.

        Raises:
            Wrong: there is none, or it isn't clear which.
        """
        task_id, _, config_id = place.partition("/")
        ref = self.task(task_id, told)
        if config_id:
            found = self.webhooks.get(ref, config_id)
            if found is not None:
                return found
        known = self.webhooks.list(ref)
        if not config_id and len(known) == 1:
            return known[0]
        names = ", ".join(f"{task_id}/{each.config_id}" for each in known)
        if not names:
            raise Wrong(f"Task {task_id} has no webhook, or isn't this owner's. Without --owner it is looked for.")
        if config_id:
            raise Wrong(f"Task {task_id} has no webhook {config_id}. It has: {names}")
        raise Wrong(f"Task {task_id} has {len(known)} webhooks. Say which: {names}")


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
