"""The operations' requests and lists."""

from __future__ import annotations

from typing import Any

import pytest

from herald.protocol import requests
from herald.protocol.errors import InvalidParamsError
from herald.protocol.model import Task, TaskPushNotificationConfig
from herald.protocol.protojson import Model
from herald.protocol.states import TaskState

M = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}


def violations(model: type[Model], obj: Any) -> dict[str, str]:
    with pytest.raises(InvalidParamsError) as caught:
        model.parse(obj)
    return {each.field: each.description for each in caught.value.violations}


def test_send_message_is_read_with_its_configuration() -> None:
    request = requests.SendMessageRequest.parse(
        {
            "message": M,
            "configuration": {
                "acceptedOutputModes": ["text/plain"],
                "taskPushNotificationConfig": {"url": "https://x.example"},
                "historyLength": 0,
                "returnImmediately": True,
            },
            "metadata": {"idempotencyKey": "k"},
        }
    )
    assert request.message.parts[0].text == "hi"
    assert request.configuration is not None
    assert request.configuration.accepted_output_modes == ["text/plain"]
    assert request.configuration.task_push_notification_config == TaskPushNotificationConfig(url="https://x.example")
    assert request.configuration.history_length == 0
    assert request.configuration.return_immediately is True
    assert request.metadata == {"idempotencyKey": "k"}


def test_b22_the_old_name_blocking_is_ignored() -> None:
    request = requests.SendMessageRequest.parse({"message": M, "configuration": {"blocking": False}})
    assert request.configuration is not None
    assert request.configuration.return_immediately is False
    assert request.configuration.history_length is None


def test_a8_a_clients_message_has_the_role_user_an_id_and_a_part() -> None:
    assert violations(requests.SendMessageRequest, {}) == {"message": "is required"}
    assert violations(requests.SendMessageRequest, {"message": {**M, "parts": []}}) == {
        "message.parts": "must not be empty"
    }
    assert violations(requests.SendMessageRequest, {"message": {**M, "messageId": ""}}) == {
        "message.messageId": "must not be empty"
    }
    for role in ("ROLE_AGENT", 2):
        assert violations(requests.SendMessageRequest, {"message": {**M, "role": role}}) == {
            "message.role": "must be ROLE_USER in a message from a client"
        }
    assert list(violations(requests.SendMessageRequest, {"message": {**M, "role": "ROLE_UNSPECIFIED"}})) == [
        "message.role"
    ]


@pytest.mark.parametrize(
    ("name", "path"), [("contextId", "contextId"), ("context_id", "contextId"), ("taskId", "taskId")]
)
def test_g6_an_empty_context_or_task_id_is_refused(name: str, path: str) -> None:
    assert violations(requests.SendMessageRequest, {"message": {**M, name: ""}}) == {
        f"message.{path}": "must not be empty; leave it out to let the agent choose"
    }


def test_paths_of_a_send_begin_where_the_caller_says() -> None:
    with pytest.raises(InvalidParamsError) as caught:
        requests.SendMessageRequest.parse({"message": {**M, "role": 2}}, "params")
    assert caught.value.violations[0].field == "params.message.role"


@pytest.mark.parametrize(("said", "length"), [(0, 0), (5, 5), ("5", 5), (5.0, 5), (None, None), (2**31 - 1, 2**31 - 1)])
def test_history_length_is_a_number_or_unset(said: Any, length: int | None) -> None:
    assert requests.GetTaskRequest.parse({"id": "t", "historyLength": said}).history_length == length
    assert requests.GetTaskRequest.parse({"id": "t", "history_length": said}).history_length == length


@pytest.mark.parametrize(
    "said", [-1, "-1", 1.5, "x", "", "1e2", " 5", True, [], 2**31, "99999999999999999999", float("inf")]
)
def test_a24_a_history_length_that_isnt_a_count_is_refused(said: Any) -> None:
    for request in ({"id": "t", "historyLength": said}, {"id": "t", "history_length": said}):
        assert list(violations(requests.GetTaskRequest, request)) == ["historyLength"]
    assert list(violations(requests.SendMessageRequest, {"message": M, "configuration": {"historyLength": said}})) == [
        "configuration.historyLength"
    ]


def test_a_negative_history_length_is_told_the_bound() -> None:
    assert violations(requests.GetTaskRequest, {"id": "t", "historyLength": -1}) == {
        "historyLength": "must be at least 0"
    }


