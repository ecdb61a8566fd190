"""send_webhooks: queue records in, acknowledged or hidden, counted and logged."""

from __future__ import annotations

import io
import json
import logging
from typing import Any

import pytest

from builders.deliveries import URL, Road
from builders.events import LambdaContext, queue_event
from builders.metrics import counted
from builders.records import KEY, a_ref
from fakes.clock import FakeClock
from fakes.world import answer
from herald.adapters.emf import EmbeddedMetrics
from herald.delivery.cursor import Delivery
from herald.entrypoints.send_webhooks import DeliveryWatch, handler_for
from herald.ports import Unavailable
from herald.records import Doorbell, WebhookState

BELL = Doorbell(a_ref(), "cfg-1", KEY)


class Here:
    def __init__(self, *numbers: int, **webhook: Any) -> None:
        self.watch = DeliveryWatch(EmbeddedMetrics("herald-prod", FakeClock()))
        self.road = Road(watch=self.watch)
        self.road.register(**webhook)
        for number in numbers:
            self.road.working(number)
        self.delivery: Delivery = self.road.delivery

    def call(self, *bells: Doorbell | str, seconds: float = 90, receives: int = 1) -> list[str]:
        event = queue_event(*(bells or (BELL,)), receives=receives)
        handler = handler_for(self.delivery, self.watch)
        answer = handler(event, LambdaContext(seconds))  # type: ignore[arg-type]
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the function's logger writes."""
    stream = io.StringIO()
    for handler in logging.getLogger("herald").handlers:
        monkeypatch.setattr(handler, "stream", stream)
    return stream


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def metrics(text: str) -> dict[str, Any]:
    """Name of each metric -> value, dimensions beside it where there is an outcome."""
    found: dict[str, Any] = {}
    for line in lines(text):
        if "_aws" in line:
            for metric in line["_aws"]["CloudWatchMetrics"][0]["Metrics"]:
                name = metric["Name"] + (f":{line['outcome']}" if "outcome" in line else "")
                found[name] = line[metric["Name"]]
    return found


def test_a_delivered_doorbell_is_acknowledged(capsys: pytest.CaptureFixture[str]) -> None:
    here = Here(1, 2)

    assert here.call() == []

    assert here.road.numbers() == [1, 2]
    assert counted(capsys.readouterr().out) == {"Attempts:delivered": [1, 1], "DeliveryLatency": [0, 0]}


def test_one_line_holds_all_that_one_attempt_counts(capsys: pytest.CaptureFixture[str]) -> None:
    here = Here(1)
    here.road.transport.script(URL, answer(410))

    here.call()

    [line] = [line for line in lines(capsys.readouterr().out) if "_aws" in line]
    assert line == {
        "_aws": {
            "Timestamp": FakeClock().now(),
            "CloudWatchMetrics": [
                {
                    "Namespace": "Herald",
                    "Dimensions": [["stack", "outcome"]],
                    "Metrics": [{"Name": "Attempts", "Unit": "Count"}],
                },
                {
                    "Namespace": "Herald",
                    "Dimensions": [["stack"]],
                    "Metrics": [
                        {"Name": "DeliveryFailed", "Unit": "Count"},
                        {"Name": "UndeliveredAge", "Unit": "Seconds"},
                        {"Name": "WebhooksDisabled", "Unit": "Count"},
                    ],
                },
            ],
        },
        "stack": "herald-prod",
        "outcome": "gone",
        "Attempts": 1,
        "DeliveryFailed": 1,
        "UndeliveredAge": 0.0,
        "WebhooksDisabled": 1,
    }


def test_the_age_of_what_fails_counts_from_its_storing(capsys: pytest.CaptureFixture[str]) -> None:
    here = Here(1)
    here.road.clock.advance(90_000)
    here.road.transport.script(URL, 503)

    here.call()

    assert counted(capsys.readouterr().out)["UndeliveredAge"] == [90_000.0]


def test_what_a_webhook_has_become_is_counted_and_told(log: io.StringIO, capsys: pytest.CaptureFixture[str]) -> None:
    here = Here(1)
    here.road.transport.script(URL, 503)
    here.call()
    here.road.clock.advance(5)

    here.call()

    told = [line for line in lines(log.getvalue()) if line["message"].startswith("webhook ")]
    assert [(line["message"], line["level"], line["config_id"]) for line in told] == [
        ("webhook failing", "INFO", "cfg-1"),
        ("webhook recovered", "INFO", "cfg-1"),
    ]
    found = counted(capsys.readouterr().out)
    assert (found["WebhooksFailing"], found["WebhooksRecovered"]) == ([1], [1])


def test_the_lines_of_an_attempt_carry_the_task_and_the_trace_of_what_is_sent(log: io.StringIO) -> None:
    here = Here()
    here.road.working(1, traceparent=f"00-{'1' * 32}-{'a' * 16}-01")
    here.road.working(2, traceparent=f"00-{'2' * 32}-{'b' * 16}-01")

    here.call()
    here.call("rubbish")

    told = [(line["message"], line.get("task_id"), line.get("trace_id")) for line in lines(log.getvalue())]
    assert told == [
        ("attempt", a_ref().task_id, "1" * 32),
        ("attempt", a_ref().task_id, "2" * 32),
        ("doorbell can't be answered", None, None),
    ]


