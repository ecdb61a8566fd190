"""What an operator sees of tasks, and what they do about one that is stuck, on moto with the state machine itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from moto import mock_aws

from builders.records import a_header, a_message, a_ref, a_webhook, message_entry, status_entry
from builders.stores import BUCKET, TABLE
from herald.adapters.aws import AwsClients
from herald.adapters.clock import RandomIds, SystemClock
from herald.adapters.dynamodb.log import DynamoTaskLog
from herald.adapters.s3 import S3Bodies
from herald.adapters.stepfunctions import execution_name
from herald.bootstrap import Platform
from herald.protocol.states import TaskState
from herald.records import Attempt, Header, TaskRef
from integration.operator import Operator, lost_records, operator
from integration.pump import MOTO, Stack, deployed, load

REF = a_ref()
WHOSE = ("--owner=alice", "--tenant=acme")
HOUR = 3_600_000


@dataclass
class Night:
    """The stack, its log, and who was woken."""

    stack: Stack
    log: DynamoTaskLog
    operator: Operator
    clock: SystemClock

    def send(self, text: str = "work complete", *, ref: TaskRef = REF, age: int = 0, **fields: Any) -> Header:
        """Make a task, as if ``age`` ms ago."""
        at = self.clock.now() - age
        header = a_header(ref=ref, created_at=at, status_at=at, opened_at=at, end_by=at + 30 * 24 * HOUR)
        header = replace(header, expires_second=at // 1000 + 60 * 86_400, due_at=at + 60_000, **fields)
        entry = message_entry(message=a_message(text), at=at, writer=RandomIds().token())
        assert self.log.create(header, entry, None)
        return header

    def break_down(self) -> None:
        """An hour in which neither the agent nor sweep can run: the execution fails, and the task isn't ended."""
        at_work = dict(self.stack.functions)

        def fails(*_: object) -> None:
            raise RuntimeError("no memory")

        self.stack.functions |= {"run_agent": fails, "sweep": fails}
        self.stack.pump()
        self.stack.functions |= at_work

    @property
    def header(self) -> Header:
        found = self.log.header(REF)
        assert found is not None
        return found


@pytest.fixture
def night() -> Iterator[Night]:
    with (
        mock_aws(config=MOTO),
        deployed({"HERALD_AGENT": "builders.agents:Obedient"}, attempts=1) as stack,
        operator() as found,
    ):
        for function in ("start_worker", "run_agent", "sweep"):
            stack.functions[function] = load(function)
        aws, clock = AwsClients(), SystemClock()
        log = DynamoTaskLog(lambda: aws.dynamodb, TABLE, S3Bodies(lambda: aws.s3, BUCKET), clock)
        yield Night(stack, log, found, clock)


def test_a_stuck_execution_is_found_and_run_again(night: Night) -> None:
    header = night.send()
    night.break_down()
    name = execution_name(REF, 0, header.opened_at)
    assert night.stack.executions() == {name: "FAILED"}
    assert night.operator.type("tasks", "--stuck")[1].split()[:2] == [REF.task_id, "SUBMITTED"]
    told = night.operator.json("task", REF.task_id, *WHOSE)
    (hint,) = told["hints"]
    assert hint == (
        f"It is stuck: its execution is over (FAILED) and it hasn't ended. Run it again: restart {REF.task_id}"
        f"   Or end it: fail {REF.task_id}"
    )

    started = night.operator.type("restart", REF.task_id, *WHOSE)
    assert started == [f"Started {name}-r2. See how it goes: task {REF.task_id}"]
    night.stack.pump()
    assert night.header.state is TaskState.COMPLETED
    assert night.stack.executions() == {name: "FAILED", f"{name}-r2": "SUCCEEDED"}
    assert night.operator.type("tasks", "--stuck") == ["No task is stuck."]
    night.operator.type("restart", REF.task_id, *WHOSE, code=2)
    assert night.operator.err == f"Task {REF.task_id} has ended (COMPLETED); what has ended stays as it is.\n"


