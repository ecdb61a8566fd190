"""The data model by the rules of ProtoJSON."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from herald.protocol import codec
from herald.protocol.errors import InvalidParamsError
from herald.protocol.model import (
    Artifact,
    AuthenticationInfo,
    Message,
    Part,
    Role,
    SendMessageResponse,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskPushNotificationConfig,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from herald.protocol.protojson import Model
from herald.protocol.states import TaskState

M = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}


def violations(model: type[Model], obj: Any, at: str = "") -> dict[str, str]:
    with pytest.raises(InvalidParamsError) as caught:
        model.parse(obj, at)
    return {each.field: each.description for each in caught.value.violations}


def test_a_message_is_read_and_written() -> None:
    message = Message.parse(M)
    assert message == Message(message_id="m1", role=Role.USER, parts=[Part(text="hi")])
    assert message.wire() == M


def test_names_come_in_as_camel_case_or_snake_case_and_go_out_as_camel_case() -> None:
    snake = {"message_id": "m1", "context_id": "c", "role": "ROLE_USER", "parts": [{"text": "x", "media_type": "a/b"}]}
    assert Message.parse(snake).wire() == {
        "messageId": "m1",
        "contextId": "c",
        "role": "ROLE_USER",
        "parts": [{"text": "x", "mediaType": "a/b"}],
    }


def test_fields_go_out_in_the_order_of_the_proto() -> None:
    shuffled = {
        "referenceTaskIds": ["t0"],
        "extensions": ["urn:x"],
        "metadata": {"k": 1},
        "parts": [{"mediaType": "a/b", "filename": "f", "metadata": {}, "text": "x"}],
        "role": "ROLE_AGENT",
        "taskId": "t",
        "contextId": "c",
        "messageId": "m",
    }
    assert codec.dumps(Message.parse(shuffled).wire()) == (
        '{"messageId":"m","contextId":"c","taskId":"t","role":"ROLE_AGENT",'
        '"parts":[{"text":"x","metadata":{},"filename":"f","mediaType":"a/b"}],'
        '"metadata":{"k":1},"extensions":["urn:x"],"referenceTaskIds":["t0"]}'
    )


def test_unknown_fields_are_ignored() -> None:
    assert Message.parse({**M, "kind": "message", "final": True, "parts": [{"kind": "text", "text": "hi"}]}).wire() == M


def test_null_is_absent() -> None:
    message = {**M, "contextId": None, "taskId": None, "metadata": None, "extensions": None, "referenceTaskIds": None}
    assert Message.parse(message).wire() == M
    assert violations(Message, {**M, "messageId": None}) == {"messageId": "is required"}


def test_empty_values_are_left_out() -> None:
    assert Message.parse({**M, "contextId": "", "extensions": [], "referenceTaskIds": []}).wire() == M
    event = TaskArtifactUpdateEvent.parse(
        {
            "taskId": "t",
            "contextId": "c",
            "artifact": {"artifactId": "a", "name": "", "parts": [{"text": "x", "filename": ""}]},
            "append": False,
            "lastChunk": False,
        }
    )
    assert event.wire() == {"taskId": "t", "contextId": "c", "artifact": {"artifactId": "a", "parts": [{"text": "x"}]}}


@pytest.mark.parametrize("data", [5, "s", False, [1, None], None, {}, [], "", 0, {"a": {"b": None}}])
def test_a10_data_is_any_json_value_and_comes_back(data: Any) -> None:
    wire = Part.parse({"data": data}).wire()
    assert wire == {"data": data}
    assert type(wire["data"]) is type(data)
    assert Part(data=data).wire() == {"data": data}
    assert Part.parse({"data": data}).kind == "data"


def test_a12_zero_false_and_empty_text_in_metadata_are_kept() -> None:
    metadata = {"n": 0, "f": False, "s": "", "l": [], "o": {}, "nothing": None}
    assert Message.parse({**M, "metadata": metadata}).wire()["metadata"] == metadata
    assert Message.parse({**M, "metadata": {}}).wire()["metadata"] == {}


def test_g3_numbers_in_data_and_metadata_keep_their_digits() -> None:
    text = '{"data":{"a":5,"b":1.10,"c":12345678901234567890123,"d":-0},"metadata":{"e":1e2}}'
    assert codec.dumps(Part.parse(codec.loads(text)).wire()) == text


@pytest.mark.parametrize("content", [{"text": ""}, {"raw": ""}, {"url": ""}, {"text": "x"}, {"url": "https://x"}])
def test_a_part_has_its_content_even_when_it_is_empty(content: dict[str, str]) -> None:
    part = Part.parse(content)
    assert part.wire() == content
    assert part.kind == next(iter(content))


@pytest.mark.parametrize(
    "part", [{}, {"text": None}, {"filename": "f"}, {"text": "a", "url": "b"}, {"raw": "", "data": 1}, {"kind": "text"}]
)
def test_a_part_with_no_content_or_two_is_refused(part: dict[str, Any]) -> None:
    assert violations(Message, {**M, "parts": [{"text": "x"}, part]}) == {
        "parts[1]": "must have exactly one of text, raw, url, data"
    }


def test_null_beside_a_content_is_absent() -> None:
    assert Part.parse({"text": "x", "raw": None, "url": None, "data": None}).wire() == {"text": "x"}
    assert Part.parse({"text": None, "raw": None, "url": None, "data": None}).wire() == {"data": None}


@pytest.mark.parametrize("raw", ["-_-_aA", "-_-_aA==", "+/+/aA", "+/+/aA=="])
def test_raw_content_is_bytes_and_goes_out_as_standard_base64(raw: str) -> None:
    part = Part.parse({"raw": raw})
    assert part.raw == b"\xfb\xff\xbfh"
    assert part.wire() == {"raw": "+/+/aA=="}


@pytest.mark.parametrize("raw", ["!", "a", "a b", 5, ["a"]])
def test_raw_content_that_isnt_base64_is_refused(raw: Any) -> None:
    assert list(violations(Part, {"raw": raw})) == ["raw"]


def test_the_text_of_an_error_may_hold_braces() -> None:
    assert violations(Part, {"text": "x", "metadata": ["{a}"]}) == {"metadata": "must be an object"}


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("TASK_STATE_SUBMITTED", 1),
        ("TASK_STATE_WORKING", 2),
        ("TASK_STATE_COMPLETED", 3),
        ("TASK_STATE_FAILED", 4),
        ("TASK_STATE_CANCELED", 5),
        ("TASK_STATE_INPUT_REQUIRED", 6),
        ("TASK_STATE_REJECTED", 7),
        ("TASK_STATE_AUTH_REQUIRED", 8),
    ],
)
def test_a14_a15_states_come_in_by_name_or_number_and_go_out_by_name(name: str, number: int) -> None:
    for said in (name, number):
        status = TaskStatus.parse({"state": said})
        assert status.wire() == {"state": name}
        assert status.state is TaskState(name)
    assert type(TaskStatus(state=TaskState(name)).wire()["state"]) is str


@pytest.mark.parametrize(
    "state", ["working", "TASK_STATE_UNSPECIFIED", "task_state_working", "", 0, 9, -1, True, 1.0, []]
)
def test_a16_an_unknown_state_is_an_error(state: Any) -> None:
    assert violations(TaskStatus, {"state": state})["state"].startswith("must be one of TASK_STATE_SUBMITTED, ")


@pytest.mark.parametrize("role", ["user", "ROLE_UNSPECIFIED", 0, 3])
def test_an_unknown_role_is_an_error(role: Any) -> None:
    assert violations(Message, {**M, "role": role}) == {"role": "must be one of ROLE_USER, ROLE_AGENT"}


def test_roles_come_in_by_number() -> None:
    assert Message.parse({**M, "role": 2}).role is Role.AGENT


def test_times_are_milliseconds_inside_and_utc_text_outside() -> None:
    status = TaskStatus.parse({"state": "TASK_STATE_WORKING", "timestamp": "2025-10-28T12:30:00+02:00"})
    assert status.timestamp == 1_761_647_400_000
    assert status.wire() == {"state": "TASK_STATE_WORKING", "timestamp": "2025-10-28T10:30:00.000Z"}
    assert TaskStatus(state=TaskState.WORKING, timestamp=0).wire()["timestamp"] == "1970-01-01T00:00:00.000Z"


@pytest.mark.parametrize("time", [0, 1_761_647_400_000, "now", "2025-10-28", True, {}])
def test_a_time_that_isnt_rfc_3339_text_is_refused(time: Any) -> None:
    assert list(violations(TaskStatus, {"state": 1, "timestamp": time})) == ["timestamp"]


def test_a8_wrong_fields_are_named_by_camel_case_paths() -> None:
    assert violations(Message, {}) == {"messageId": "is required", "role": "is required", "parts": "is required"}
    assert violations(Message, {**M, "parts": []}, "message") == {"message.parts": "must not be empty"}
    wrong = {
        "message_id": 5,
        "role": "ROLE_USER",
        "contextId": False,
        "parts": [{"text": "x"}, {"url": [], "media_type": 1}],
        "metadata": 3,
        "extensions": "urn:x",
        "reference_task_ids": ["a", None],
    }
    assert violations(Message, wrong, "message") == {
        "message.messageId": "must be a string",
        "message.contextId": "must be a string",
        "message.parts[1].url": "must be a string",
        "message.parts[1].mediaType": "must be a string",
        "message.metadata": "must be an object",
        "message.extensions": "must be an array",
        "message.referenceTaskIds[1]": "must be a string",
    }


def test_an_error_says_all_that_is_wrong_in_one_sentence() -> None:
    with pytest.raises(InvalidParamsError) as caught:
        Message.parse({"role": "ROLE_USER", "parts": []}, "message")
    assert str(caught.value) == "message.messageId: is required; message.parts: must not be empty"
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("part", ["x", 5, None, []])
def test_a_part_that_isnt_an_object_is_refused(part: Any) -> None:
    assert violations(Message, {**M, "parts": [{"text": "x"}, part]}) == {"parts[1]": "must be an object"}


def test_of_many_wrong_parts_the_first_is_named() -> None:
    assert list(violations(Message, {**M, "parts": [{"text": "x"}] + [{}] * 5000})) == ["parts[1]"]


@pytest.mark.parametrize("obj", [None, "x", 5, [], [M]])
def test_what_isnt_an_object_is_refused(obj: Any) -> None:
    assert violations(Message, obj, "message") == {"message": "must be an object"}
    with pytest.raises(InvalidParamsError, match="the request: must be an object"):
        Message.parse(obj)


def test_text_isnt_made_of_other_types() -> None:
    assert violations(TaskArtifactUpdateEvent, {"append": "true", "last_chunk": 1}) == {
        "taskId": "is required",
        "contextId": "is required",
        "artifact": "is required",
        "append": "must be true or false",
        "lastChunk": "must be true or false",
    }


def test_half_a_surrogate_pair_is_refused() -> None:
    assert violations(Message, {**M, "messageId": "\ud800"}) == {"messageId": "must be valid Unicode"}


@pytest.mark.parametrize("field", ["messageId", "role", "parts"])
def test_required_fields_of_a_message(field: str) -> None:
    assert violations(Message, {name: value for name, value in M.items() if name != field}) == {field: "is required"}


def test_g6_required_text_may_not_be_empty() -> None:
    assert violations(Message, {**M, "messageId": ""}) == {"messageId": "must not be empty"}
    assert violations(Artifact, {"artifactId": "", "parts": []}) == {
        "artifactId": "must not be empty",
        "parts": "must not be empty",
    }


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_data_may_have_a_hundred_levels_and_no_more() -> None:
    assert Part(data=nested(100)).kind == "data"
    assert violations(Part, {"data": nested(101)}) == {"data": "must not have more than 100 levels"}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (math.nan, "must not hold NaN or Infinity"),
        ({"a": [math.inf]}, "must not hold NaN or Infinity"),
        ({"a": {1, 2}}, "must hold JSON values only, not set"),
        ([b"x"], "must hold JSON values only, not bytes"),
        ({1: "x"}, "must have strings as the keys of its objects"),
    ],
)
def test_an_agent_is_told_when_its_data_isnt_json(data: Any, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Part(data=data)


def test_data_that_holds_itself_is_refused() -> None:
    parent: dict[str, Any] = {}
    parent["children"] = [{"parent": parent}, {"parent": parent}]
    with pytest.raises(ValidationError, match="levels"):
        Part(data=parent)


def test_models_are_frozen() -> None:
    message = Message.parse(M)
    with pytest.raises(ValidationError):
        message.context_id = "c"


def test_a_task_is_read_and_written() -> None:
    task = {
        "id": "t",
        "contextId": "c",
        "status": {"state": "TASK_STATE_COMPLETED", "message": M, "timestamp": "2025-10-28T10:30:00.000Z"},
        "artifacts": [{"artifactId": "a", "name": "n", "description": "d", "parts": [{"data": None}]}],
        "history": [M],
        "metadata": {"k": "v"},
    }
    assert Task.parse(task).wire() == task
    assert Task.parse({"id": "t", "status": {"state": 1}}).wire() == {
        "id": "t",
        "status": {"state": "TASK_STATE_SUBMITTED"},
    }


def test_stream_and_send_responses_have_exactly_one_payload() -> None:
    update = {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}
    assert StreamResponse.parse({"status_update": update}).wire() == {"statusUpdate": update}
    assert StreamResponse(status_update=TaskStatusUpdateEvent.parse(update)).wire() == {"statusUpdate": update}
    assert SendMessageResponse.parse({"message": M, "task": None}).wire() == {"message": M}
    names = "must have exactly one of task, message, statusUpdate, artifactUpdate"
    assert violations(StreamResponse, {}) == {"": names}
    assert violations(StreamResponse, {"message": M, "statusUpdate": update}) == {"": names}


def test_a_push_notification_config_shows_no_secret() -> None:
    config = TaskPushNotificationConfig(
        url="https://x.example",
        token="tok-secret",
        authentication=AuthenticationInfo(scheme="Bearer", credentials="cred-secret"),
    )
    assert "secret" not in repr(config)
    assert config.wire() == {
        "url": "https://x.example",
        "token": "tok-secret",
        "authentication": {"scheme": "Bearer", "credentials": "cred-secret"},
    }
    with pytest.raises(ValidationError) as caught:
        TaskPushNotificationConfig(url="", token="tok-secret")
    assert "secret" not in str(caught.value)


def test_a_push_notification_config_names_its_wrong_fields() -> None:
    assert violations(
        TaskPushNotificationConfig, {"authentication": {}}, "configuration.taskPushNotificationConfig"
    ) == {
        "configuration.taskPushNotificationConfig.url": "is required",
        "configuration.taskPushNotificationConfig.authentication.scheme": "is required",
    }
