"""``python -m herald.ops rotate-keys`` on moto: what an operator sees; nothing needs the former keys after it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

import pytest
from moto import mock_aws

from builders.deliveries import RecordingWatch
from builders.records import DAY, a_header, a_ref, a_webhook, message_entry, status_entry
from builders.secrets_manager import dated
from builders.stores import AWS_ENVIRONMENT, BUCKET, TABLE, Store, dynamo_store
from fakes.clock import START, FakeClock, SequentialIds
from herald import bootstrap
from herald.adapters.aws import AwsClients
from herald.adapters.cloudformation import Parts
from herald.adapters.dns import SystemResolver
from herald.adapters.http import PinnedTransport
from herald.adapters.sqs import doorbell_from_body
from herald.bootstrap import Platform
from herald.client_secrets import Secrets
from herald.ops.commands import main
from herald.ports import Answer
from herald.records import Webhook, WebhookState

HOUR = 3_600
MADE, OVER = "2026-01-01 00:00:00Z", "2026-01-02 02:00:00Z"


class WorkingClock(FakeClock):
    """While somebody sleeps, the others work."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], object] = lambda: None

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self.meanwhile()


@dataclass
class Operator:
    """Somebody with a terminal, beside a stack on moto whose sender works while they wait."""

    aws: AwsClients
    store: Store
    clock: WorkingClock
    platform: Platform
    capture: pytest.CaptureFixture[str]
    arns: dict[str, str]
    queue: str
    sent: list[dict[str, str]] = field(default_factory=list)
    err: str = ""

    def rotate(self, *words: str) -> tuple[int, list[str]]:
        """The exit code of the command and what it said."""
        with mock.patch.object(Platform, "parts", return_value=self.parts):
            code = main(["rotate-keys", "--stack=herald", *words], {}, self.platform)
        said = self.capture.readouterr()
        self.err = said.err
        return code, said.out.splitlines()

    @property
    def parts(self) -> Parts:
        """The stack."""
        resources = {
            "Tasks": TABLE,
            "Bodies": BUCKET,
            "Doorbells": self.queue,
            "TaskWorker": "arn:aws:states:eu-central-1:123456789012:stateMachine:task-worker",
            "SigningSecret": self.arns["signing"],
            "SealingSecret": self.arns["sealing"],
        }
        return Parts("arn:aws:cloudformation:x", {}, resources, {})

    def step(self, *words: str) -> str:
        """What the command says it has done."""
        _, lines = self.rotate("--json", *words)
        return str(json.loads("\n".join(lines))["step"])

    def stages(self, name: str = "signing") -> dict[str, str]:
        """Stage -> version."""
        rows = self.aws.secretsmanager.list_secret_version_ids(SecretId=self.arns[name])["Versions"]
        return {stage: row["VersionId"] for row in rows for stage in row.get("VersionStages", [])}

    def register(self, config_id: str, secrets: Secrets = Secrets(token="tok"), **fields: Any) -> None:  # noqa: B008
        expires = START // 1000 + 60 * DAY
        webhook = a_webhook(config_id, url="https://client.example/", expires_second=expires, **fields)
        self.store.webhooks.put(secrets.sealed_into(self.platform.sealer(self.arns["sealing"]), webhook))

    def webhook(self, config_id: str) -> Webhook:
        found = self.store.webhooks.get(a_ref(), config_id)
        assert found is not None
        return found

    def sealed_by(self, *config_ids: str) -> list[str]:
        """Which version of the sealing secret sealed these: current or former."""
        current = self.stages("sealing")["AWSCURRENT"]
        return ["current" if f".{current}." in self.webhook(each).sealed else "former" for each in config_ids]

    def work(self) -> None:
        """Let a sender that has just started answer every doorbell."""
        environ = {
            "HERALD_TABLE": TABLE,
            "HERALD_BUCKET": BUCKET,
            "HERALD_QUEUE_URL": self.queue,
            "HERALD_SIGNING_SECRET": self.arns["signing"],
            "HERALD_SEALING_SECRET": self.arns["sealing"],
        }

        def post(_: object, url: str, address: str, headers: dict[str, str], *__: object) -> Answer:
            self.sent.append(headers)
            return Answer(204, {}, b"", 1)

        delivery = bootstrap.send_webhooks(replace(self.platform, environ=environ), RecordingWatch())
        with (
            mock.patch.object(SystemResolver, "resolve", return_value=["93.184.216.34"]),
            mock.patch.object(PinnedTransport, "post", post),
        ):
            while True:
                received = self.aws.sqs.receive_message(QueueUrl=self.queue, AttributeNames=["All"])
                for message in received.get("Messages", []):
                    assert delivery.answer(doorbell_from_body(message["Body"]), lambda: 90) is None
                    self.aws.sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=message["ReceiptHandle"])
                if not received.get("Messages"):
                    return


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Operator]:
    for name, value in AWS_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    clock = WorkingClock()
    clock.set(START - 1_000 * HOUR * 1000)
    with mock_aws(), dated(clock):
        aws = AwsClients()
        store = dynamo_store(aws, clock)
        arns = {
            name: aws.secretsmanager.create_secret(Name=name, SecretString=f"planted {name} secret")["ARN"]
            for name in ("signing", "sealing")
        }
        queue = aws.sqs.create_queue(QueueName="d.fifo", Attributes={"FifoQueue": "true", "VisibilityTimeout": "540"})
        platform = Platform({}, aws, clock, SequentialIds())
        clock.set(START)
        assert store.log.create(a_header(), message_entry(), None)
        found = Operator(aws, store, clock, platform, capsys, arns, queue["QueueUrl"])
        clock.meanwhile = found.work
        yield found