def test_a_stuck_execution_may_be_ended_for_good(night: Night) -> None:
    night.send()
    night.break_down()
    assert night.operator.type("fail", REF.task_id, *WHOSE) == [f"Task {REF.task_id} is FAILED. Its webhooks are told."]
    (entry,) = [each for each in night.log.read(REF) if each.kind == "status"]
    assert '"An operator ended this task."' in entry.body
    # What Herald itself says isn't a secret of the client's: it is shown without being asked for.
    (line,) = [each for each in night.operator.type("task", REF.task_id, *WHOSE) if "#1 status" in each]
    assert ", not by the agent, " in line
    assert line.endswith("B  An operator ended this task.")
    night.operator.type("fail", REF.task_id, *WHOSE, code=2)


def test_a_task_that_nothing_runs_is_started(night: Night) -> None:
    header = night.send(age=2 * 60_000)
    night.stack.read["start_worker"] = len(night.stack.records())  # its record was lost
    (hint,) = night.operator.json("task", REF.task_id, *WHOSE)["hints"]
    assert hint.startswith("It is stuck: nothing runs it.")
    night.operator.type("restart", REF.task_id, *WHOSE)
    night.stack.pump()
    assert night.header.state is TaskState.COMPLETED
    assert list(night.stack.executions()) == [execution_name(REF, 0, header.opened_at)]


def test_what_needs_no_second_run_is_left_alone(night: Night) -> None:
    night.send("work ask")
    night.stack.pump()
    night.operator.type("restart", REF.task_id, *WHOSE, code=2)
    assert "waits for its client (INPUT_REQUIRED): nothing to run." in night.operator.err
    assert night.operator.type("tasks", "--stuck") == ["No task is stuck."]
    late = a_ref("b" * 26)
    night.send(ref=late, age=3 * HOUR, run=1)
    night.operator.type("restart", late.task_id, *WHOSE, code=2)
    assert "is past its deadline" in night.operator.err


def test_what_is_overdue_is_told(night: Night) -> None:
    night.send(age=HOUR)
    night.stack.read["start_worker"] = len(night.stack.records())
    told = night.operator.type("tasks")
    assert "overdue for 59m" in told[1]
    first = night.operator.json("task", REF.task_id, *WHOSE)["hints"][0]
    assert first.startswith("It has been overdue for 59m")
    assert first.endswith("sweep doesn't run, or fails at it. See the log of sweep.")


def test_tasks_are_listed_by_owner_context_and_state(night: Night) -> None:
    night.send("work complete")
    night.stack.pump()
    others = [a_ref(letter * 26, owner="bob") for letter in "bc"]
    for place, ref in enumerate(others):
        night.send(ref=ref, age=(place + 1) * 60_000, context_id=f"ctx-{place}")
    night.stack.read["start_worker"] = len(night.stack.records())

    def ids(*words: str) -> list[str]:
        return [each["task"] for each in night.operator.json("tasks", *words)["tasks"]]

    bob = ("--owner=bob", "--tenant=acme")
    assert ids() == ["c" * 26, "b" * 26]  # open ones, what is due first
    assert ids("--limit=1") == ["c" * 26]
    assert night.operator.err == "The first 1 by what is due; --limit shows more.\n"
    assert ids(*bob) == ["b" * 26, "c" * 26]  # the newest first
    assert ids(*bob, "--context=ctx-1") == ["c" * 26]
    assert ids(*bob, "--state=completed") == []
    assert ids("--state=submitted") == ["c" * 26, "b" * 26]
    assert ids("--state=completed,TASK_STATE_SUBMITTED") == [REF.task_id, "b" * 26, "c" * 26]
    assert night.operator.err == "Reading the index of all tasks, about 400 bytes each; --owner would spare that.\n"
    assert night.operator.type("tasks", "--owner=nobody") == ["No such task."]


