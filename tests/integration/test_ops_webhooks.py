"""What an operator sees of webhooks and does about them, on moto, with a receiver on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from unittest import mock

import boto3
import pytest
from botocore.exceptions import ClientError

from builders.receivers import Receiver, receiver
from builders.stores import TABLE
from herald.adapters.aws import AwsClients
from herald.protocol.states import TaskState
from herald.records import TaskRef
from integration.delivery_scene import Scene, delivery_scene, statuses
from integration.operator import Operator, lost_records, operator

OWNER = "--owner=alice"
HIDDEN = ("s3cret", "t0ken", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3")


@dataclass
class Night:
    """The stack, and who was woken."""

    scene: Scene
    operator: Operator

    def send(self, here: Receiver) -> TaskRef:
        """A task whose webhook has secrets wherever it can have one."""
        url = f"http://127.0.0.1:{here.port}/hook?key=s3cret"
        ref = self.scene.new_task(url, token=HIDDEN[2], authentication={"scheme": "Bearer", "credentials": "t0ken"})
        self.scene.stack.pump()
        return ref

    def append(self, ref: TaskRef, state: TaskState) -> None:
        self.scene.append(ref, state)
        self.scene.stack.pump()

    def row(self, *words: str) -> list[str]:
        """The cells of the one webhook that is listed."""
        row: list[str] = next(line for line in self.operator.type("webhooks", *words) if "/cfg " in line).split("  ")
        return [cell.strip() for cell in row if cell.strip()]


@pytest.fixture
def night() -> Iterator[Night]:
    with delivery_scene() as scene, operator() as found:
        yield Night(scene, found)
        assert not [secret for secret in HIDDEN if secret in found.said]


def ids(here: Receiver) -> list[str]:
    """The webhook-ids that a receiver got, their numbers only."""
    heads = [request.partition(b"\r\n\r\n")[0].decode().lower() for request in here.requests]
    return [
        line.rpartition("_")[2][-2:] for head in heads for line in head.split("\r\n") if line.startswith("webhook-id")
    ]


def test_a_failing_webhook_is_found_with_its_attempts(night: Night) -> None:
    with receiver(statuses(503)) as here:
        ref = night.send(here)
        name = f"{ref.task_id}/cfg"
        cells = night.row()
        assert cells[:5] == [name, "failing", "-/0", "1", "1"]
        assert cells[5].startswith("in ")
        assert cells[6:] == ["-", f"http://127.0.0.1:{here.port}/hook?[hidden]"]

        head, state, delivered, _, _, attempt = night.operator.type("attempts", ref.task_id, OWNER)
        assert head == f"{name} to http://127.0.0.1:{here.port}/hook?[hidden]"
        assert (state, delivered) == ("failing, cursor - of 0, 1 notification to send", "nothing delivered yet")
        assert attempt.split()[4:8] == ["#0", "1", "http_5xx", "503"]
        told = night.operator.json("attempts", name, OWNER)
        assert [(each["entry"], each["outcome"], each["status"]) for each in told["attempts"]] == [(0, "http_5xx", 503)]
        assert told["webhook"]["hasSecrets"] is True
        assert "sealed" not in told["webhook"]


def test_entries_wait_for_a_paused_webhook_and_arrive_when_it_is_resumed(night: Night) -> None:
    with receiver(statuses()) as here:
        ref = night.send(here)
        name = f"{ref.task_id}/cfg"
        assert night.operator.type("pause", name, OWNER) == [f"{name} is paused: entries from #1 on wait in the log."]
        night.append(ref, TaskState.WORKING)
        night.append(ref, TaskState.COMPLETED)
        assert ids(here) == ["00"]
        assert night.row()[:4] == [name, "paused", "0/2", "2"]
        assert night.row("--state=paused")[:2] == [name, "paused"]
        assert night.operator.type("webhooks", "--state=disabled") == ["No webhook is disabled."]
        hints = night.operator.json("task", ref.task_id, OWNER)["hints"]
        assert hints == [f"Webhook cfg is paused. Send what waits: resume {name}"]

        night.operator.type("resume", name, OWNER)
        night.scene.stack.pump()
        assert ids(here) == ["00", "01", "02"]
        assert night.operator.type("webhooks") == ["No webhook is disabled, failing or paused."]
        assert night.row(ref.task_id, OWNER)[:4] == [name, "active", "2/2", "0"]


def test_a_disabled_webhook_is_found_mended_and_resumed(night: Night) -> None:
    with receiver(statuses(204, 410)) as here:
        ref = night.send(here)
        name = f"{ref.task_id}/cfg"
        night.append(ref, TaskState.WORKING)
        listed = night.operator.type("webhooks")
        assert night.row()[:4] == [name, "disabled", "0/1", "1"]
        assert listed[-1] == f"{name}: gone: the receiver answered 410"
        assert night.row(OWNER)[1] == "disabled"
        (hint,) = night.operator.json("task", ref.task_id, OWNER)["hints"]
        assert hint == f"Webhook cfg is disabled. See why: attempts {name}   Send what waits: resume {name}"
        assert night.operator.type("attempts", name, OWNER)[-1].split()[4:8] == ["#1", "1", "gone", "410"]

        (told,) = night.operator.type("resume", name, OWNER)
        assert told == (
            f"{name} is resumed: what waits is sent now, from #1 on, with the whole schedule ahead, and called failing"
            " until all of it has arrived."
        )
        night.scene.stack.pump()
        assert ids(here) == ["00", "01", "01"]
        assert night.operator.type("webhooks") == ["No webhook is disabled, failing or paused."]


def test_a_replay_arrives_under_the_ids_that_the_receiver_knows(night: Night) -> None:
    with receiver(statuses()) as here:
        ref = night.send(here)
        name = f"{ref.task_id}/cfg"
        for state in (TaskState.WORKING, TaskState.COMPLETED):
            night.append(ref, state)
        assert ids(here) == ["00", "01", "02"]
        assert night.operator.type("replay", name, "--from=#1", OWNER) == [
            f"{name} goes back: it is sent everything again from #1 on, under the webhook-ids that the receiver knows."
        ]
        night.scene.stack.pump()
        assert ids(here) == ["00", "01", "02", "01", "02"]
        night.operator.type("replay", name, OWNER)
        night.scene.stack.pump()
        assert ids(here)[5:] == ["00", "01", "02"]

        assert night.operator.type("replay", name, "--from=9", OWNER, code=2) == []
        assert night.operator.err == (
            f"{name}: number 9 lies ahead: the webhook has dealt with 2, and a replay passes over nothing."
            " Use skip to pass over what waits.\n"
        )


def test_a_skip_sends_a_snapshot_in_the_place_of_what_waits(night: Night) -> None:
    with receiver(statuses()) as here:
        ref = night.send(here)
        name = f"{ref.task_id}/cfg"
        night.operator.type("pause", name, OWNER)
        night.append(ref, TaskState.WORKING)
        night.append(ref, TaskState.COMPLETED)
        passed, stays = night.operator.type("skip", name, OWNER)
        assert passed == (
            f"{name} passes over 2 log entries: a snapshot of the task as it is comes next, then what follows #2."
            f" Take it back: replay {name} --from 1."
        )
        assert stays == f"It stays paused; to send: resume {name}"
        night.operator.type("resume", name, OWNER)
        night.scene.stack.pump()
        assert len(here.requests) == 2
        assert here.requests[1].partition(b"\r\n\r\n")[2].startswith(b'{"task":')


def test_what_isnt_there_is_told_in_one_line(night: Night) -> None:
    with receiver(statuses()) as here:
        ref = night.send(here)
    for words, told in (
        (
            ("pause", f"{ref.task_id}/other", OWNER),
            f"Task {ref.task_id} has no webhook other. It has: {ref.task_id}/cfg",
        ),
        (("pause", "nothing/x", OWNER), "Task nothing has no webhook, or isn't this owner's."),
        (("attempts", "nothing"), "There is no task nothing in stack herald."),
        (("task", ref.task_id, "--owner=bob"), f"There is no task {ref.task_id} of this owner."),
    ):
        night.operator.type(*words, code=2)
        assert told in night.operator.err
        assert "Traceback" not in night.operator.err


# ---- what was given up ----


def poison(ref: TaskRef) -> None:
    """A webhook that Herald didn't write: it passes the stream's filter, and can't be read."""
    item = {"sk": "PUSH#imported", "v": "1", "snapshot": "due", "target": "https://elsewhere.example"}
    boto3.client("dynamodb").put_item(
        TableName=TABLE,
        Item={
            "pk": {"S": f"TASK##alice#{ref.task_id}"},
            "expiresAt": {"N": "4000000000"},
            **{name: {"S": value} for name, value in item.items()},
        },
    )