@pytest.mark.parametrize(
    "model",
    [requests.GetTaskRequest, requests.CancelTaskRequest, requests.SubscribeToTaskRequest],
)
def test_requests_about_a_task_need_its_id(model: type[Model]) -> None:
    assert violations(model, {}) == {"id": "is required"}
    assert violations(model, {"id": ""}) == {"id": "must not be empty"}
    assert violations(model, {"id": 5}) == {"id": "must be a string"}
    assert model.parse({"id": "t", "tenant": "x"}).wire() == {"tenant": "x", "id": "t"}


@pytest.mark.parametrize(
    "model", [requests.GetTaskPushNotificationConfigRequest, requests.DeleteTaskPushNotificationConfigRequest]
)
def test_requests_about_a_config_need_both_ids(model: type[Model]) -> None:
    assert violations(model, {}) == {"taskId": "is required", "id": "is required"}


def test_a_config_that_is_created_needs_its_task_and_url() -> None:
    create = requests.CreateTaskPushNotificationConfigRequest
    assert violations(create, {}) == {"taskId": "is required", "url": "is required"}
    config = create.parse({"taskId": "t", "url": "https://x.example", "id": "c"})
    assert isinstance(config, TaskPushNotificationConfig)
    assert config.wire() == {"id": "c", "taskId": "t", "url": "https://x.example"}


def test_a_list_request_is_read_with_its_filters() -> None:
    request = requests.ListTasksRequest.parse(
        {
            "contextId": "c",
            "status": "TASK_STATE_WORKING",
            "pageSize": "10",
            "pageToken": "p",
            "historyLength": 1,
            "statusTimestampAfter": "2025-10-28T10:30:00.0001Z",
            "includeArtifacts": False,
        }
    )
    assert request.status is TaskState.WORKING
    assert request.page_size == 10
    assert request.status_timestamp_after == 1_761_647_400_001
    assert request.include_artifacts is False
    assert requests.ListTasksRequest.parse({}) == requests.ListTasksRequest()


@pytest.mark.parametrize("status", ["working", "foo", "TASK_STATE_UNSPECIFIED", 0, ""])
def test_a16_an_unknown_status_filter_is_an_error(status: Any) -> None:
    assert list(violations(requests.ListTasksRequest, {"status": status})) == ["status"]


@pytest.mark.parametrize(
    ("size", "says"), [(0, "must be at least 1"), (-1, "must be at least 1"), (101, "must be at most 100")]
)
def test_e7_the_page_size_has_bounds(size: int, says: str) -> None:
    assert violations(requests.ListTasksRequest, {"pageSize": size}) == {"pageSize": says}


def test_e8_unknown_list_parameters_are_ignored() -> None:
    assert requests.ListTasksRequest.parse({"limit": 5, "cursor": "x"}) == requests.ListTasksRequest()


def test_e1_a_list_of_tasks_writes_all_four_fields() -> None:
    empty = requests.ListTasksResponse(tasks=[], next_page_token="", page_size=50, total_size=0)
    assert empty.wire() == {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}


def test_e5_listed_tasks_are_bare() -> None:
    task = {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}
    page = requests.ListTasksResponse(tasks=[Task.parse(task)], next_page_token="n", page_size=1, total_size=2)
    assert page.wire() == {"tasks": [task], "nextPageToken": "n", "pageSize": 1, "totalSize": 2}


def test_a_list_of_configs_leaves_out_what_is_empty() -> None:
    config = TaskPushNotificationConfig(id="c", task_id="t", url="https://x.example")
    response = requests.ListTaskPushNotificationConfigsResponse
    assert response().wire() == {}
    assert response(configs=[config]).wire() == {"configs": [{"id": "c", "taskId": "t", "url": "https://x.example"}]}


def test_a_request_for_a_list_of_configs() -> None:
    request = requests.ListTaskPushNotificationConfigsRequest
    assert request.parse({"taskId": "t"}).page_size == 0
    assert violations(request, {"pageSize": -1}) == {"taskId": "is required", "pageSize": "must be at least 0"}


def test_a_request_for_the_extended_card() -> None:
    assert requests.GetExtendedAgentCardRequest.parse({"tenant": "x"}).tenant == "x"