def test_a_tasks_life_is_one_timeline(night: Night) -> None:
    night.send("work complete")
    night.stack.pump()
    webhooks = Platform(os.environ).webhooks(TABLE)
    last = night.log.read(REF)[-1]
    webhook = a_webhook(
        created_at=last.at + 1, cursor=0, failures=1, url="https://u:p4ss@client.example/hook?key=s3cret"
    )
    webhook = replace(webhook, expires_second=night.header.expires_second)
    webhooks.put(webhook)
    webhooks.record(webhook, Attempt(2, 1, "http_5xx", 503, 12, "busy \x1b[31m", last.at + 50))

    told = night.operator.json("task", REF.task_id)
    assert "reads all of it; --owner would spare that" in night.operator.err
    seen_of = [event["what"] for event in told["timeline"]]
    assert [what for what in seen_of if what != "execution"] == [
        "#0 message",
        "#1 run",
        "#2 status",
        "#3 status",
        "webhook cfg-1",
        "webhook cfg-1",
    ]
    assert seen_of.count("execution") == 2  # its start and its end
    times = [event["at"] for event in told["timeline"]]
    assert times == sorted(times)
    assert told["task"]["state"] == "TASK_STATE_COMPLETED"
    assert [each["status"] for each in told["executions"]] == ["SUCCEEDED"]
    (seen,) = told["webhooks"]
    assert (seen["cursor"], seen["end"], seen["waiting"]) == (0, 3, 2)
    assert not any("body" in event for event in told["timeline"])

    lines = night.operator.type("task", REF.task_id, *WHOSE)
    assert lines[0] == f"Task {REF.task_id}"
    assert lines[1].split() == ["owner", "alice,", "tenant", "acme"]
    assert any(line.endswith("#2 attempt 1 failed: http_5xx, status 503, 12 ms") for line in lines)
    assert "https://[hidden]@client.example/hook?[hidden]" in lines[-1]
    night.operator.type("attempts", REF.task_id, *WHOSE)
    assert "busy \\x1b[31m" in night.operator.said
    for secret in ("p4ss", "s3cret", "\x1b", "work complete"):
        assert secret not in night.operator.said

    bodies = night.operator.json("task", REF.task_id, *WHOSE, "--bodies")["timeline"]
    assert bodies[0]["body"]["message"]["parts"] == [{"text": "work complete"}]
    lines = night.operator.type("task", REF.task_id, *WHOSE, "--bodies")
    assert [line.endswith("B  work complete") for line in lines if "#0 message" in line] == [True]


def test_an_event_that_was_not_handed_over_is_made_up_for(night: Night) -> None:
    night.send()
    night.break_down()
    (event,) = night.stack.status_events()
    night.operator.put("LostRecords", event)
    assert f"    task {REF.task_id} is FAILED now" in night.operator.type("drain-dead-letters")
    assert night.header.state is TaskState.FAILED
    night.operator.put("LostRecords", event)
    assert f"    task {REF.task_id} had ended or gone on: nothing is owed" in night.operator.type("drain-dead-letters")


def test_a_start_that_was_given_up_is_made_up_for(night: Night) -> None:
    night.send()
    records = night.stack.records()
    night.stack.read["start_worker"] = len(records)
    night.operator.put("LostRecords", lost_records(records, "herald-start"))
    assert f"    task {REF.task_id}: started turn 0" in night.operator.type("drain-dead-letters")
    night.stack.pump()
    assert night.header.state is TaskState.COMPLETED
    night.operator.put("LostRecords", lost_records(records, "herald-start"))
    assert f"    task {REF.task_id} needs no start" in night.operator.type("drain-dead-letters")


def test_part_of_the_task_itself_is_never_removed(night: Night) -> None:
    night.send()
    night.stack.pump()
    header = night.header
    entry = status_entry(9, TaskState.WORKING)
    AwsClients().dynamodb.put_item(
        TableName=TABLE,
        Item={
            "pk": {"S": f"TASK#acme#alice#{REF.task_id}"},
            "sk": {"S": "LOG#000000000009"},
            "expiresAt": {"N": str(header.expires_second)},
            "body": {"S": entry.body},
        },
    )
    told = night.operator.type("remove-unreadable", REF.task_id, *WHOSE, code=3)
    assert told[1].split("  ") == ["LOG#000000000009", "stays", "it has no kind", "body, expiresAt"]
    assert told[2] == f"1 item of the task itself can't be read: erase --task {REF.task_id}"
