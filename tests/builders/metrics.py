"""What a function has counted, read from the lines that it wrote."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple


class Counted(NamedTuple):
    """One metric in one line: all that CloudWatch makes of it."""

    namespace: str
    name: str
    unit: str
    dimensions: dict[str, str]
    values: list[float]


def read(text: str) -> Iterator[Counted]:
    """The metrics in lines of the embedded metric format; other lines are left out."""
    for line in text.splitlines():
        told: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
        for block in told.get("_aws", {}).get("CloudWatchMetrics", []):
            for names in block["Dimensions"]:
                for metric in block["Metrics"]:
                    value = told[metric["Name"]]
                    yield Counted(
                        block["Namespace"],
                        metric["Name"],
                        metric["Unit"],
                        {name: told[name] for name in names},
                        value if isinstance(value, list) else [value],
                    )


def counted(text: str) -> dict[str, list[float]]:
    """Name of each metric, its outcome behind a colon where it is split by it -> values."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for each in read(text):
        outcome = each.dimensions.get("outcome")
        found[f"{each.name}:{outcome}" if outcome else each.name] += each.values
    return dict(found)
