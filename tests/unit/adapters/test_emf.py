"""The embedded metric format: few lines, no more values than one may hold, no dimension but the two."""

from __future__ import annotations

import json

import pytest

from builders.metrics import Counted, counted, read
from fakes.clock import FakeClock
from herald import metrics
from herald.adapters.emf import EmbeddedMetrics


@pytest.fixture
def meter() -> EmbeddedMetrics:
    return EmbeddedMetrics("herald-prod", FakeClock())


def test_what_was_counted_is_written_once(meter: EmbeddedMetrics, capsys: pytest.CaptureFixture[str]) -> None:
    meter.add(metrics.OVERDUE, 1.5)
    meter.add(metrics.TURNS_FAILED)
    assert capsys.readouterr().out == ""

    meter.flush()

    assert list(read(capsys.readouterr().out)) == [
        Counted("Herald", "Overdue", "Seconds", {"stack": "herald-prod"}, [1.5]),
        Counted("Herald", "TurnsFailed", "Count", {"stack": "herald-prod"}, [1]),
    ]
    meter.flush()
    assert capsys.readouterr().out == ""


def test_an_outcome_takes_a_line_and_the_first_one_carries_the_rest(
    meter: EmbeddedMetrics, capsys: pytest.CaptureFixture[str]
) -> None:
    for outcome in ("http_5xx", "delivered", "delivered"):
        meter.add(metrics.ATTEMPTS, outcome=outcome)
    meter.add(metrics.DELIVERY_FAILED)

    meter.flush()

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [{name: value for name, value in line.items() if name not in ("_aws", "stack")} for line in lines] == [
        {"outcome": "http_5xx", "Attempts": 1, "DeliveryFailed": 1},
        {"outcome": "delivered", "Attempts": [1, 1]},
    ]


def test_one_line_holds_a_hundred_values_of_a_metric(
    meter: EmbeddedMetrics, capsys: pytest.CaptureFixture[str]
) -> None:
    for value in range(205):
        meter.add(metrics.DELIVERY_LATENCY, value)
        meter.add(metrics.ATTEMPTS, outcome="delivered")

    meter.flush()

    text = capsys.readouterr().out
    assert [len(each.values) for each in read(text) if each.name == "DeliveryLatency"] == [100, 100, 5]
    assert counted(text) == {"DeliveryLatency": list(range(205)), "Attempts:delivered": [1] * 205}


@pytest.mark.parametrize(("metric", "outcome"), [(metrics.ATTEMPTS, ""), (metrics.OVERDUE, "delivered")])
def test_an_outcome_belongs_to_what_is_split_by_it(
    meter: EmbeddedMetrics, metric: metrics.Metric, outcome: str
) -> None:
    with pytest.raises(ValueError, match=f"{metric.name}: an outcome belongs"):
        meter.add(metric, outcome=outcome)


def test_no_metric_stands_twice_in_the_table() -> None:
    assert len({metric.name for metric in metrics.METRICS}) == len(metrics.METRICS) == 11
    assert [metric.name for metric in metrics.METRICS if metric.by_outcome] == ["Attempts"]