def test_the_first_call_makes_new_versions_and_says_what_follows(operator: Operator) -> None:
    before = operator.stages()["AWSCURRENT"]

    code, said = operator.rotate()

    signing, sealing = operator.stages(), operator.stages("sealing")
    assert said == [
        "New versions are made. Receivers notice nothing.",
        f"  signing: version {signing['AWSCURRENT']}, made {MADE} (0s ago)",
        "    the new keys are published, and sign from 2026-01-01 01:00:00Z (in 1h)",
        "    the former keys sign until 2026-01-02 01:00:00Z (in 1d 1h)",
        f"    to be finished from {OVER} (in 1d 2h)",
        f"  sealing: version {sealing['AWSCURRENT']}, made {MADE} (0s ago)",
        f"    to be finished from {OVER} (in 1d 2h)",
        f"Run the same command after {OVER} to finish.",
    ]
    assert code == 0
    assert signing["AWSPREVIOUS"] == before != signing["AWSCURRENT"]


def test_a_call_that_comes_too_early_changes_nothing(operator: Operator) -> None:
    operator.rotate()
    before = operator.stages(), operator.stages("sealing")
    operator.clock.advance(26 * HOUR - 1)

    code, said = operator.rotate()

    assert code == 3
    assert said[0] == "A rotation is under way, and it is too early to finish it. Nothing was changed."
    assert said[-1] == f"Run the same command after {OVER} to finish."
    assert (operator.stages(), operator.stages("sealing")) == before


def test_the_second_call_seals_everything_anew_and_lets_go_of_the_former_versions(operator: Operator) -> None:
    operator.register("active")
    operator.register("paused", state=WebhookState.PAUSED)
    operator.register("disabled", state=WebhookState.DISABLED, reason="exhausted")
    operator.register("bare", Secrets())
    operator.rotate()
    operator.clock.advance(26 * HOUR)
    assert operator.sealed_by("active", "paused", "disabled") == ["former"] * 3

    code, said = operator.rotate()

    assert code == 0
    assert said[0] == "Finished: nothing needs a former version any more. The next call begins a new rotation."
    assert said[-1] == "  webhooks sealed anew: 3"
    assert operator.sealed_by("active", "paused", "disabled") == ["current"] * 3
    assert operator.webhook("disabled").reason == "exhausted"
    assert operator.webhook("bare").sealed == ""
    assert "AWSPREVIOUS" not in operator.stages() | operator.stages("sealing")
    assert operator.clock.slept == [2]
    assert operator.sent == []


