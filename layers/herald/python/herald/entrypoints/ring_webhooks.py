"""ring_webhooks: the stream tells of what was stored, and the doorbells of the webhooks that are behind are rung."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from herald.adapters.dynamodb import items, keys
from herald.delivery import message
from herald.delivery.ring import Ringer
from herald.entrypoints.batches import BatchResponse, failures, sequence_number
from herald.entrypoints.logs import json_logger
from herald.ports import Ring
from herald.records import TaskRef

logger = json_logger()

SNAPSHOT = -1  # in the place of an entry's number: a webhook's snapshot has become due


def handler_for(ringer: Ringer) -> Callable[[dict[str, Any], LambdaContext], BatchResponse]:
    """The function's handler: the webhooks of each task in the batch are read once, and all doorbells rung together.

    A record that fails keeps no other task's doorbells from being rung. All that failed are reported, in order; Lambda
    takes the batch up again at the first. What is then rung twice is one doorbell, or a harmless second.
    """

    @logger.inject_lambda_context(log_event=False, clear_state=True)
    def handler(event: dict[str, Any], context: LambdaContext) -> BatchResponse:  # noqa: ARG001
        sequence = [sequence_number(record) for record in event["Records"]]
        failed: set[str] = set()
        changed: dict[TaskRef, int] = {}
        told_by: defaultdict[TaskRef, set[str]] = defaultdict(set)
        for number, record in zip(sequence, event["Records"], strict=True):
            try:
                change = _change(record)
            except Exception:
                logger.exception("stream record can't be read", sequence_number=number)
                failed.add(number)
                continue
            if change is not None:
                ref, entry = change
                changed[ref] = max(entry, changed.get(ref, entry))
                told_by[ref].add(number)
        rings: list[Ring] = []
        for ref, entry in changed.items():
            try:
                rings += ringer.rings(ref, entry)
            except Exception:
                logger.exception("webhooks can't be read", task_id=ref.task_id)
                failed |= told_by[ref]
        try:
            ringer.doorbells.ring(rings)
        except Exception:
            logger.exception("doorbells can't be rung", doorbells=len(rings))
            failed.update(*told_by.values())
        else:
            logger.info("rung", tasks=len(changed), doorbells=len(rings))
        return failures(number for number in sequence if number in failed)

    return handler


def _change(record: Mapping[str, Any]) -> tuple[TaskRef, int] | None:
    """The task that a record is about, and the number of its new entry; None for a record that rings nobody."""
    image = record["dynamodb"].get("NewImage")
    if record["eventName"] == "REMOVE" or image is None:
        return None
    ref, sk = keys.ref_from_pk(image["pk"]["S"]), image["sk"]["S"]
    if sk.startswith(keys.LOG):
        # A MODIFY is new, too: an entry never changes, it is put over the remains of an expired task's.
        return (ref, keys.number_from_sk(sk)) if image["kind"]["S"] in message.SENT else None
    if sk.startswith(keys.PUSH) and items.webhook_from_image(image).snapshot_due:
        return ref, SNAPSHOT
    return None
