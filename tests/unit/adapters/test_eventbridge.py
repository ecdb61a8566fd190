"""News on EventBridge: one entry with ids, counts and a host, and nothing that may be a secret."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from builders.records import a_webhook
from herald.adapters.eventbridge import EventBridgeAnnouncer
from herald.ports import News, Unavailable
from herald.records import WebhookState

AT = 1_767_225_600_250


class Bus:
    """Takes what is put, or doesn't."""

    def __init__(self, refused: str = "") -> None:
        self.entries: list[dict[str, Any]] = []
        self.refused = refused

    def put_events(self, **request: Any) -> dict[str, Any]:
        self.entries += request["Entries"]
        if self.refused:
            return {"FailedEntryCount": 1, "Entries": [{"ErrorCode": self.refused, "ErrorMessage": "…"}]}
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}


def announced(**webhook: Any) -> dict[str, Any]:
    bus = Bus()
    EventBridgeAnnouncer(lambda: bus, "herald-prod").announce(News.DISABLED, a_webhook(**webhook), "gone", AT)
    [entry] = bus.entries
    return entry


def test_an_event_says_which_webhook_and_why() -> None:
    entry = announced(
        state=WebhookState.DISABLED, reason="gone: the receiver answered 410", failures=3, delivered=7, cursor=9
    )

    assert {name: value for name, value in entry.items() if name != "Detail"} == {
        "Source": "herald",
        "DetailType": "webhook.disabled",
        "Time": datetime(2026, 1, 1, 0, 0, 0, 250_000, UTC),
    }
    assert json.loads(entry["Detail"]) == {
        "stack": "herald-prod",
        "taskId": a_webhook().ref.task_id,
        "configId": "cfg-1",
        "host": "client.example",
        "outcome": "gone",
        "reason": "gone: the receiver answered 410",
        "failures": 3,
        "delivered": 7,
        "cursor": 9,
    }


def test_invariant_8_neither_path_nor_query_nor_what_is_sealed_nor_an_owner_leaves() -> None:
    entry = announced(url="https://hooks.example.com:8443/path-secret?token=query-secret", sealed="sealed-secret")

    assert json.loads(entry["Detail"])["host"] == "hooks.example.com"
    for secret in ("path-secret", "query-secret", "sealed-secret", "8443", a_webhook().key, a_webhook().ref.owner):
        assert secret not in entry["Detail"]


def test_an_event_that_is_not_taken_is_a_fault_of_ours() -> None:
    announcer = EventBridgeAnnouncer(lambda: Bus("ThrottlingException"), "herald-prod")

    with pytest.raises(Unavailable, match="PutEvents: ThrottlingException"):
        announcer.announce(News.FAILING, a_webhook(), "http_5xx", AT)
