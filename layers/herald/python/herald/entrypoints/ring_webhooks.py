"""ring_webhooks: the stream tells of what was stored, and the doorbells of the webhooks that are behind are rung."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aws_lambda_powertools.utilities.typing import LambdaContext

from herald.adapters.dynamodb import items, keys
from herald.correlation import road
from herald.delivery import message
from herald.delivery.ring import Ringer
from herald.entrypoints.batches import BatchResponse, failures, sequence_number
from herald.entrypoints.logs import json_logger
from herald.ports import Ring, UnreadableWebhooks
from herald.records import TaskRef

logger = json_logger()

SNAPSHOT = -1  # in the place of an entry's number: a webhook's snapshot has become due


class _Change(NamedTuple):
    """A task that has changed, and the number of its new entry."""

    ref: TaskRef
    number: int
    traceparent: str = ""


def handler_for(ringer: Ringer) -> Callable[[dict[str, Any], LambdaContext], BatchResponse]:
    """The function's handler: the webhooks of each task in the batch are read once, and all doorbells rung together.

    A record that fails keeps no other task's doorbells from being rung, nor a webhook that can't be read those of its
    own task. All that failed are reported, in order; Lambda takes the batch up again at the first. What is then rung
    twice is one doorbell, or a harmless second.
    """

    @logger.inject_lambda_context(log_event=False, clear_state=True)
    def handler(event: dict[str, Any], context: LambdaContext) -> BatchResponse:  # noqa: ARG001
        sequence = [sequence_number(record) for record in event["Records"]]
        failed: set[str] = set()
        changed: dict[TaskRef, _Change] = {}
        told_by: defaultdict[TaskRef, set[str]] = defaultdict(set)
        for number, record in zip(sequence, event["Records"], strict=True):
            try:
                change = _change(record)
            except Exception:
                logger.exception("stream record can't be read", sequence_number=number)
                failed.add(number)
                continue
            if change is not None:
                changed[change.ref] = max(change, changed.get(change.ref, change), key=lambda one: one.number)
                told_by[change.ref].add(number)
        rings: dict[TaskRef, list[Ring]] = {}
        for ref, change in changed.items():
            with road(ref.task_id, change.traceparent):
                try:
                    rings[ref] = ringer.rings(ref, change.number)
                except UnreadableWebhooks as error:
                    logger.exception("a webhook can't be read")
                    failed |= told_by[ref]
                    rings[ref] = ringer.behind(error.readable, change.number)
                except Exception:
                    logger.exception("webhooks can't be read")
                    failed |= told_by[ref]
        try:
            ringer.doorbells.ring([ring for each in rings.values() for ring in each])
        except Exception:
            logger.exception("doorbells can't be rung", doorbells=sum(map(len, rings.values())))
            failed.update(*told_by.values())
        else:
            for ref, rung in rings.items():
                if rung:
                    with road(ref.task_id, changed[ref].traceparent):
                        logger.info("rung", number=changed[ref].number, doorbells=len(rung))
        return failures(number for number in sequence if number in failed)

    return handler


def _change(record: Mapping[str, Any]) -> _Change | None:
    """What a record tells; None for a record that rings nobody."""
    image = record["dynamodb"].get("NewImage")
    if record["eventName"] == "REMOVE" or image is None:
        return None
    ref, sk = keys.ref_from_pk(image["pk"]["S"]), image["sk"]["S"]
    if sk.startswith(keys.LOG):
        # A MODIFY is new, too: an entry never changes, it is put over the remains of an expired task's.
        if image["kind"]["S"] not in message.SENT:
            return None
        return _Change(ref, keys.number_from_sk(sk), image.get("traceparent", {}).get("S", ""))
    if sk.startswith(keys.PUSH) and items.webhook_from_image(image).snapshot_due:
        return _Change(ref, SNAPSHOT)
    return None
