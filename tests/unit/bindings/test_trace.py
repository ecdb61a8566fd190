"""The trace of a request."""

from __future__ import annotations

import re

import pytest

from builders.api import ApiBench, sending
from fakes.clock import SequentialIds
from herald.bindings.trace import traceparent

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
XRAY = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"traceparent": f"00-{TRACE}-{SPAN}-01"}, f"00-{TRACE}-{SPAN}-01"),
        ({"traceparent": f"cc-{TRACE}-{SPAN}-01-more"}, f"00-{TRACE}-{SPAN}-01"),
        ({"traceparent": f"00-{TRACE}-{SPAN}-01", "x-amzn-trace-id": XRAY}, f"00-{TRACE}-{SPAN}-01"),
        ({"x-amzn-trace-id": XRAY}, "00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01"),
        (
            {"x-amzn-trace-id": "Self=1-5759e988-aaaaaaaaaaaaaaaaaaaaaaaa;Root=1-5759e988-bd862e3fe1be46a994272793"},
            "00-5759e988bd862e3fe1be46a994272793-bd862e3fe1be46a9-00",
        ),
    ],
)
def test_the_clients_trace_counts_then_x_rays(headers: dict[str, str], expected: str) -> None:
    assert traceparent(headers, SequentialIds()) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rubbish",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01\r\nX-Evil: 1",
    ],
)
def test_without_a_valid_one_a_trace_is_made(text: str) -> None:
    ids = SequentialIds()
    first = traceparent({"traceparent": text, "x-amzn-trace-id": "Root=rubbish"}, ids)

    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-00", first)
    assert traceparent({}, ids) != first


def test_the_entries_of_a_request_carry_its_trace() -> None:
    api = ApiBench()

    task = api.rpc("SendMessage", sending(), headers={"traceparent": f"00-{TRACE}-{SPAN}-01"})["result"]["task"]
    api.rpc("CancelTask", {"id": task["id"]}, headers={"X-Amzn-Trace-Id": XRAY})

    sent, canceled = api.world.entries(api.ref(task["id"]))
    assert sent.traceparent == f"00-{TRACE}-{SPAN}-01"
    assert canceled.traceparent == "00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01"