def test_deliveries_go_on_when_the_former_versions_are_deleted(operator: Operator) -> None:
    operator.register("active")
    for _ in range(2):
        operator.rotate()
        operator.clock.advance(26 * HOUR)
    for name in ("signing", "sealing"):
        _delete_forgotten(operator, name)
    header = operator.store.log.header(a_ref())
    assert header is not None
    entry = status_entry(1, at=operator.clock.now())
    assert operator.store.log.commit(header, header.with_status(entry, due_at=None), [entry])
    operator.platform.doorbells(operator.queue).ring(bootstrap.ring_webhooks(_platform_of(operator)).rings(a_ref(), 1))

    operator.work()

    assert operator.sent[0]["A2A-Notification-Token"] == "tok"
    assert len(operator.sent[0]["webhook-signature"].split(" ")) == 1
    assert operator.webhook("active").cursor == 1


def _platform_of(operator: Operator) -> Platform:
    return replace(operator.platform, environ={"HERALD_TABLE": TABLE, "HERALD_QUEUE_URL": operator.queue})


def _delete_forgotten(operator: Operator, name: str) -> None:
    from moto.secretsmanager.models import secretsmanager_backends

    versions = secretsmanager_backends["123456789012"]["eu-central-1"].secrets[operator.arns[name]].versions
    for version_id in [each for each, row in versions.items() if not row["version_stages"]]:
        del versions[version_id]
    assert len(versions) == 1


def test_the_third_call_begins_anew(operator: Operator) -> None:
    steps = []
    for hours in (0, 1, 25, 1, 0):
        operator.clock.advance(hours * HOUR)
        steps.append(operator.step())

    assert steps == ["started", "waiting", "finished", "started", "waiting"]


def test_while_senders_do_not_work_it_is_not_finished_and_says_what_is_left(operator: Operator) -> None:
    operator.register("active")
    operator.rotate()
    operator.clock.advance(26 * HOUR)
    operator.clock.meanwhile = lambda: None

    code, said = operator.rotate()

    assert code == 3
    assert said[-3:] == [
        "  webhooks still sealed by a former version: 1",
        f"    {a_ref().task_id}/active (active)",
        "Run the same command again. The log of send_webhooks says why some stay; --leave lets them be.",
    ]
    assert "AWSPREVIOUS" in operator.stages()
    assert sum(operator.clock.slept) == 60
    operator.clock.meanwhile = operator.work
    assert operator.step() == "finished"


def test_what_nobody_can_seal_anew_may_be_left(operator: Operator) -> None:
    operator.register("changed", state=WebhookState.PAUSED)
    operator.store.webhooks.put(replace(operator.webhook("changed"), url="https://other.example/"))
    operator.rotate()
    operator.clock.advance(26 * HOUR)

    assert operator.step() == "resealing"
    assert operator.step("--leave") == "finished"


def test_webhooks_that_nothing_opens_any_more_are_listed_and_hold_nothing_up(operator: Operator) -> None:
    operator.register("lost")
    lost = operator.webhook("lost")
    current = operator.stages("sealing")["AWSCURRENT"]
    operator.store.webhooks.put(replace(lost, sealed=lost.sealed.replace(current, "0" * 36)))
    operator.rotate()
    operator.clock.advance(26 * HOUR)

    code, said = operator.rotate()

    assert code == 0
    assert said[-2:] == [
        "  webhooks disabled for good, for nothing opens their secrets: 1",
        f"    {a_ref().task_id}/lost (disabled)",
    ]
    assert operator.webhook("lost").reason.startswith(f"unreadable: version {'0' * 36} of the sealing secret is gone")