def test_a_poisoned_stream_record_is_found_and_mended(night: Night) -> None:
    with receiver(statuses()) as here:
        ref = night.send(here)
        poison(ref)
        before = len(night.scene.stack.records())
        night.scene.append(ref, TaskState.COMPLETED)
        # Both records fail for good: a poisoned webhook hides those of its task from the reader.
        failed = night.scene.stack.records()[before - 1 :]
        response = night.scene.stack.invoke("ring_webhooks", {"Records": failed})
        assert len(response["batchItemFailures"]) == 2
        night.scene.stack.read["ring_webhooks"] = before + len(failed)  # Lambda gives up
        night.operator.put("LostRecords", lost_records(failed, "herald-ring"))

        told = night.operator.type("drain-dead-letters", "--dry-run")
        assert told[0] == "DeadDoorbells: empty"
        assert told[1] == "LostRecords: 1"
        assert "stream records that ring_webhooks gave up on (RetryAttemptsExhausted)" in told[3]
        holds = f"Task {ref.task_id} holds what Herald can't read: PUSH#imported (it has no state)."
        assert told[4].startswith(f"    {holds}")
        assert told[-1] == "Nothing was changed: this was a dry run."

        told = night.operator.type("drain-dead-letters", code=3)
        assert any(holds in line and f"remove-unreadable {ref.task_id}" in line for line in told)
        assert told[-1].startswith("0 letters settled and deleted; 1 left.")
        # What can be read is shown all the same, and beside it what can't.
        told = night.operator.type("task", ref.task_id, OWNER)
        assert any("#1 status" in line for line in told)
        assert any(line.startswith(f"{ref.task_id}/cfg") for line in told)
        assert told[-1].startswith(holds)
        assert night.operator.type("webhooks", ref.task_id, OWNER)[1].startswith(f"{ref.task_id}/cfg")
        assert holds in night.operator.err

        assert night.operator.type("remove-unreadable", ref.task_id, OWNER, "--dry-run")[1].split("  ") == [
            "PUSH#imported",
            "would be deleted",
            "it has no state",
            "expiresAt, snapshot, target, v",
        ]
        assert night.operator.type("remove-unreadable", ref.task_id, OWNER)[-1] == (
            "Put right what it held up: drain-dead-letters"
        )
        told = night.operator.type("drain-dead-letters")
        assert f"    task {ref.task_id}: rang for 1 webhook" in told
        assert told[-1] == "1 letter settled and deleted."
        assert night.operator.left("LostRecords") == 0
        night.scene.stack.pump()
        assert ids(here) == ["00", "01"]

        # A second letter of the same record, after its webhook has been rung for.
        night.operator.put("LostRecords", lost_records(failed, "herald-ring"))
        assert night.operator.type("drain-dead-letters", "--dry-run")[4] == f"    of task {ref.task_id}"
        told = night.operator.type("drain-dead-letters")
        assert f"    task {ref.task_id}: no webhook is behind, there was nothing to ring for any more" in told


