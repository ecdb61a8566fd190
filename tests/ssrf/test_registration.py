"""What urls.yaml says of each URL, at registration: by CreateTaskPushNotificationConfig and inline in SendMessage, over
both bindings, through the function's own handler (cases C6 and C20).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from builders.api import ApiBench, sending
from fakes.world import FakeResolver
from herald.records import Webhook
from ssrf.urls import Allowed, Refused, allowed, hosts, refused

Json = dict[str, Any]

INLINE = "configuration.taskPushNotificationConfig."


class Bench:
    """The API, with a task that is there already."""

    def __init__(self) -> None:
        self.resolver = FakeResolver(hosts())
        self.api = ApiBench(resolver=self.resolver)
        self.task_id = self.api.send()["id"]
        self.asked = 0

    def rpc_create(self, url: str) -> Json:
        return self.api.rpc("CreateTaskPushNotificationConfig", {"taskId": self.task_id, "url": url})

    def rest_create(self, url: str) -> Json:
        return self._rest(f"/tasks/{self.task_id}/pushNotificationConfigs", {"url": url})

    def rpc_inline(self, url: str) -> Json:
        return self.api.rpc("SendMessage", self._sending(url))

    def rest_inline(self, url: str) -> Json:
        return self._rest("/message:send", self._sending(url))

    def _sending(self, url: str) -> Json:
        self.asked += 1
        return sending(messageId=f"m-{self.asked}", config={"taskPushNotificationConfig": {"url": url}})

    def _rest(self, path: str, body: Json) -> Json:
        answer = self.api.rest("POST", path, body)
        told: Json = answer.body
        return told if answer.status >= 400 else {"result": told}

    @property
    def stored(self) -> list[Webhook]:
        return [item.record for item in self.api.world.items.values() if isinstance(item.record, Webhook)]


ROADS: dict[str, tuple[Callable[[Bench, str], Json], int, str]] = {
    "Create, JSON-RPC": (Bench.rpc_create, -32602, "url"),
    "Create, HTTP+JSON": (Bench.rest_create, 400, "url"),
    "inline, JSON-RPC": (Bench.rpc_inline, -32602, INLINE + "url"),
    "inline, HTTP+JSON": (Bench.rest_inline, 400, INLINE + "url"),
}


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


def test_the_table_is_long() -> None:
    assert len(refused()) >= 450
    assert len({row.url for row in refused()}) == len(refused())
    assert len(allowed()) >= 40


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("row", refused(), ids=str)
def test_c6_c20_it_is_refused_by_field_and_sentence_and_nothing_is_stored(
    bench: Bench, row: Refused, road: str
) -> None:
    register, code, field = ROADS[road]
    before = len(bench.api.world.stream)

    answer = register(bench, row.url)

    error = answer["error"]
    assert error["code"] == code
    assert _violations(error) == [(field, row.sentence)]
    assert len(bench.api.world.stream) == before  # no webhook, and no task beside it
    told = json.dumps(answer, ensure_ascii=False).replace(json.dumps(row.url, ensure_ascii=False)[1:-1], "")
    assert not any(address in told for address in row.addresses)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("row", allowed(), ids=str)
def test_it_is_allowed_and_stored_as_it_is(row: Allowed, road: str) -> None:
    bench = Bench()
    register, _, _ = ROADS[road]

    answer = register(bench, row.url)

    assert "error" not in answer
    assert [webhook.url for webhook in bench.stored] == [row.url]


def _violations(error: Json) -> list[tuple[str, str]]:
    details = error.get("data") or error["details"]
    return [
        (violation["field"], violation["description"])
        for detail in details
        for violation in detail.get("fieldViolations", [])
    ]
