"""The bytes of a notification."""

from __future__ import annotations

import json

import pytest

from builders.records import a_ref, artifact_entry, message_entry, run_entry, status_entry
from herald.delivery import message
from herald.protocol.states import TaskState
from herald.records import Entry

ODD = '{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_WORKING"},"metadata":{"n":1.10,"e":"é","z":null}}}'


def test_an_update_is_sent_as_the_very_text_that_is_stored() -> None:
    entry = Entry(3, "status", ODD, at=7, writer="w", turn=0, state=TaskState.WORKING, traceparent="00-a-b-01")

    notification = message.of_entry(entry)

    assert notification.body == ODD.encode()
    assert (notification.number, notification.at, notification.traceparent) == (3, 7, "00-a-b-01")
    assert not notification.ends_task


def test_a_terminal_status_ends_the_task() -> None:
    assert message.of_entry(status_entry(2, TaskState.FAILED)).ends_task
    assert not message.of_entry(status_entry(2, TaskState.INPUT_REQUIRED)).ends_task


@pytest.mark.parametrize("entry", [message_entry(0), run_entry(1)])
def test_messages_and_runs_are_never_sent(entry: Entry) -> None:
    assert not message.is_sent(entry)
    with pytest.raises(ValueError, match="never sent"):
        message.of_entry(entry)


def test_a_snapshot_is_the_fold_of_the_log_and_equal_each_time() -> None:
    entries = [
        message_entry(0),
        run_entry(1),
        status_entry(2),
        artifact_entry(3, "a"),
        artifact_entry(4, "b", append=True),
    ]

    notification = message.of_snapshot(a_ref(), entries)

    assert notification.body == message.of_snapshot(a_ref(), list(entries)).body
    task = json.loads(notification.body)["task"]
    assert task["id"] == a_ref().task_id
    assert task["status"]["state"] == "TASK_STATE_WORKING"
    assert task["artifacts"] == [{"artifactId": "a1", "parts": [{"text": "a"}, {"text": "b"}]}]
    assert [one["messageId"] for one in task["history"]] == ["m1"]
    assert notification.number == 4


def test_a_snapshot_is_compact_raw_utf_8() -> None:
    body = message.of_snapshot(
        a_ref(), [message_entry(0, {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "é"}]})]
    )

    assert "é".encode() in body.body
    assert b": " not in body.body


def test_a_snapshot_above_1_mib_leaves_its_history_out() -> None:
    large = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "x" * 1_048_576}]}

    task = json.loads(message.of_snapshot(a_ref(), [message_entry(0, large), artifact_entry(1)]).body)["task"]

    assert "history" not in task
    assert task["artifacts"]


def test_a_snapshot_of_an_ended_task_ends_it() -> None:
    assert message.of_snapshot(a_ref(), [message_entry(0), status_entry(1, TaskState.CANCELED)]).ends_task
    assert not message.of_snapshot(a_ref(), [message_entry(0)]).ends_task


def test_a_message_id_holds_key_and_padded_number() -> None:
    assert message.message_id("k" * 26, 7) == "msg_kkkkkkkkkkkkkkkkkkkkkkkkkk_000000000007"


def test_c16_no_notification_holds_a_member_of_0_3() -> None:
    for entry in (status_entry(1, TaskState.COMPLETED, "done"), artifact_entry(2)):
        body = json.loads(message.of_entry(entry).body)
        assert not {"final", "kind"} & {name for value in body.values() for name in value}


def test_the_representation_holds_no_body() -> None:
    assert "step" not in repr(message.of_entry(status_entry(1, text="step")))
