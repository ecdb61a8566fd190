"""sweep: every minute what is due, and at once what an execution left unfinished."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from herald.correlation import road
from herald.entrypoints.logs import json_logger
from herald.entrypoints.turn_event import turn_from
from herald.ports import Meter, Unmetered
from herald.upkeep.sweep import FAILED, Sweep
from herald.upkeep.turns import Turns

logger = json_logger()

RESERVE_MS = 10_000  # of its time that sweep leaves unused


class SweepIncomplete(Exception):
    """Some items could not be looked after; raised when all others have been, so that the alarm on errors tells."""


def handler_for(sweep: Sweep, meter: Meter | None = None) -> Callable[[dict[str, Any], LambdaContext], dict[str, int]]:
    """The function's handler, for three kinds of event:

    - ``{"failedTurn": …, "error": …}`` from the state machine's Catch;
    - a status change of an execution from EventBridge, for what no Catch catches;
    - anything else is the schedule.

    It returns what it did, counted.
    """
    counted = meter or Unmetered()

    @logger.inject_lambda_context(log_event=False, clear_state=True)
    def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
        try:
            return _answer(sweep, event, context)
        finally:
            counted.flush()

    return handler


def _answer(sweep: Sweep, event: Mapping[str, Any], context: LambdaContext) -> dict[str, int]:
    if "failedTurn" in event:
        error = event.get("error") or {}
        return _end(sweep.turns, event["failedTurn"], error.get("Error", ""), error.get("Cause", ""))
    if event.get("source") == "aws.states":
        detail = event["detail"]
        return _end(sweep.turns, json.loads(detail["input"]), detail["status"], detail.get("cause") or "")
    return _round(sweep, context)


def _end(turns: Turns, event: Mapping[str, Any], error: str, cause: str) -> dict[str, int]:
    ref, turn = turn_from(event)
    logger.append_keys(turn=turn)
    with road(ref.task_id):
        ended = turns.stopped(ref, turn, timed_out=error in ("TIMED_OUT", "States.Timeout"))
        if ended:
            logger.error("an execution stopped without ending its turn; the task is FAILED", error=error, cause=cause)
        else:
            logger.info("an execution stopped; its task needed nothing", error=error)
    return {"ended": int(ended)}


def _round(sweep: Sweep, context: LambdaContext) -> dict[str, int]:
    done = sweep.run(lambda: context.get_remaining_time_in_millis() > RESERVE_MS)
    if done:
        logger.info("swept", done=dict(done))
    if done[FAILED]:
        raise SweepIncomplete(f"{done[FAILED]} items could not be looked after; see the log lines before this one")
    return dict(done)
