"""Executions of the task worker, one per turn."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from herald.adapters.aws import call, code_of
from herald.records import TaskRef

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient


def execution_name(ref: TaskRef, turn: int, opened_at: int) -> str:
    """``<taskId>-<turn>-<second>``: the same turn has the same name, which stays taken for 90 days."""
    return f"{ref.task_id}-{turn}-{opened_at // 1000}"


def execution_input(ref: TaskRef, turn: int) -> str:
    """The state machine's input: ids only, since a state holds 256 KB at most."""
    return json.dumps({"tenant": ref.tenant, "owner": ref.owner, "taskId": ref.task_id, "turn": turn})


class StepFunctionsLauncher:
    """WorkerLauncher on a STANDARD state machine.

    Args:
        client: makes the client, or hands out the one there is.
    """

    def __init__(self, client: Callable[[], SFNClient], state_machine_arn: str) -> None:
        self._client = client
        self._arn = state_machine_arn

    def start(self, ref: TaskRef, turn: int, opened_at: int) -> None:
        try:
            call(
                self._client().start_execution,
                stateMachineArn=self._arn,
                name=execution_name(ref, turn, opened_at),
                input=execution_input(ref, turn),
            )
        except ClientError as error:
            if code_of(error) != "ExecutionAlreadyExists":
                raise

    def stop(self, ref: TaskRef, turn: int, opened_at: int) -> None:
        machine = self._arn.replace(":stateMachine:", ":execution:", 1)
        try:
            call(
                self._client().stop_execution,
                executionArn=f"{machine}:{execution_name(ref, turn, opened_at)}",
                cause="the task was canceled",
            )
        except ClientError as error:
            if code_of(error) != "ExecutionDoesNotExist" and "not running" not in str(error):
                raise


@dataclass(frozen=True, slots=True)
class Execution:
    """An execution of the task worker; times in ms since 1970.

    ``status`` is RUNNING, SUCCEEDED, FAILED, TIMED_OUT, ABORTED or PENDING_REDRIVE. ``error`` is the name of what ended
    it, "" where nothing went wrong.
    """

    name: str
    status: str
    started_at: int
    stopped_at: int | None
    error: str

    @property
    def over(self) -> bool:
        return self.status not in ("RUNNING", "PENDING_REDRIVE")


class StepFunctionsExecutions:
    """What an operator sees of a turn's executions, and does about them.

    The first has the turn's own name; one that an operator starts over has ``-r2``, ``-r3`` … after it.
    """

    def __init__(self, client: Callable[[], SFNClient], state_machine_arn: str) -> None:
        self._client = client
        self._arn = state_machine_arn

    def of(self, ref: TaskRef, turn: int, opened_at: int) -> list[Execution]:
        """The executions of a turn, the first one first; [] where none was started."""
        found: list[Execution] = []
        while (execution := self._look(_name(ref, turn, opened_at, len(found)))) is not None:
            found.append(execution)
        return found

    def start_over(self, ref: TaskRef, turn: int, opened_at: int, after: int) -> str:
        """Start a turn that ``after`` executions have ended of; the name of the new one."""
        name = _name(ref, turn, opened_at, after)
        call(self._client().start_execution, stateMachineArn=self._arn, name=name, input=execution_input(ref, turn))
        return name

    def stop(self, execution: Execution, cause: str) -> None:
        call(self._client().stop_execution, executionArn=self._execution(execution.name), cause=cause)

    def _look(self, name: str) -> Execution | None:
        try:
            found = call(self._client().describe_execution, executionArn=self._execution(name))
        except ClientError as error:
            if code_of(error) == "ExecutionDoesNotExist":
                return None
            raise
        stopped = found.get("stopDate")
        return Execution(
            name,
            found["status"],
            round(found["startDate"].timestamp() * 1000),
            round(stopped.timestamp() * 1000) if stopped else None,
            found.get("error", ""),
        )

    def _execution(self, name: str) -> str:
        return f"{self._arn.replace(':stateMachine:', ':execution:', 1)}:{name}"


def _name(ref: TaskRef, turn: int, opened_at: int, before: int) -> str:
    return execution_name(ref, turn, opened_at) + (f"-r{before + 1}" if before else "")
