"""run_agent: Step Functions asks for a turn to be run, or to go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from herald.correlation import road
from herald.entrypoints.logs import json_logger
from herald.entrypoints.turn_event import turn_from
from herald.ports import Meter, Unmetered
from herald.worker.turns import Worker

logger = json_logger()


def handler_for(
    worker: Worker, meter: Meter | None = None
) -> Callable[[dict[str, Any], LambdaContext], dict[str, str]]:
    """The function's handler.

    It returns ``{"outcome": "done"}``, or ``"again"`` where the agent asked to be run again. What it raises is no
    failure of the task: the state machine tries again, and in the end its Catch has sweep end the task.
    """
    counted = meter or Unmetered()

    @logger.inject_lambda_context(log_event=False, clear_state=True)
    def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, str]:
        ref, turn = turn_from(event)
        logger.append_keys(turn=turn)
        with road(ref.task_id):
            try:
                outcome = worker.run(ref, turn, lambda: context.get_remaining_time_in_millis() / 1000)
                logger.info("run ended", outcome=outcome.value)
            finally:
                counted.flush()
        return {"outcome": outcome.value}

    return handler
