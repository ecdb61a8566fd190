"""The one place that chooses classes: settings, then adapters, then what a function runs. One builder per function.

A builder is called once, when its function starts. It opens no connection and imports what its own function needs and
nothing else, so that no function pays for another's imports. Tests give it clients, a clock or ids of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from random import random
from typing import TYPE_CHECKING, Any

from herald.adapters.clock import RandomIds, SystemClock
from herald.ports import (
    Clock,
    Doorbells,
    DueIndex,
    Ids,
    KeptBodies,
    Meter,
    Remains,
    Resolver,
    Sealer,
    TaskIndex,
    TaskLog,
    Unmetered,
    Usage,
    Webhooks,
    WorkerLauncher,
)
from herald.settings import (
    ApiSettings,
    AuthorizeSettings,
    PublishKeysSettings,
    RingWebhooksSettings,
    RunAgentSettings,
    SendWebhooksSettings,
    StackSettings,
    StartWorkerSettings,
    SweepSettings,
    base_url,
)

if TYPE_CHECKING:
    from herald.adapters.aws import AwsClients
    from herald.adapters.cloudformation import Parts
    from herald.adapters.dead_letters import SqsDeadLetters
    from herald.adapters.dynamodb.every_webhook import EveryWebhook
    from herald.adapters.dynamodb.survey import DynamoSurvey
    from herald.adapters.kms import KmsCardKey, KmsTokenKey
    from herald.adapters.secret_rotation import RotatableSecret
    from herald.adapters.secrets import SecretVersions
    from herald.adapters.stepfunctions import StepFunctionsExecutions
    from herald.authorization.verifier import Verifier
    from herald.delivery.cursor import Delivery, Watch
    from herald.delivery.published_keys import PublishedKeys
    from herald.delivery.ring import Ringer
    from herald.operations.catalogue import Catalogue
    from herald.operations.get_extended_agent_card import ExtendedCard
    from herald.upkeep.sweep import Sweep
    from herald.worker.turns import Worker


@dataclass(frozen=True)
class Api:
    """The function ``api``, up to its bindings."""

    settings: ApiSettings
    operations: Catalogue
    ids: Ids


def _aws_clients() -> AwsClients:
    from herald.adapters.aws import AwsClients

    return AwsClients()


@dataclass(frozen=True)
class Platform:
    """What all functions stand on: the environment, the clients, time and names.

    Its methods make adapters, each from the settings that it needs.
    """

    environ: Mapping[str, str] = field(repr=False)
    aws: AwsClients = field(default_factory=_aws_clients)
    clock: Clock = field(default_factory=SystemClock)
    ids: Ids = field(default_factory=RandomIds)

    def task_log(self, table: str, bucket: str, owner_shards: int = 1) -> TaskLog:
        """``owner_shards`` matters only to who creates tasks."""
        from herald.adapters.dynamodb.log import DynamoTaskLog
        from herald.adapters.s3 import S3Bodies

        bodies = S3Bodies(lambda: self.aws.s3, bucket)
        return DynamoTaskLog(lambda: self.aws.dynamodb, table, bodies, self.clock, owner_shards)

    def webhooks(self, table: str) -> Webhooks:
        from herald.adapters.dynamodb.webhooks import DynamoWebhooks

        return DynamoWebhooks(lambda: self.aws.dynamodb, table, self.clock)

    def kept_bodies(self, bucket: str) -> KeptBodies:
        from herald.adapters.s3 import S3KeptBodies

        return S3KeptBodies(lambda: self.aws.s3, bucket)

    def task_index(self, table: str, owner_shards: int) -> TaskIndex:
        from herald.adapters.dynamodb.index import DynamoTaskIndex

        return DynamoTaskIndex(lambda: self.aws.dynamodb, table, self.clock, owner_shards)

    def due_index(self, table: str) -> DueIndex:
        from herald.adapters.dynamodb.due import DynamoDueIndex

        return DynamoDueIndex(lambda: self.aws.dynamodb, table)

    def usage(self, table: str, owner_shards: int) -> Usage:
        from herald.adapters.dynamodb.usage import DynamoUsage

        return DynamoUsage(lambda: self.aws.dynamodb, table, self.clock, owner_shards)

    def remains(self, table: str, bucket: str) -> Remains:
        from herald.adapters.dynamodb.remains import DynamoRemains
        from herald.adapters.s3 import S3Bodies

        return DynamoRemains(lambda: self.aws.dynamodb, table, S3Bodies(lambda: self.aws.s3, bucket), self.clock)

    def outputs(self, stack: str) -> Mapping[str, str]:
        """Of a deployed stack, for the operator's commands. Raises NoSuchStack."""
        from herald.adapters.cloudformation import outputs

        return outputs(lambda: self.aws.cloudformation, stack)

    def parts(self, stack: str) -> Parts:
        """Of a deployed stack, for the operator's commands. Raises NoSuchStack."""
        from herald.adapters.cloudformation import parts

        return parts(lambda: self.aws.cloudformation, stack)

    def survey(self, table: str) -> DynamoSurvey:
        from herald.adapters.dynamodb.survey import DynamoSurvey

        return DynamoSurvey(lambda: self.aws.dynamodb, table)

    def executions(self, state_machine_arn: str) -> StepFunctionsExecutions:
        from herald.adapters.stepfunctions import StepFunctionsExecutions

        return StepFunctionsExecutions(lambda: self.aws.stepfunctions, state_machine_arn)

    def dead_letters(self, queue_url: str) -> SqsDeadLetters:
        from herald.adapters.dead_letters import SqsDeadLetters

        return SqsDeadLetters(lambda: self.aws.sqs, queue_url)

    def stream_records(self, stream: str, shard: str, first: str, last: str) -> list[Mapping[str, Any]] | None:
        """Of the table's stream, from one sequence number to another; None when they are gone."""
        from herald.adapters.dynamodb.stream import records

        return records(lambda: self.aws.dynamodbstreams, stream, shard, first, last)

    def doorbells(self, queue_url: str) -> Doorbells:
        from herald.adapters.sqs import SqsDoorbells

        return SqsDoorbells(lambda: self.aws.sqs, queue_url, self.clock)

    def launcher(self, state_machine_arn: str) -> WorkerLauncher:
        from herald.adapters.stepfunctions import StepFunctionsLauncher

        return StepFunctionsLauncher(lambda: self.aws.stepfunctions, state_machine_arn)

    def resolver(self) -> Resolver:
        """Names of webhooks' hosts. The table's own address is the witness that DNS answers at all."""
        from urllib.parse import urlsplit

        from herald.adapters.dns import SystemResolver

        return SystemResolver(witness=lambda: urlsplit(self.aws.dynamodb.meta.endpoint_url).hostname)

    def secret(self, secret_id: str) -> SecretVersions:
        from herald.adapters.secrets import SecretVersions

        return SecretVersions(lambda: self.aws.secretsmanager, secret_id, self.clock)

    def rotatable(self, secret_id: str) -> RotatableSecret:
        """A secret for who gives it new versions."""
        from herald.adapters.secret_rotation import RotatableSecret

        return RotatableSecret(lambda: self.aws.secretsmanager, secret_id)

    def every_webhook(self, table: str) -> EveryWebhook:
        from herald.adapters.dynamodb.every_webhook import EveryWebhook

        return EveryWebhook(lambda: self.aws.dynamodb, table, self.clock)

    def card_key(self, arn: str) -> KmsCardKey | None:
        """The key that signs the Agent Card; None when there is none."""
        from herald.adapters.kms import KmsCardKey

        return KmsCardKey(lambda: self.aws.kms, arn) if arn else None

    def token_key(self, arn: str) -> KmsTokenKey | None:
        """The key that signs tokens for receivers; None when there is none."""
        from herald.adapters.kms import KmsTokenKey

        return KmsTokenKey(lambda: self.aws.kms, arn) if arn else None

    def sealer(self, secret_id: str) -> Sealer:
        from herald.adapters.secrets import SecretsSealer

        return SecretsSealer(self.secret(secret_id))


