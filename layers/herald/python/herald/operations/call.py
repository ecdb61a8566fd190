"""What every operation is given: who calls, and the limits of this installation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from herald.protocol.errors import TaskNotFoundError
from herald.records import Caller, TaskRef

# Ours are 26 characters of base32. Whatever else a client sends names no task, and never gets as far as a key.
_TASK_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of one operation.

    Attributes:
        caller: verified.
        traceparent: the trace it belongs to (W3C).
        extensions: URIs of the extensions in use: the client asked for them and the Agent Card declares them, in the
            card's order (A2A specification section 4.6).
        base_url: the API's public address.
    """

    caller: Caller
    traceparent: str = ""
    extensions: tuple[str, ...] = ()
    base_url: str = ""

    def task(self, task_id: str) -> TaskRef:
        """The caller's task of this name, there or not.

        Raises:
            TaskNotFoundError: no task has such a name.
        """
        if not _TASK_ID.fullmatch(task_id):
            raise not_found(task_id)
        return TaskRef(self.caller.tenant, self.caller.owner, task_id)


@dataclass(frozen=True, slots=True)
class Limits:
    """What an operator has set.

    Attributes:
        idempotent_send: what makes two sends one. ``message``: messageId and content, or an idempotencyKey; ``key``: an
            idempotencyKey only; ``off``: nothing.
        blocking_seconds: how long a blocking SendMessage waits.
        max_task_days: a task that is still open then is ended.
        retention_days: how long a task stays readable beyond that.
        webhooks_per_task: 1 to 50.
        open_tasks_per_owner: tasks that haven't ended, 1 or more.
        origins_per_owner: scheme, host and port of webhooks' URLs, 1 to 1,000.
        push_notifications: what the Agent Card says.
        extended_agent_card: what the Agent Card says.
        input_modes: media types and ranges that the Agent Card takes in a message's parts, in lower case and without
            parameters; none: anything.
    """

    idempotent_send: Literal["message", "key", "off"] = "message"
    blocking_seconds: float = 25
    max_task_days: int = 30
    retention_days: int = 30
    webhooks_per_task: int = 10
    open_tasks_per_owner: int = 1_000
    origins_per_owner: int = 20
    push_notifications: bool = True
    extended_agent_card: bool = False
    input_modes: tuple[str, ...] = ()


def not_found(task_id: str) -> TaskNotFoundError:
    """The one error for a task that isn't there and for one that is somebody else's: nobody can tell them apart."""
    return TaskNotFoundError(
        "No such task. Check the id; a task is seen by its own owner only, and is removed after its retention time.",
        metadata={"taskId": task_id[:64]},
    )