def test_a_dead_doorbell_is_rung_again(night: Night) -> None:
    with receiver(statuses()) as here:
        ref = night.send(here)
        key = night.scene.webhook(ref).key
        night.scene.append(ref, TaskState.COMPLETED)
        night.scene.stack.read["ring_webhooks"] = len(night.scene.stack.records())  # its doorbell has died
        bell = {"v": 1, "tenant": "", "owner": "alice", "taskId": ref.task_id, "configId": "cfg", "key": key}
        night.operator.put("DeadDoorbells", bell)
        night.operator.put("DeadDoorbells", {**bell, "key": "another"})
        told = night.operator.type("drain-dead-letters")
        assert "    rung again; the webhook is active" in told
        assert "    the webhook is gone: nothing is owed" in told
        assert told[-1] == "2 letters settled and deleted."
        night.scene.stack.pump()
        assert ids(here) == ["00", "01"]


def test_a_doorbell_of_a_webhook_at_rest_is_settled(night: Night) -> None:
    with receiver(statuses(410)) as here:
        ref = night.send(here)
        key = night.scene.webhook(ref).key
        bell = {"v": 1, "tenant": "", "owner": "alice", "taskId": ref.task_id, "configId": "cfg", "key": key}
        night.operator.put("DeadDoorbells", bell)
        told = night.operator.type("drain-dead-letters")
        assert f"    the webhook is disabled: it rings when it is resumed (resume {ref.task_id}/cfg)" in told