def meter(environ: Mapping[str, str], clock: Clock | None = None) -> Meter:
    """What a function counts with; its handler flushes it."""
    from herald.adapters.emf import EmbeddedMetrics

    return EmbeddedMetrics(StackSettings.read(environ).stack, clock or SystemClock())


def api(
    platform: Platform,
    *,
    push_notifications: bool = True,
    input_modes: tuple[str, ...] = (),
    extended_card: ExtendedCard | None = None,
) -> Api:
    """What the function ``api`` serves.

    Args:
        push_notifications: what the Agent Card says.
        input_modes: what the Agent Card says.
        extended_card: makes the extended card; None when there is none.
    """
    from herald.delivery.url_policy import AllowList, UrlPolicy
    from herald.operations import direct_reply
    from herald.operations.call import Limits
    from herald.operations.catalogue import Ports, catalogue

    settings = ApiSettings.read(platform.environ)
    ports = Ports(
        log=platform.task_log(settings.table, settings.bucket, settings.owner_shards),
        index=platform.task_index(settings.table, settings.owner_shards),
        webhooks=platform.webhooks(settings.table),
        launcher=platform.launcher(settings.state_machine_arn),
        sealer=platform.sealer(settings.sealing_secret),
        clock=platform.clock,
        ids=platform.ids,
        usage=platform.usage(settings.table, settings.owner_shards),
        check_url=UrlPolicy(platform.resolver(), AllowList.parse(settings.webhook_allow)).objection,
        reply=direct_reply.load(),
        extended_card=extended_card,
    )
    limits = Limits(
        idempotent_send=settings.idempotent_send,
        blocking_seconds=settings.blocking_seconds,
        max_task_days=settings.max_task_days,
        retention_days=settings.retention_days,
        webhooks_per_task=settings.webhooks_per_task,
        open_tasks_per_owner=settings.open_tasks_per_owner,
        origins_per_owner=settings.origins_per_owner,
        push_notifications=push_notifications,
        extended_agent_card=extended_card is not None,
        input_modes=input_modes,
    )
    return Api(settings, catalogue(ports, limits), platform.ids)