def test_a_call_that_died_between_the_two_secrets_is_gone_on_with(operator: Operator) -> None:
    with _dying_at_the_second(operator, "put_secret_value"):
        assert operator.rotate()[0] == 1
    signing = operator.stages()
    assert "AWSPREVIOUS" not in operator.stages("sealing")

    assert operator.step() == "started"

    assert operator.stages() == signing
    assert "AWSPREVIOUS" in operator.stages("sealing")
    operator.clock.advance(26 * HOUR)
    with _dying_at_the_second(operator, "update_secret_version_stage"):
        assert operator.rotate()[0] == 1
    assert operator.step() == "finished"
    assert "AWSPREVIOUS" not in operator.stages() | operator.stages("sealing")


@contextmanager
def _dying_at_the_second(operator: Operator, method: str) -> Iterator[None]:
    """The operator's command is stopped right before its second call of this method."""
    plain, calls = getattr(operator.aws.secretsmanager, method), []

    def call(**request: Any) -> Any:
        calls.append(request)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return plain(**request)

    with mock.patch.object(operator.aws.secretsmanager, method, call):
        yield


def test_two_who_begin_at_once_make_one_version(operator: Operator) -> None:
    secret = operator.platform.rotatable(operator.arns["signing"])
    seen = secret.state()

    secret.renew(seen)
    secret.renew(seen)

    after = secret.state()
    assert (after.count, after.previous) == (2, seen.current)


def test_a_secret_that_was_set_back_can_be_rotated_again(operator: Operator) -> None:
    secret = operator.platform.rotatable(operator.arns["signing"])
    first = secret.state().current
    secret.renew(secret.state())
    second = secret.state().current
    operator.aws.secretsmanager.update_secret_version_stage(
        SecretId=operator.arns["signing"],
        VersionStage="AWSCURRENT",
        RemoveFromVersionId=second.version_id,
        MoveToVersionId=first.version_id,
    )

    secret.renew(secret.state())

    assert secret.state().current not in (first, second)


def test_one_of_the_secrets_may_be_rotated_alone(operator: Operator) -> None:
    assert operator.step("--only=signing") == "started"
    assert "AWSPREVIOUS" in operator.stages()
    assert "AWSPREVIOUS" not in operator.stages("sealing")


def test_a_dry_run_tells_and_changes_nothing(operator: Operator) -> None:
    before = operator.stages()

    code, said = operator.rotate("--dry-run")

    assert (code, said[0]) == (0, "Nothing was changed: this was a dry run.")
    assert operator.stages() == before


def test_json_names_versions_and_times(operator: Operator) -> None:
    before = operator.stages("sealing")["AWSCURRENT"]
    _, lines = operator.rotate("--json", "--only=sealing")

    assert json.loads("\n".join(lines)) == {
        "step": "started",
        "secrets": {
            "sealing": {
                "version": operator.stages("sealing")["AWSCURRENT"],
                "madeAt": "2026-01-01T00:00:00.000Z",
                "previousVersion": before,
                "finishFrom": "2026-01-02T02:00:00.000Z",
            }
        },
        "resealed": 0,
        "left": [],
        "unreadable": [],
    }


def test_invariant_8_nobody_is_told_a_secret_and_new_ones_are_long_and_random(operator: Operator) -> None:
    operator.register("active", Secrets(token="planted-token", scheme="Bearer", credentials="planted-credentials"))
    said = []
    for _ in range(3):
        said += operator.rotate()[1]
        said.append(operator.err)
        operator.clock.advance(26 * HOUR)
    texts = {
        operator.aws.secretsmanager.get_secret_value(SecretId=arn)["SecretString"] for arn in operator.arns.values()
    }

    assert len(texts) == 2
    assert {len(text) for text in texts} == {64}
    assert [one for one in (*texts, "planted") if one in "\n".join(said)] == []


def test_a_stack_without_the_secrets_is_told(operator: Operator) -> None:
    resources = {name: part for name, part in operator.parts.resources.items() if name != "SealingSecret"}
    with mock.patch.object(Platform, "parts", return_value=replace(operator.parts, resources=resources)):
        assert main(["rotate-keys", "--stack=herald"], {}, operator.platform) == 2

    assert operator.capture.readouterr().err == "Stack herald has no SealingSecret: it isn't one of Herald's.\n"
