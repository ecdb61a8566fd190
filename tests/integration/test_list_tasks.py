"""ListTasks as Lambda loads it, over both bindings, on moto: an owner's tasks in one shard and in three."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import boto3
import pytest
from moto import mock_aws

from builders.api import sending
from builders.events import rest_event, rpc_event
from builders.stores import TABLE
from integration import pump
from integration.pump import Handler

Json = dict[str, Any]


class Api:
    """The function, called over one binding or the other."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def rpc(self, method: str, params: object, owner: str = "alice") -> Json:
        answer = self._handler(rpc_event(method, params, owner=owner), None)
        parsed: Json = json.loads(answer["body"])
        return parsed

    def rest(self, query: Mapping[str, object], owner: str = "alice") -> Json:
        text = {name: str(value) for name, value in query.items()}
        answer = self._handler(rest_event("GET", "/tasks", query=text, owner=owner), None)
        parsed: Json = json.loads(answer["body"])
        return parsed

    def page(self, binding: str, owner: str = "alice", **params: Any) -> Json:
        if binding == "HTTP+JSON":
            return self.rest({name: "true" if value is True else value for name, value in params.items()}, owner)
        page: Json = self.rpc("ListTasks", params, owner)["result"]
        return page

    def send(self, owner: str = "alice", **members: Any) -> str:
        task_id: str = self.rpc("SendMessage", sending(**members), owner)["result"]["task"]["id"]
        return task_id

    def walk(self, *bindings: str, owner: str = "alice", **params: Any) -> list[Json]:
        """The tasks of a walk that goes over these bindings in turn."""
        found: list[Json] = []
        for number in range(100):
            page = self.page(bindings[number % len(bindings)], owner, **params)
            found += page["tasks"]
            if not page["nextPageToken"]:
                return found
            params["pageToken"] = page["nextPageToken"]
        raise AssertionError("this walk doesn't end")


BOTH = ["JSONRPC", "HTTP+JSON"]


@pytest.fixture(params=[1, 3], ids="{0} shards".format)
def api(request: pytest.FixtureRequest) -> Iterator[Api]:
    with mock_aws(), pump.deployed({"HERALD_OWNER_SHARDS": str(request.param)}):
        yield Api(pump.load("api"))


def remove(task_id: str) -> None:
    """What TTL does."""
    client = boto3.client("dynamodb")
    for item in client.scan(TableName=TABLE)["Items"]:
        if item["pk"]["S"].endswith(f"#{task_id}"):
            client.delete_item(TableName=TABLE, Key={"pk": item["pk"], "sk": item["sk"]})


@pytest.mark.parametrize("bindings", [BOTH, BOTH[:1], BOTH[1:]], ids=str)
def test_a_walk_is_the_same_over_either_binding_and_over_both_in_turn(api: Api, bindings: list[str]) -> None:
    made = {api.send(messageId=f"m{number}") for number in range(7)}
    api.rpc("CancelTask", {"id": min(made)})

    found = api.walk(*bindings, pageSize=2)

    standing = [(task["status"]["timestamp"], task["id"]) for task in found]
    assert standing == sorted(standing, reverse=True)
    assert {task["id"] for task in found} == made
    assert len(found) == 7
    assert found == [api.rpc("GetTask", {"id": task["id"]})["result"] for task in found]