def test_a_fault_of_our_own_carries_them_too(log: io.StringIO) -> None:
    here = Here()
    here.road.working(1, traceparent=f"00-{'1' * 32}-{'a' * 16}-01")
    here.road.signer.fail_next("sign", Unavailable("GetSecretValue: Throttled"))

    here.call()

    [line] = lines(log.getvalue())
    assert (line["message"], line["task_id"], line["trace_id"]) == (
        "doorbell can't be answered",
        a_ref().task_id,
        "1" * 32,
    )


def test_a_doorbell_without_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert Here().call() == []

    assert counted(capsys.readouterr().out) == {}


def test_a_failure_hides_the_doorbell_and_reports_it(capsys: pytest.CaptureFixture[str]) -> None:
    here = Here(1)
    here.road.transport.script(URL, 503)

    assert here.call() == ["00000000-0000-0000-0000-000000000001"]

    assert here.road.doorbells.hidden == [("receipt-1", 5)]
    assert counted(capsys.readouterr().out) == {
        "Attempts:http_5xx": [1],
        "DeliveryFailed": [1],
        "UndeliveredAge": [0.0],
        "WebhooksFailing": [1],
    }


def test_the_age_of_the_doorbell_reaches_the_loop() -> None:
    here = Here(1)
    here.road.transport.script(URL, 503)
    here.road.clock.advance(1_196)

    assert here.call() == []


@pytest.mark.parametrize(
    ("receives", "seconds"), [(1, 15), (2, 32), (3, 107), (4, 198), (5, 479), (6, 479), (900, 479)]
)
def test_a_fault_of_our_own_that_stays_is_met_ever_more_rarely(receives: int, seconds: int) -> None:
    here = Here(1)
    here.road.signer.fail_next("sign", Unavailable("GetSecretValue: Throttled"))

    here.call(receives=receives)

    assert here.road.doorbells.hidden == [("receipt-1", seconds)]


def test_the_remaining_time_reaches_the_loop() -> None:
    here = Here(1)

    assert here.call(seconds=20) == []

    assert here.road.numbers() == []
    assert [ring.doorbell for ring in here.road.doorbells.rings] == [BELL]


def test_a_fault_of_our_own_brings_the_doorbell_back_within_half_a_minute(
    capsys: pytest.CaptureFixture[str], log: io.StringIO
) -> None:
    here = Here(1)
    here.road.signer.fail_next("sign", Unavailable("GetSecretValue: Throttled"))

    assert here.call() == ["00000000-0000-0000-0000-000000000001"]

    assert here.road.doorbells.hidden == [("receipt-1", 15)]
    assert here.road.webhook().state is WebhookState.ACTIVE
    [told] = [line for line in lines(log.getvalue()) if line["level"] == "ERROR"]
    assert (told["message"], told["outcome"]) == ("doorbell can't be answered", "own_fault")
    assert counted(capsys.readouterr().out) == {"Attempts:own_fault": [1]}


def test_a_doorbell_that_cannot_be_hidden_is_reported_all_the_same() -> None:
    here = Here(1)
    here.road.transport.script(URL, 503)
    here.road.doorbells.fail_next("hide", Unavailable("ChangeMessageVisibility"))

    assert len(here.call()) == 1


def test_g15_rubbish_is_reported_and_keeps_no_doorbell_from_being_answered() -> None:
    here = Here(1)

    assert here.call("rubbish", "{}", BELL) == [
        "00000000-0000-0000-0000-000000000001",
        "00000000-0000-0000-0000-000000000002",
    ]
    assert here.road.numbers() == [1]


def test_each_attempt_is_one_line_of_ids_and_numbers(log: io.StringIO) -> None:
    here = Here(1)
    here.road.transport.script(URL, 503)

    here.call()

    [line] = [line for line in lines(log.getvalue()) if line["message"] == "attempt"]
    told = {name: line[name] for name in ("level", "config_id", "task_id", "number", "attempt", "outcome", "status")}
    assert told == {
        "level": "INFO",
        "config_id": "cfg-1",
        "task_id": a_ref().task_id,
        "number": 1,
        "attempt": 1,
        "outcome": "http_5xx",
        "status": 503,
    }


def test_a_disabled_webhook_is_named_with_its_reason(log: io.StringIO, capsys: pytest.CaptureFixture[str]) -> None:
    here = Here(1)
    here.road.transport.script(URL, answer(410))

    assert here.call() == []

    [line] = [line for line in lines(log.getvalue()) if line["message"] == "webhook disabled"]
    assert (line["level"], line["config_id"], line["reason"]) == ("WARNING", "cfg-1", "gone: the receiver answered 410")
    assert counted(capsys.readouterr().out)["WebhooksDisabled"] == [1]


def test_the_latency_of_a_webhook_made_late_counts_from_its_making(capsys: pytest.CaptureFixture[str]) -> None:
    here = Here(1)
    here.road.clock.advance(86_400)
    here.road.register(cursor=0, created_at=here.road.clock.now() - 250)

    here.call()

    assert counted(capsys.readouterr().out)["DeliveryLatency"] == [250]
