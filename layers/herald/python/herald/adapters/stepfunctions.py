"""Executions of the task worker, one per turn."""

from __future__ import annotations

import json
from collections.abc import Callable
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
