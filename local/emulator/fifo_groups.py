"""FIFO mappings: AWS runs one batch of each message group at a time, and the groups beside each other.

MiniStack runs one batch at a time in all. A group with a message in flight stays locked in its queue, so lifting the
limit to the mapping's own concurrency keeps the order within each group. It also chokes on a MaximumConcurrency that
comes from a parameter, which is text; AWS reads it as a number.
"""

from __future__ import annotations

from typing import Any

from ministack.services import lambda_svc


def apply() -> None:
    concurrency = lambda_svc._sqs_esm_concurrency

    def by_mapping(esm: Any, function: Any, config: Any, _queue: Any = None) -> Any:
        scaling = esm.get("ScalingConfig") or {}
        if "MaximumConcurrency" in scaling:
            scaling["MaximumConcurrency"] = int(scaling["MaximumConcurrency"])
        return concurrency(esm, function, config, None)

    lambda_svc._sqs_esm_concurrency = by_mapping
