"""Alarms over several metrics (Metrics instead of MetricName): AWS makes them.

MiniStack refuses the whole stack. It is given the first of the metrics instead; nothing here waits for an alarm.
"""

from __future__ import annotations

from typing import Any

from ministack.services.cloudformation import provisioners


def apply() -> None:
    record = provisioners._cw_metric_alarm_record

    def with_first_metric(name: str, props: dict[str, Any]) -> Any:
        metrics = props.get("Metrics")
        if not metrics:
            return record(name, props)
        rest = {key: value for key, value in props.items() if key != "Metrics"}
        first = next(metric["MetricStat"] for metric in metrics if "MetricStat" in metric)
        return record(name, rest | first["Metric"] | {"Period": first["Period"], "Statistic": first["Stat"]})

    provisioners._cw_metric_alarm_record = with_first_metric