def start_worker(platform: Platform) -> WorkerLauncher:
    """What the function ``start_worker`` uses."""
    settings = StartWorkerSettings.read(platform.environ)
    return platform.launcher(settings.state_machine_arn)


def run_agent(platform: Platform, meter: Meter | None = None) -> Worker:
    """What the function ``run_agent`` runs. The agent is loaded with the first turn, so a failure is that call's."""
    from herald.worker.loading import load_agent
    from herald.worker.turns import Worker

    settings = RunAgentSettings.read(platform.environ)
    return Worker(
        platform.task_log(settings.table, settings.bucket),
        platform.clock,
        platform.ids,
        cache(lambda: load_agent(settings.agent)),
        settings.turn_seconds,
        meter or Unmetered(),
    )


def sweep(platform: Platform, meter: Meter | None = None) -> Sweep:
    """What the function ``sweep`` runs."""
    from herald.upkeep.sweep import Sweep
    from herald.upkeep.turns import Turns
    from herald.upkeep.webhooks import DueWebhooks

    settings = SweepSettings.read(platform.environ)
    log = platform.task_log(settings.table, settings.bucket)
    launcher = platform.launcher(settings.state_machine_arn)
    webhooks, doorbells = platform.webhooks(settings.table), platform.doorbells(settings.queue_url)
    meter = meter or Unmetered()
    return Sweep(
        platform.due_index(settings.table),
        Turns(log, launcher, platform.clock, platform.ids, settings.turn_seconds, meter),
        DueWebhooks(log, webhooks, doorbells, platform.clock, platform.ids),
        platform.clock,
        meter,
    )


def ring_webhooks(platform: Platform) -> Ringer:
    """What the function ``ring_webhooks`` uses."""
    from herald.delivery.ring import Ringer

    settings = RingWebhooksSettings.read(platform.environ)
    return Ringer(platform.webhooks(settings.table), platform.doorbells(settings.queue_url))


def send_webhooks(platform: Platform, watch: Watch) -> Delivery:
    """What the function ``send_webhooks`` runs."""
    from herald.adapters.eventbridge import EventBridgeAnnouncer
    from herald.adapters.http import PinnedTransport
    from herald.delivery.attempt import Sender
    from herald.delivery.cursor import Delivery
    from herald.delivery.large import Shortening
    from herald.delivery.signing import SigningKeys
    from herald.delivery.token import BearerTokens
    from herald.delivery.url_policy import AllowList, UrlPolicy

    settings = SendWebhooksSettings.read(platform.environ)
    key = platform.token_key(settings.webhook_token_key)
    region = platform.environ.get("AWS_REGION", "")
    address = base_url(settings.public_url, region, settings.api_id, settings.stage)
    sender = Sender(
        UrlPolicy(platform.resolver(), AllowList.parse(settings.webhook_allow)),
        PinnedTransport(),
        SigningKeys(platform.secret(settings.signing_secret)),
        platform.sealer(settings.sealing_secret),
        platform.clock,
        settings.webhook_timeout,
        BearerTokens(key, address) if key else None,
    )
    return Delivery(
        platform.task_log(settings.table, settings.bucket),
        platform.webhooks(settings.table),
        platform.doorbells(settings.queue_url),
        sender,
        platform.clock,
        platform.ids,
        watch,
        random,
        EventBridgeAnnouncer(lambda: platform.aws.events, settings.stack),
        Shortening(platform.kept_bodies(settings.bucket), sender.sealer, address),
    )


def authorize(environ: Mapping[str, str]) -> Verifier:
    """What the function ``authorize`` asks; it needs nothing of AWS, so there is no platform.

    Only a stack in an emulator reads an issuer's keys over plain http.
    """
    from herald.adapters.issuer import HttpIssuerDocuments
    from herald.authorization.claims import Expected
    from herald.authorization.key_ring import KeyRing
    from herald.authorization.verifier import Verifier

    settings = AuthorizeSettings.read(environ)
    audiences = frozenset(each for name in settings.audience.split(",") if (each := name.strip()))
    expected = Expected(settings.oidc_issuer, audiences, tuple(settings.scopes.split()), settings.tenant_claim)
    documents = HttpIssuerDocuments(plain=bool(environ.get("AWS_ENDPOINT_URL")))
    clock = SystemClock()
    return Verifier(expected, KeyRing(documents, settings.oidc_issuer, settings.jwks_url, clock), clock)


def publish_keys(platform: Platform) -> PublishedKeys:
    """What the function ``publish_keys`` uses."""
    from herald.delivery.published_keys import PublishedKeys
    from herald.delivery.signing import SigningKeys

    settings = PublishKeysSettings.read(platform.environ)
    notifications = SigningKeys(platform.secret(settings.signing_secret))
    return PublishedKeys(
        notifications, platform.card_key(settings.card_key), platform.token_key(settings.webhook_token_key)
    )
