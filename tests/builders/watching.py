"""What the template's alarms and its dashboard look at, as CloudWatch takes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

SEARCH = re.compile(r"SEARCH\('\{([\w,/]+)\} MetricName=\"(\w+)\" (\w+)=\"([\w-]+)\"', ")
STACK = "the-stack"  # what !Ref AWS::StackName gives


class Seen(NamedTuple):
    """A metric that somebody looks at; a dimension is a name and its value, "*" for any."""

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]


def of_alarm(alarm: Mapping[str, Any]) -> list[Seen]:
    """The metrics of an alarm's properties."""
    stats = [row["MetricStat"]["Metric"] for row in alarm.get("Metrics", []) if "MetricStat" in row]
    return [
        Seen(
            row["Namespace"],
            row["MetricName"],
            frozenset((each["Name"], _text(each["Value"])) for each in row["Dimensions"]),
        )
        for row in stats or [alarm]
    ]


def widgets(body: Mapping[str, str]) -> list[dict[str, Any]]:
    """The widgets of a dashboard's body, an ``Fn::Sub``; what it refers to stands in them by its name."""
    text = body["Fn::Sub"].replace("${AWS::StackName}", STACK)
    found: list[dict[str, Any]] = json.loads(re.sub(r"\$\{([\w.:]+)\}", r"\1", text))["widgets"]
    return found


def of_widget(widget: Mapping[str, Any]) -> Iterator[Seen]:
    """The metrics of one widget; a search is a metric with any value of the dimensions that it leaves open."""
    for row in widget["properties"].get("metrics", []):
        names = [part for part in row if isinstance(part, str)]
        if names:
            pairs = zip(names[2::2], names[3::2], strict=True)
            yield Seen(names[0], names[1], frozenset(pairs))
        elif search := re.match(
            r"SEARCH\('\{([\w,/]+)\} MetricName=\"(\w+)\" (\w+)=\"([\w-]+)\"', ", row[0]["expression"]
        ):
            namespace, *dimensions = search[1].split(",")
            given = {search[3]: search[4]}
            yield Seen(namespace, search[2], frozenset((name, given.get(name, "*")) for name in dimensions))


def _text(value: Any) -> str:
    if value == {"Ref": "AWS::StackName"}:
        return STACK
    if isinstance(value, dict):
        return str(value.get("Ref") or ".".join(value["Fn::GetAtt"]))
    return str(value)
