"""One store behind its three ports: in memory, or the adapters on whatever the clients talk to."""

from __future__ import annotations

from dataclasses import dataclass

from builders.stack import create_tasks_table
from fakes.clock import FakeClock
from fakes.store import FakeDueIndex, FakeTaskIndex, FakeTaskLog, FakeWebhooks, World
from fakes.usage import FakeUsage
from herald.adapters.aws import AwsClients
from herald.adapters.dynamodb.due import DynamoDueIndex
from herald.adapters.dynamodb.index import DynamoTaskIndex
from herald.adapters.dynamodb.log import DynamoTaskLog
from herald.adapters.dynamodb.usage import DynamoUsage
from herald.adapters.dynamodb.webhooks import DynamoWebhooks
from herald.adapters.s3 import S3Bodies
from herald.ports import DueIndex, TaskIndex, TaskLog, Usage, Webhooks

TABLE = "tasks"
BUCKET = "bodies"
REGION = "eu-central-1"

# What boto3 reads; without the last one moto doesn't find a table's stream.
AWS_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
}


@dataclass(frozen=True)
class Store:
    """TaskLog, Webhooks and the indexes over one table."""

    name: str
    log: TaskLog
    webhooks: Webhooks
    index: DueIndex
    tasks: TaskIndex
    usage: Usage


def fake_store(world: World) -> Store:
    log, webhooks = FakeTaskLog(world), FakeWebhooks(world)
    return Store("fake", log, webhooks, FakeDueIndex(world), FakeTaskIndex(world), FakeUsage(world))


def dynamo_store(aws: AwsClients, clock: FakeClock, owner_shards: int = 1) -> Store:
    """The adapters, with the table and the bucket made first."""
    create_tasks_table(aws.dynamodb, TABLE)
    aws.s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    return Store(
        "dynamodb",
        DynamoTaskLog(lambda: aws.dynamodb, TABLE, S3Bodies(lambda: aws.s3, BUCKET), clock, owner_shards),
        DynamoWebhooks(lambda: aws.dynamodb, TABLE, clock),
        DynamoDueIndex(lambda: aws.dynamodb, TABLE),
        DynamoTaskIndex(lambda: aws.dynamodb, TABLE, clock, owner_shards),
        DynamoUsage(lambda: aws.dynamodb, TABLE, clock, owner_shards),
    )
