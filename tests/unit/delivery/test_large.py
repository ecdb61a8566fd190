"""Notifications above 1 MiB: one address in the place of the parts, equal on every attempt."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from builders.deliveries import URL, Road
from builders.records import TASK_ID, artifact_entry, message_entry, status_entry
from fakes.kept import FakeKeptBodies
from fakes.world import answer
from herald.delivery.large import PLACE, Shortening
from herald.ports import Unavailable
from herald.protocol.states import TaskState
from herald.records import WebhookState

MIB = 1_048_576
BASE = "https://agent.example/prod"


def road_with(**webhook: Any) -> tuple[Road, FakeKeptBodies]:
    road, kept = Road(), FakeKeptBodies()
    road.delivery = replace(road.delivery, shortening=Shortening(kept, road.sealer, BASE))
    road.register(**webhook)
    return road, kept


def whole(road: Road, kept: FakeKeptBodies, part: dict[str, Any]) -> bytes:
    """What stands at a part's address."""
    address, _, sealed = part["url"].partition("?of=")
    assert address == f"{BASE}/notification"
    return kept.get(road.sealer.open(sealed, PLACE))


def test_up_to_1_mib_a_notification_is_sent_as_it_is_stored() -> None:
    road, kept = road_with()
    spare = MIB - len(artifact_entry(1, "").body.encode())
    entry = artifact_entry(1, "x" * spare)
    road.store(entry)
    road.run()

    assert len(road.posts()[0].body) == MIB
    assert road.posts()[0].body == entry.body.encode()
    assert kept.calls == {}


def test_above_it_the_parts_of_an_artifact_become_one_url_part() -> None:
    road, kept = road_with()
    entry = artifact_entry(1, "x" * MIB, append=True)
    road.store(entry)
    road.run()

    update = json.loads(road.posts()[0].body)["artifactUpdate"]
    [part] = update["artifact"].pop("parts")
    assert update == {"taskId": TASK_ID, "contextId": "ctx-1", "artifact": {"artifactId": "a1"}, "append": True}
    assert whole(road, kept, part) == entry.body.encode()
    assert part["mediaType"] == "application/a2a+json"
    assert part["metadata"] == {
        "sha256": hashlib.sha256(entry.body.encode()).hexdigest(),
        "bytes": len(entry.body.encode()),
    }


def test_so_do_those_of_a_statuss_message() -> None:
    road, kept = road_with()
    entry = status_entry(1, TaskState.COMPLETED, text="é" * MIB)
    road.store(entry)
    road.run()

    status = json.loads(road.posts()[0].body)["statusUpdate"]["status"]
    assert status["state"] == "TASK_STATE_COMPLETED"
    assert whole(road, kept, status["message"]["parts"][0]) == entry.body.encode()


def test_a_snapshot_leaves_its_history_out_first() -> None:
    road, kept = road_with(snapshot_due=True, cursor=1, snapshot=1)
    road.store(message_entry(0, {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "x" * MIB}]}))
    road.store(artifact_entry(1, "small"))
    road.run()

    task = road.posts()[0].event["task"]
    assert "history" not in task  # type: ignore[operator]
    assert task["artifacts"][0]["parts"] == [{"text": "small"}]  # type: ignore[index]
    assert kept.calls == {}


def test_then_its_largest_artifacts_until_it_is_small_enough() -> None:
    road, kept = road_with(snapshot_due=True, cursor=3, snapshot=3)
    road.store(artifact_entry(1, "x" * 500_000, "first"))
    road.store(artifact_entry(2, "y" * 900_000, "second"))
    road.store(artifact_entry(3, "small", "third"))
    road.run()

    first, second, third = json.loads(road.posts()[0].body)["task"]["artifacts"]
    assert first["parts"] == [{"text": "x" * 500_000}]
    assert third["parts"] == [{"text": "small"}]
    task = json.loads(whole(road, kept, second["parts"][0]))["task"]
    assert task["artifacts"][1]["parts"] == [{"text": "y" * 900_000}]


def test_every_attempt_sends_the_same_bytes_under_the_same_id_whatever_key_seals_by_then() -> None:
    road, _ = road_with()
    road.store(artifact_entry(1, "x" * MIB))
    road.transport.script(URL, 500, 500)
    road.run()
    road.sealer.version = 2
    road.wait(5)
    road.wait(30)

    assert len(road.posts()) == 3
    assert len({post.body for post in road.posts()}) == 1
    assert len({post.headers["webhook-id"] for post in road.posts()}) == 1
    assert len(road.posts()[0].body) < 1_000


def test_two_webhooks_of_a_task_share_what_is_kept() -> None:
    road, kept = road_with()
    road.register("cfg-2", key="o" * 26, url="https://other.example/hook")
    road.store(artifact_entry(1, "x" * MIB))
    road.run()

    assert road.posts()[0].body == road.posts("https://other.example/hook")[0].body
    assert len(kept.bodies) == 2


def test_a_process_that_dies_in_between_leaves_an_address_that_is_good() -> None:
    road, kept = road_with()
    entry = artifact_entry(1, "x" * MIB)
    road.store(entry)
    kept.fail_next("keep", Unavailable("PutObject"), after_effect=True)
    with pytest.raises(Unavailable):
        road.delivery.answer(road.webhook().doorbell, lambda: 300)
    road.run()

    [part] = json.loads(road.posts()[0].body)["artifactUpdate"]["artifact"]["parts"]
    assert whole(road, kept, part) == entry.body.encode()


@pytest.mark.parametrize("name", ["keep", "get"])
def test_a_bucket_that_does_not_answer_is_our_own_fault(name: str) -> None:
    road, kept = road_with()
    road.store(artifact_entry(1, "x" * MIB))
    kept.fail_next(name, Unavailable("bucket"))

    with pytest.raises(Unavailable):
        road.delivery.answer(road.webhook().doorbell, lambda: 300)

    assert (road.posts(), road.webhook().state) == ([], WebhookState.ACTIVE)
    road.run()
    assert road.numbers() == [1]


def test_what_is_large_for_something_else_than_parts_is_sent_as_it_is() -> None:
    road, _ = road_with()
    body = json.loads(artifact_entry(1).body)
    body["artifactUpdate"]["metadata"] = {"x": "y" * MIB}
    entry = replace(artifact_entry(1), body=json.dumps(body, separators=(",", ":")))
    road.store(entry)
    road.transport.script(URL, answer(413))
    road.run()

    assert road.posts()[0].body == entry.body.encode()
