"""``python -m herald.ops erase`` on moto: what an operator sees, and that nothing is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from unittest import mock

import boto3
import pytest
from botocore.stub import Stubber
from moto import mock_aws

from builders.records import a_header, a_ref, a_webhook, artifact_entry, message_entry, status_entry
from builders.stores import AWS_ENVIRONMENT, BUCKET, REGION, TABLE, Store, dynamo_store
from fakes.clock import START, FakeClock, SequentialIds
from herald.adapters.aws import AwsClients
from herald.adapters.cloudformation import NoSuchStack, outputs
from herald.bootstrap import Platform
from herald.ops.commands import main
from herald.ports import Unavailable
from herald.protocol.states import TaskState
from herald.records import Caller, Header, OriginsInUse, TaskRef

MACHINE = f"arn:aws:states:{REGION}:123456789012:stateMachine:task-worker"
OUTPUTS = {"TableName": TABLE, "BucketName": BUCKET, "StateMachineArn": MACHINE, "StackId": "arn:aws:cloudformation:x"}
OTHER, THIRD = a_ref("b" * 26), a_ref("c" * 26, owner="bob")
ALICE = Caller("acme", "alice")
ID = a_ref().task_id


@dataclass
class Operator:
    """Somebody with a terminal, beside a stack on moto."""

    store: Store
    platform: Platform
    clock: FakeClock
    aws: AwsClients
    capture: pytest.CaptureFixture[str]
    err: str = ""

    def erase(self, *words: str, outputs: Mapping[str, str] = OUTPUTS) -> tuple[int, list[str]]:
        """The exit code of the command and what it said."""
        with mock.patch.object(Platform, "outputs", return_value=outputs):
            code = main(["erase", "--stack=herald", *words], {}, self.platform)
        said = self.capture.readouterr()
        self.err = said.err
        return code, said.out.splitlines()

    def task(self, ref: TaskRef = a_ref(), *, ended: bool = True) -> Header:  # noqa: B008 - a value
        """A task with a webhook, an artifact in the bucket and, if so, its end."""
        header = a_header(ref=ref)
        assert self.store.log.create(header, message_entry(), a_webhook(ref=ref))
        assert self.store.log.put(ref, artifact_entry(1, "x" * 300_001), header.expires_second)
        if ended:
            done = status_entry(2, TaskState.COMPLETED)
            header_after = header.with_status(done, due_at=None)
            assert self.store.log.commit(header, header_after, [done])
        return header

    @property
    def left(self) -> list[str]:
        """Everything in the table and in the bucket."""
        items = self.aws.dynamodb.scan(TableName=TABLE)["Items"]
        objects = self.aws.s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return sorted([f"{item['pk']['S']} {item['sk']['S']}" for item in items] + [row["Key"] for row in objects])


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Operator]:
    for name, value in AWS_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    clock = FakeClock()
    with mock_aws():
        aws = AwsClients()
        store = dynamo_store(aws, clock)
        boto3.client("stepfunctions").create_state_machine(
            name="task-worker", definition="{}", roleArn="arn:aws:iam::123456789012:role/machine"
        )
        yield Operator(store, Platform({}, aws, clock, SequentialIds()), clock, aws, capsys)


def test_a_task_is_erased_and_what_was_removed_is_told(operator: Operator) -> None:
    operator.task()
    code, said = operator.erase("--task", a_ref().task_id, "--owner=alice", "--tenant=acme", "--yes")
    assert said == [
        "Stack herald (arn:aws:cloudformation:x)",
        f"  task {ID} of owner alice of tenant acme: 1 header, 3 log entries, 1 webhook, 1 large body",
        "  task mfrggzdfmztwq2lknnwg23tpoa: removed 3 log entries, 1 webhook, 1 large body",
        "Waiting until 00:01:30 UTC: a request or a delivery may still be under way.",
        "Erased: 1 header, 3 log entries, 1 webhook, 1 large body. Looked again: nothing is left.",
        "What stays elsewhere, and for how long, is in docs/erasure.md.",
    ]
    assert code == 0
    assert operator.left == []
    assert operator.clock.slept == [90.0]


def test_it_may_be_done_again(operator: Operator) -> None:
    operator.task()
    for _ in range(2):
        code, said = operator.erase("--task", a_ref().task_id, "--owner=alice", "--tenant=acme", "--yes")
        assert code == 0
    assert said[-1] == "There is nothing to erase."


def test_without_an_owner_the_task_is_looked_for(operator: Operator) -> None:
    operator.task()
    operator.task(THIRD)
    code, said = operator.erase("--task", THIRD.task_id, "--yes")
    assert code == 0
    assert said[1] == "Looking for the task in the index of all tasks, which reads all of it; --owner would spare that."
    assert "of owner bob" in said[2]
    assert {key.split("#")[2] for key in operator.left} == {"alice"}


def test_a_task_that_isnt_found_may_still_have_a_place(operator: Operator) -> None:
    code, said = operator.erase("--task", "z" * 26, "--yes")
    assert code == 0
    assert said[-1] == (
        "There is nothing to erase. No task of this name is in the index; with --owner I look at the very place where "
        "it would lie."
    )


def test_remains_without_a_header_are_erased_with_the_owners_name(operator: Operator) -> None:
    header = a_header()
    assert operator.store.log.put(a_ref(), artifact_entry(7), header.expires_second)
    code, _ = operator.erase("--task", a_ref().task_id, "--owner=alice", "--tenant=acme", "--yes")
    assert (code, operator.left) == (0, [])


def test_an_owner_is_erased_with_all_tasks_and_origins_in_one_tenant(operator: Operator) -> None:
    for ref in (a_ref(), OTHER, THIRD, a_ref("d" * 26, tenant="")):
        operator.task(ref)
    for owner in (ALICE, Caller("", "alice")):
        kept = OriginsInUse(owner, {"https://client.example": START // 1000 + 60}, 1)
        assert operator.store.usage.replace_origins(OriginsInUse(owner), kept)

    code, said = operator.erase("--owner=alice", "--tenant=acme", "--yes")

    assert code == 0
    assert "  owner alice of tenant acme, besides tasks: 1 list of webhook origins" in said
    assert said[-2] == (
        "Erased: 2 headers, 6 log entries, 2 webhooks, 1 list of webhook origins, 2 large bodies. "
        "Looked again: nothing is left."
    )
    assert operator.clock.slept == [90.0]  # once for all
    whose = {key.removeprefix("bodies/").split(" ")[0].split("#", 1)[1].split("#")[:2][0] for key in operator.left}
    assert whose == {"acme", ""}
    assert [key for key in operator.left if "#acme#alice" in key] == []
    assert "OWNER##alice ORIGINS" in operator.left


def test_a_dry_run_lists_and_changes_nothing(operator: Operator) -> None:
    operator.task(ended=False)
    before = operator.left
    code, said = operator.erase("--owner=alice", "--tenant=acme", "--dry-run")
    assert code == 0
    assert said[1:] == [
        f"  task {ID} of owner alice of tenant acme: 1 header, 2 log entries, 1 webhook, 1 large body",
        "  owner alice of tenant acme, besides tasks: nothing",
        "Nothing was changed: this was a dry run.",
    ]
    assert operator.left == before


def test_an_open_task_is_canceled_first_and_an_unknown_execution_is_no_matter(operator: Operator) -> None:
    operator.task(ended=False)
    code, said = operator.erase("--task", a_ref().task_id, "--owner=alice", "--tenant=acme", "--yes")
    assert code == 0
    assert said[2] == ("  task mfrggzdfmztwq2lknnwg23tpoa: canceled, removed 2 log entries, 1 webhook, 1 large body")


def test_what_is_written_meanwhile_is_told_and_removed(operator: Operator) -> None:
    header = operator.task()

    def late(seconds: float) -> None:
        operator.clock.advance(seconds)
        assert operator.store.log.put(a_ref(), artifact_entry(2, "y" * 300_001), header.expires_second)

    with mock.patch.object(operator.clock, "sleep", late):
        code, said = operator.erase("--task", a_ref().task_id, "--owner=alice", "--tenant=acme", "--yes")
    assert code == 0
    assert "  written meanwhile, and removed: 1 log entry, 1 large body" in said
    assert operator.left == []


def test_who_doesnt_wait_is_told_when_to_come_back(operator: Operator) -> None:
    operator.task()
    where = ("--task", a_ref().task_id, "--owner=alice", "--tenant=acme", "--yes")
    code, said = operator.erase(*where, "--no-wait")
    assert code == 3
    assert said[-1] == (
        "Not done yet: until 00:01:30 UTC a request or a delivery may still be under way. Run the same command after "
        "that to remove what is left."
    )
    assert operator.left == ["TASK#acme#alice#mfrggzdfmztwq2lknnwg23tpoa TASK"]
    operator.clock.advance(90)
    code, _ = operator.erase(*where)
    assert (code, operator.left) == (0, [])


def test_tasks_that_the_owner_makes_meanwhile_are_told_of(operator: Operator) -> None:
    operator.task()

    def late(seconds: float) -> None:
        operator.clock.advance(seconds)
        operator.task(OTHER)

    with mock.patch.object(operator.clock, "sleep", late):
        code, _ = operator.erase("--owner=alice", "--tenant=acme", "--yes")
    assert code == 3
    assert operator.err == "1 tasks were made meanwhile: stop the owner's access and run it again.\n"


def test_what_never_stops_coming_is_told_of(operator: Operator) -> None:
    header = operator.task()
    plain = operator.aws.s3.delete_objects
    calls: list[None] = []

    def deleted(**request: object) -> object:
        calls.append(None)
        if len(calls) == 1:
            return plain(**request)  # type: ignore[arg-type]
        answer = plain(**request)  # type: ignore[arg-type]
        assert operator.store.log.put(a_ref(), artifact_entry(5), header.expires_second)
        return answer

    def late(seconds: float) -> None:
        operator.clock.advance(seconds)
        assert operator.store.log.put(a_ref(), artifact_entry(2, "y" * 300_001), header.expires_second)

    with (
        mock.patch.object(operator.aws.s3, "delete_objects", deleted),
        mock.patch.object(operator.clock, "sleep", late),
    ):
        code, _ = operator.erase("--task", a_ref().task_id, "--owner=alice", "--tenant=acme", "--yes")
    assert code == 3
    assert operator.err == "Something still writes: 1 log entry left. Run the same command again.\n"


# ---- arguments, answers, failures ----


def test_nothing_is_erased_without_a_yes(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    operator.task()
    before = operator.left
    code, _ = operator.erase("--owner=alice", "--tenant=acme")  # nobody can be asked
    assert (code, operator.left) == (2, before)
    assert operator.err == "Nothing was changed. Answer yes, or give --yes where nobody can be asked.\n"

    answers = iter(["no", "", "Yes"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: next(answers))
    for _ in range(2):
        code, _ = operator.erase("--owner=alice", "--tenant=acme")
        assert (code, operator.left) == (2, before)
    code, _ = operator.erase("--owner=alice", "--tenant=acme")
    assert (code, operator.left) == (0, [])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "Say whose data to erase: --task, --owner, or both."),
        (["--task=t", "--tenant=acme"], "--tenant is a part of whose data to erase: give --owner as well."),
    ],
)
def test_whose_data_must_be_said(operator: Operator, words: list[str], told: str) -> None:
    assert operator.erase(*words)[0] == 2
    assert operator.err == told + "\n"


def test_a_stack_that_isnt_heralds_is_left_alone(operator: Operator) -> None:
    assert operator.erase("--owner=alice", outputs={"TableName": "t"})[0] == 2
    assert operator.err == "Stack herald has no output BucketName, StateMachineArn: it isn't one of Herald's.\n"


def test_what_aws_says_is_told_without_a_traceback(operator: Operator) -> None:
    with mock.patch.object(Platform, "outputs", side_effect=Unavailable("DescribeStacks: Throttling")):
        assert main(["erase", "--stack=herald", "--owner=alice"], {}, operator.platform) == 1
    assert operator.capture.readouterr().err == (
        "AWS failed or refused: DescribeStacks: Throttling\nThe same command goes on where this one stopped.\n"
    )


def cloudformation(answer: Callable[[Stubber], None]) -> Mapping[str, str]:
    client = boto3.client("cloudformation", region_name=REGION)
    with Stubber(client) as stub:
        answer(stub)
        return outputs(lambda: client, "herald")


def test_a_stacks_parts_are_found_by_its_outputs() -> None:
    rows = [{"OutputKey": "TableName", "OutputValue": "tasks"}]
    stack = {"StackName": "herald", "StackId": "arn:x", "StackStatus": "CREATE_COMPLETE", "Outputs": rows}
    found = cloudformation(
        lambda stub: stub.add_response(
            "describe_stacks",
            {"Stacks": [{**stack, "CreationTime": "2026-01-01T00:00:00Z"}]},
            {"StackName": "herald"},
        )
    )
    assert found == {"TableName": "tasks", "StackId": "arn:x"}


def test_a_stack_that_isnt_there_is_told_apart_from_other_failures() -> None:
    message = "Stack with id herald does not exist"
    with pytest.raises(NoSuchStack):
        cloudformation(lambda stub: stub.add_client_error("describe_stacks", "ValidationError", message))
