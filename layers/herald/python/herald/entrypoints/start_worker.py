"""start_worker: the stream tells of an entry that opens a turn, and the turn's execution is started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from herald.adapters.dynamodb import items, keys
from herald.correlation import note, road
from herald.entrypoints.batches import BatchResponse, failures, sequence_number
from herald.entrypoints.logs import json_logger
from herald.ports import WorkerLauncher

logger = json_logger()


def handler_for(launcher: WorkerLauncher) -> Callable[[dict[str, Any], LambdaContext], BatchResponse]:
    """The function's handler.

    A record that fails keeps no other of its batch from being started. All that failed are reported, in order; Lambda
    takes the batch up again at the first, which is harmless: an execution that was started before is done.
    """

    @logger.inject_lambda_context(log_event=False, clear_state=True)
    def handler(event: dict[str, Any], context: LambdaContext) -> BatchResponse:  # noqa: ARG001
        failed = []
        for record in event["Records"]:
            with road():
                try:
                    _start(launcher, record)
                except Exception:
                    number = sequence_number(record)
                    logger.exception("stream record failed", sequence_number=number)
                    failed.append(number)
        return failures(failed)

    return handler


def _start(launcher: WorkerLauncher, record: Mapping[str, Any]) -> None:
    # A MODIFY is new, too: an entry never changes, it is put over the remains of an expired task's.
    if record["eventName"] == "REMOVE":
        return
    image = record["dynamodb"]["NewImage"]
    if not image["sk"]["S"].startswith(keys.LOG):
        return
    entry = items.entry_from_image(image)
    if not entry.opens_turn:
        return
    ref = keys.ref_from_pk(image["pk"]["S"])
    note(ref.task_id, entry.traceparent)
    launcher.start(ref, entry.turn, entry.at)
    logger.info("turn started", turn=entry.turn)
