"""What watches a stack: alarms that act and say what they mean, and one page that shows all that is counted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from builders.watching import STACK, Seen, of_alarm, of_widget, widgets
from herald.delivery import retry
from herald.metrics import METRICS

Select = Callable[[str], dict[str, Any]]

# Alarm -> the metrics that it looks at.
WATCHED = {
    "FunctionErrors": {"Errors"},
    "FunctionThrottles": {"Throttles"},
    "StreamLate": {"IteratorAge"},
    "RecordsLost": {"ApproximateNumberOfMessagesVisible"},
    "SweepLate": {"Overdue"},
    "DoorbellsLate": {"ApproximateAgeOfOldestMessage"},
    "DoorbellsFull": {"ApproximateNumberOfMessagesNotVisible"},
    "DoorbellsDead": {"ApproximateNumberOfMessagesVisible"},
    "TurnsFailed": {"ExecutionsFailed", "ExecutionsTimedOut"},
    "AgentFailing": {"TurnsFailed"},
    "ApiFailing": {"5XXError"},
    "CardsUnsigned": {"CardsUnsigned"},
    "DeliveriesFailing": {"Attempts", "DeliveryFailed"},
    "NotificationsLate": {"UndeliveredAge"},
    "WebhooksDisabled": {"WebhooksDisabled"},
    "OwnFaults": {"Attempts"},
    "SsrfBlocked": {"Attempts"},
}
# For these silence is trouble, too.
ALARMED_BY_SILENCE = {"SweepLate"}

# Metrics of AWS that are shown or alarmed of, by namespace, with the names of their dimensions.
AWS = {
    ("AWS/Lambda", "Errors"): {"FunctionName"},
    ("AWS/Lambda", "Throttles"): {"FunctionName"},
    ("AWS/Lambda", "IteratorAge"): {"FunctionName"},
    ("AWS/Lambda", "ConcurrentExecutions"): {"FunctionName"},
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible"): {"QueueName"},
    ("AWS/SQS", "ApproximateNumberOfMessagesNotVisible"): {"QueueName"},
    ("AWS/SQS", "ApproximateAgeOfOldestMessage"): {"QueueName"},
    ("AWS/States", "ExecutionsStarted"): {"StateMachineArn"},
    ("AWS/States", "ExecutionsSucceeded"): {"StateMachineArn"},
    ("AWS/States", "ExecutionsFailed"): {"StateMachineArn"},
    ("AWS/States", "ExecutionsTimedOut"): {"StateMachineArn"},
    ("AWS/States", "ExecutionTime"): {"StateMachineArn"},
    ("AWS/ApiGateway", "Count"): {"ApiName", "Stage"},
    ("AWS/ApiGateway", "4XXError"): {"ApiName", "Stage"},
    ("AWS/ApiGateway", "5XXError"): {"ApiName", "Stage"},
    ("AWS/ApiGateway", "Latency"): {"ApiName", "Stage"},
}
OUTCOMES = {
    "delivered", "dns_error", "no_route", "connection_refused", "connect_timeout", "tls_error", "read_timeout",
    "bad_answer", "ssrf_blocked", "http_3xx", "http_4xx", "http_5xx", "gone", "own_fault",
}  # fmt: skip


@pytest.fixture
def alarms(of_type: Select) -> dict[str, Any]:
    return of_type("AWS::CloudWatch::Alarm")


@pytest.fixture
def page(of_type: Select) -> list[dict[str, Any]]:
    return widgets(of_type("AWS::CloudWatch::Dashboard")["Dashboard"]["DashboardBody"])


@pytest.fixture
def shown(page: list[dict[str, Any]]) -> set[Seen]:
    return {seen for widget in page for seen in of_widget(widget)}


@pytest.fixture
def alarmed(alarms: dict[str, Any]) -> set[Seen]:
    return {seen for alarm in alarms.values() for seen in of_alarm(alarm)}


def test_every_alarm_acts_and_says_what_it_means(alarms: dict[str, Any]) -> None:
    assert {name: {seen.name for seen in of_alarm(alarm)} for name, alarm in alarms.items()} == WATCHED
    for name, alarm in alarms.items():
        assert alarm["AlarmActions"] == {"Fn::If": ["HasAlarmEmail", [{"Ref": "AlarmTopic"}], []]}, name
        assert alarm["AlarmDescription"].endswith("."), name
        assert len(alarm["AlarmDescription"]) > 50, name
        silence = "breaching" if name in ALARMED_BY_SILENCE else "notBreaching"
        assert alarm["TreatMissingData"] == silence, name


@pytest.mark.parametrize("name", ["FunctionErrors", "FunctionThrottles"])
def test_no_function_is_left_out_of_watching(of_type: Select, alarms: dict[str, Any], name: str) -> None:
    watched = [dict(seen.dimensions)["FunctionName"] for seen in of_alarm(alarms[name])]
    # authorize raises for tokens that strangers make up; when it fails itself, ApiFailing counts the 503.
    assert sorted({*watched, "AuthorizeFunction"}) == sorted(of_type("AWS::Lambda::Function"))


def test_few_attempts_say_nothing_of_all_receivers(alarms: dict[str, Any]) -> None:
    (rate,) = [row for row in alarms["DeliveriesFailing"]["Metrics"] if "Expression" in row]
    assert rate["Expression"] == (
        "IF(FILL(failed, 0) + FILL(delivered, 0) >= 20, FILL(failed, 0) / (FILL(failed, 0) + FILL(delivered, 0)), 0)"
    )
    assert {row["Id"] for row in alarms["DeliveriesFailing"]["Metrics"]} == {"rate", "failed", "delivered"}
    assert alarms["DeliveriesFailing"]["Threshold"] == 0.5


def test_a_notification_is_late_when_half_of_its_schedule_is_over(alarms: dict[str, Any]) -> None:
    late = alarms["NotificationsLate"]
    assert late["Threshold"] == 86_400 < sum(retry.DELAYS)
    # Nothing is counted between two attempts: the period spans the longest wait, or the alarm would come and go.
    assert late["Period"] * late["EvaluationPeriods"] >= max(retry.DELAYS) * (1 + retry.JITTER)


@pytest.mark.parametrize("where", ["shown", "alarmed"])
def test_what_is_looked_at_is_what_somebody_counts(where: str, request: pytest.FixtureRequest) -> None:
    ours = {metric.name: set(metric.dimensions) for metric in METRICS}
    for seen in request.getfixturevalue(where):
        names = {name for name, _ in seen.dimensions}
        if seen.namespace == "Herald":
            assert names == ours[seen.name], seen
            assert ("stack", STACK) in seen.dimensions, seen
            assert dict(seen.dimensions).get("outcome", "*") in OUTCOMES | {"*"}, seen
        else:
            assert names == AWS[seen.namespace, seen.name], seen


def test_every_metric_is_shown(shown: set[Seen]) -> None:
    assert {seen.name for seen in shown if seen.namespace == "Herald"} == {metric.name for metric in METRICS}


def test_attempts_are_shown_by_every_outcome(shown: set[Seen]) -> None:
    assert Seen("Herald", "Attempts", frozenset({("stack", STACK), ("outcome", "*")})) in shown


def test_the_outcomes_are_these_so_that_a_stack_has_at_most_24_metrics_of_its_own() -> None:
    named = {
        value for name, value in vars(retry).items() if name.isupper() and isinstance(value, str) and " " not in value
    }
    assert named == OUTCOMES
    assert len(METRICS) - 1 + len(OUTCOMES) == 24


def test_what_is_alarmed_of_is_shown(shown: set[Seen], alarmed: set[Seen]) -> None:
    def is_shown(seen: Seen) -> bool:
        anything = frozenset((name, "*" if name == "outcome" else value) for name, value in seen.dimensions)
        return seen in shown or seen._replace(dimensions=anything) in shown

    assert {seen for seen in alarmed if not is_shown(seen)} == set()


def test_the_page_about_the_architecture_lists_the_table_and_what_it_costs(alarms: dict[str, Any]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
    for metric in METRICS:
        assert f"| `{metric.name}` | {metric.unit} | {metric.meaning} |" in text, metric
    assert "at most 24\nmetrics" in text
    looked_at = sum(len(of_alarm(alarm)) for alarm in alarms.values())
    assert f"The alarms look at {looked_at} metrics" in text


def test_every_alarm_is_on_the_page(alarms: dict[str, Any], page: list[dict[str, Any]]) -> None:
    (row,) = [widget for widget in page if widget["type"] == "alarm"]
    assert sorted(row["properties"]["alarms"]) == sorted(f"{name}.Arn" for name in alarms)


def test_expressions_name_metrics_of_their_own_widget(page: list[dict[str, Any]]) -> None:
    for widget in page:
        rows = widget["properties"].get("metrics", [])
        ids = {row[-1]["id"] for row in rows if isinstance(row[-1], dict) and "id" in row[-1] and len(row) > 1}
        for row in rows:
            if len(row) == 1 and not row[0]["expression"].startswith("SEARCH"):
                assert ids == {"failed", "delivered"}
                assert "FILL(failed, 0)" in row[0]["expression"]


def test_no_two_widgets_lie_on_one_place(page: list[dict[str, Any]]) -> None:
    for widget in page:
        assert widget["x"] + widget["width"] <= 24
    for one, other in combinations(page, 2):
        apart = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
        below = one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]
        assert apart or below, (one["properties"]["title"], other["properties"]["title"])


def test_the_page_refers_only_to_what_every_stack_has(of_type: Select, resources: dict[str, Any]) -> None:
    body = of_type("AWS::CloudWatch::Dashboard")["Dashboard"]["DashboardBody"]["Fn::Sub"]
    referred = {part.split("}")[0].split(".")[0] for part in body.split("${")[1:]}
    pseudo = {name for name in referred if name.startswith("AWS::")}
    assert pseudo == {"AWS::Region", "AWS::StackName"}
    for name in referred - pseudo - {"Stage"}:
        assert "Condition" not in resources[name], name