def test_w8_numbers_flags_states_and_times_are_read_from_a_query_string(api: Api) -> None:
    first = api.send(messageId="m1", contextId="a b&c")
    api.send(messageId="m2", contextId="a b&c")
    api.send(messageId="m3")
    canceled = api.rpc("CancelTask", {"id": first})["result"]

    page = api.rest(
        {
            "contextId": "a b&c",
            "status": "TASK_STATE_CANCELED",
            "pageSize": "1",
            "historyLength": "0",
            "statusTimestampAfter": canceled["status"]["timestamp"].replace("Z", "+00:00"),
            "includeArtifacts": "true",
            "pageToken": "",
        }
    )

    shown = {**canceled, "artifacts": []}
    del shown["history"]
    assert page == {"tasks": [shown], "nextPageToken": "", "pageSize": 1, "totalSize": 1}
    assert [task["id"] for task in api.rest({"context_id": "a b&c", "page_size": 1})["tasks"]] == [first]
    assert "artifacts" not in api.rest({"includeArtifacts": "false"})["tasks"][0]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"pageSize": "0"}, "must be at least 1"),
        ({"pageSize": "101"}, "must be at most 100"),
        ({"pageSize": "ten"}, "must be an integer"),
        ({"pageSize": ""}, "must be an integer"),
        ({"historyLength": "-1"}, "must be at least 0"),
        ({"status": "foo"}, "must be one of TASK_STATE_SUBMITTED, TASK_STATE_WORKING"),
        ({"status": ""}, "must be one of TASK_STATE_SUBMITTED, TASK_STATE_WORKING"),
        ({"includeArtifacts": "True"}, "must be true or false"),
        ({"includeArtifacts": "1"}, "must be true or false"),
        ({"statusTimestampAfter": "yesterday"}, "must be an RFC 3339 time like 2025-10-28T10:30:00.000Z"),
        ({"pageToken": "garbage"}, "isn't one of this list's"),
    ],
)
def test_a16_e7_what_is_wrong_in_a_query_string_is_told_by_its_field(query: Json, says: str) -> None:
    with mock_aws(), pump.deployed():
        error = Api(pump.load("api")).rest(query)["error"]

    assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    (violation,) = error["details"][1]["fieldViolations"]
    assert violation["field"] == next(iter(query))
    assert violation["description"].startswith(says)


def test_e3_a_walk_goes_on_after_a_cursor_that_is_gone(api: Api) -> None:
    for number in range(5):
        api.send(messageId=f"m{number}")
    everything = [task["id"] for task in api.walk("JSONRPC")]
    first = api.page("JSONRPC", pageSize=2)
    remove(everything[1])
    remove(everything[2])

    rest = api.walk("HTTP+JSON", pageSize=2, pageToken=first["nextPageToken"])

    assert [task["id"] for task in rest] == everything[3:]
    assert {page["totalSize"] for page in (first,)} == {5}


@pytest.mark.parametrize("binding", BOTH)
def test_invariant_6_nobody_walks_through_another_owners_tasks(api: Api, binding: str) -> None:
    alices = {api.send(messageId=f"m{number}", contextId="shared") for number in range(4)}
    bobs = {api.send(owner="bob", messageId=f"m{number}", contextId="shared") for number in range(3)}
    for params in ({}, {"contextId": "shared"}, {"status": "TASK_STATE_SUBMITTED"}):
        assert {task["id"] for task in api.walk(binding, owner="alice", pageSize=1, **params)} == alices
        assert {task["id"] for task in api.walk(binding, owner="bob", pageSize=1, **params)} == bobs
        nobodys = api.page(binding, owner="carol", **params)
        assert nobodys == {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}


@pytest.mark.parametrize("binding", BOTH)
def test_invariant_6_a_token_of_another_owners_is_answered_as_garbage_is(api: Api, binding: str) -> None:
    for owner in ("alice", "bob"):
        for number in range(3):
            api.send(owner=owner, messageId=f"m{number}")
    token = api.page(binding, pageSize=1)["nextPageToken"]
    version = token.split(".")[1]
    garbage = ["garbage", f"v1.{version}.AAAA", f"v1.{'0' * 36}.{token.split('.')[2]}", "v2" + token[2:]]

    def refused(sent: str, **params: Any) -> str:
        if binding == "JSONRPC":
            return json.dumps(api.rpc("ListTasks", {"pageToken": sent, **params}, "bob"))
        return json.dumps(api.rest({"pageToken": sent, **params}, "bob"))

    theirs = refused(token)

    assert '"field": "pageToken"' in theirs
    assert {refused(each) for each in garbage} == {theirs}
    assert refused(token, contextId="shared") == theirs
    assert len(api.walk(binding, pageToken=token)) == 2  # and its owner's it still is
