"""Metrics as lines of the log: CloudWatch's embedded metric format. No call, no client; CloudWatch Logs reads them."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from typing import Any

from herald.metrics import NAMESPACE, OUTCOME, STACK, Metric
from herald.ports import Clock

MOST_VALUES = 100  # of one metric in one line


def _to_stdout(line: str) -> None:
    sys.stdout.write(f"{line}\n")


class EmbeddedMetrics:
    """Gathers what one invocation counts, and writes it in as few lines as there are outcomes, but one at least.

    Args:
        stack: the name of the CloudFormation stack, the dimension of every metric.
    """

    def __init__(self, stack: str, clock: Clock) -> None:
        self._stack = stack
        self._clock = clock
        self._plain: dict[Metric, list[float]] = defaultdict(list)
        self._by_outcome: dict[str, dict[Metric, list[float]]] = {}

    def add(self, metric: Metric, value: float = 1, outcome: str = "") -> None:
        if bool(outcome) is not metric.by_outcome:
            raise ValueError(f"{metric.name}: an outcome belongs to a metric that is split by it, and to no other")
        values = self._by_outcome.setdefault(outcome, defaultdict(list)) if outcome else self._plain
        values[metric].append(value)

    def flush(self) -> None:
        """Write what was gathered; nothing if that is nothing."""
        split, plain = self._by_outcome, self._plain
        self._by_outcome, self._plain = {}, defaultdict(list)
        for outcome, values in split.items() or {"": {}}.items():
            self._write(outcome, values, plain)
            plain = defaultdict(list)  # they went with the first line

    def _write(self, outcome: str, values: dict[Metric, list[float]], plain: dict[Metric, list[float]]) -> None:
        while values or plain:
            groups = [_some(group) for group in (values, plain)]
            line: dict[str, Any] = {
                "_aws": {
                    "Timestamp": self._clock.now(),
                    "CloudWatchMetrics": [_directive(group) for group in groups if group],
                },
                STACK: self._stack,
                **({OUTCOME: outcome} if groups[0] else {}),
            }
            for group in groups:
                line |= {metric.name: told if len(told) > 1 else told[0] for metric, told in group.items()}
            _to_stdout(json.dumps(line, separators=(",", ":")))


def _some(group: dict[Metric, list[float]]) -> dict[Metric, list[float]]:
    """Take as much of each metric's values as one line may hold."""
    taken = {metric: values[:MOST_VALUES] for metric, values in group.items()}
    for metric in taken:
        del group[metric][:MOST_VALUES]
        if not group[metric]:
            del group[metric]
    return taken


def _directive(group: dict[Metric, list[float]]) -> dict[str, Any]:
    (dimensions,) = {metric.dimensions for metric in group}
    return {
        "Namespace": NAMESPACE,
        "Dimensions": [list(dimensions)],
        "Metrics": [{"Name": metric.name, "Unit": metric.unit} for metric in group],
    }