def test_what_nobody_knows_stays_until_it_is_discarded(night: Night) -> None:
    letter = night.operator.put("LostRecords", "hello", ERROR_CODE="NO_PERMISSIONS")
    told = night.operator.json("drain-dead-letters", code=3)["letters"]
    assert told == [
        {
            "queue": "LostRecords",
            "id": letter,
            "sentAt": told[0]["sentAt"],
            "what": "a message that isn't one of Herald's",
            "why": {"ERROR_CODE": "NO_PERMISSIONS"},
            "done": "nothing is known of it",
            "settled": False,
        }
    ]
    assert night.operator.left("LostRecords") == 1
    night.operator.type("drain-dead-letters", f"--discard={letter}")
    assert night.operator.left("LostRecords") == 0


def test_the_schedules_own_event_is_settled(night: Night) -> None:
    night.operator.put("LostRecords", {"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}})
    assert "    sweep is called every minute: nothing is owed" in night.operator.type("drain-dead-letters")


@pytest.mark.parametrize("code", ["TrimmedDataAccessException", "ResourceNotFoundException"])
def test_records_that_the_stream_has_no_more_are_settled(night: Night, code: str) -> None:
    with receiver(statuses()) as here:
        night.send(here)
    night.operator.put("LostRecords", lost_records(night.scene.stack.records()[-1:], "herald-ring"))
    gone = ClientError({"Error": {"Code": code, "Message": ""}}, "GetShardIterator")
    client = mock.Mock(get_shard_iterator=mock.Mock(side_effect=gone))
    with mock.patch.object(AwsClients, "dynamodbstreams", client):
        looked = night.operator.type("drain-dead-letters", "--dry-run")
        told = night.operator.type("drain-dead-letters")
    assert "    the stream has it no more: sweep has looked at everything since" in looked
    assert "    the stream has it no more: sweep has looked at everything since" in told


def test_a_letter_that_names_no_place_in_the_stream_hides_no_other(night: Night) -> None:
    night.operator.put("LostRecords", {"DDBStreamBatchInfo": {"batchSize": 1}})
    assert "    a message that isn't one of Herald's" in night.operator.type("drain-dead-letters", "--dry-run")


def test_a_record_whose_key_is_no_tasks_is_settled(night: Night) -> None:
    foreign = {"pk": {"S": "TASK#x"}, "sk": {"S": "LOG#000000000001"}, "kind": {"S": "status"}}
    boto3.client("dynamodb").put_item(TableName=TABLE, Item={**foreign, "expiresAt": {"N": "4000000000"}})
    night.operator.put("LostRecords", lost_records(night.scene.stack.records()[-1:], "herald-ring"))
    assert "    TASK#x is no task's key: nothing is owed" in night.operator.type("drain-dead-letters")
