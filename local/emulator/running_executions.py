"""StartExecution with the name and input of an execution that runs: AWS answers with that execution.

MiniStack refuses it like any name that is taken.
"""

from __future__ import annotations

import json
from typing import Any

from ministack.services import stepfunctions


def apply() -> None:
    start = stepfunctions._start_execution

    def start_once(data: dict[str, Any]) -> Any:
        arn = stepfunctions._resolve_state_machine_arn(data.get("stateMachineArn", "").split("#")[0])
        if arn and data.get("name"):
            execution = stepfunctions._executions.get(f"{arn.replace(':stateMachine:', ':execution:')}:{data['name']}")
            if execution and execution.get("status") == "RUNNING" and _same(execution.get("input"), data.get("input")):
                return stepfunctions.json_response(
                    {"executionArn": execution["executionArn"], "startDate": execution["startDate"]}
                )
        return start(data)

    stepfunctions._start_execution = start_once
    for table in vars(stepfunctions).values():
        if isinstance(table, dict) and table.get("StartExecution") is start:
            table["StartExecution"] = start_once


def _same(one: str | None, other: str | None) -> bool:
    return bool(json.loads(one or "{}") == json.loads(other or "{}"))
