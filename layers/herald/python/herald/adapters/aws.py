"""AWS clients and what their failures mean: one configuration, one translation into ``Unavailable``."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
from botocore.exceptions import ConnectionError as NoConnection

from herald.ports import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

    from herald.adapters.dynamodb.stream import StreamsClient

P = ParamSpec("P")
T = TypeVar("T")

FAILURES = (BotoCoreError, ClientError)
"""What a client's method raises, for who tells a person of it."""

CONFIG = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 3, "mode": "standard"})

# A card is served without its signature when KMS doesn't answer, so nobody waits long for it.
IMPATIENT = CONFIG.merge(Config(connect_timeout=1, read_timeout=2, retries={"total_max_attempts": 2}))

# An announcement is given up rather than waited for: a delivery is under way.
NO_SECOND_TRY = CONFIG.merge(Config(connect_timeout=1, read_timeout=1, retries={"total_max_attempts": 1}))

THROTTLED = frozenset(
    {
        "ExecutionLimitExceeded",
        "InternalServerError",
        "KmsThrottled",
        "LimitExceededException",
        "OverLimit",
        "ProvisionedThroughputExceeded",  # as a cancellation reason
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "ServiceUnavailable",
        "SlowDown",
        "Throttling",
        "ThrottlingError",  # as a cancellation reason
        "ThrottlingException",
        "TooManyRequestsException",
    }
)


def code_of(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")


def call(operation: Callable[P, T], *args: P.args, **request: P.kwargs) -> T:
    """Call a client's method.

    Raises:
        Unavailable: time-out, no connection, throttled, or the service's own failure, after botocore's three attempts.
        ClientError: everything else, such as a condition that didn't hold.
    """
    try:
        return operation(*args, **request)
    except ClientError as error:
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code_of(error) in THROTTLED or status >= 500:
            raise Unavailable(f"{error.operation_name}: {code_of(error)}") from error
        raise
    except (HTTPClientError, IncompleteReadError, NoConnection) as error:
        raise Unavailable(f"{getattr(operation, '__name__', 'AWS call')}: {type(error).__name__}") from error


def items_as_they_come(response_dict: dict[str, Any], customized_response_dict: dict[str, Any], **_: object) -> None:
    """Take the items of a Query's answer out of its JSON before botocore walks through them.

    Our items hold strings and numbers only, which botocore's parser copies as they are, in half of the time that a
    Query of a task's log takes. An answer that isn't a page is left to it.
    """
    if response_dict["status_code"] != 200:
        return
    try:
        page = json.loads(response_dict["body"])
        items = page.pop("Items")
    except (ValueError, KeyError, AttributeError):
        return
    customized_response_dict["Items"] = items
    response_dict["body"] = json.dumps(page).encode()


class AwsClients:
    """The clients of one function, each made at its first use: making one costs 20 to 50 ms and opens no connection.

    Region, credentials and AWS_ENDPOINT_URL come from the environment, where Lambda puts them, unless a session of the
    caller's own is given.
    """

    def __init__(self, session: boto3.Session | None = None) -> None:
        self._given = session

    @cached_property
    def _session(self) -> boto3.Session:
        return self._given or boto3.Session()

    @cached_property
    def dynamodb(self) -> DynamoDBClient:
        # What we send is typed and tested; botocore's own check of it is a third of a transaction's CPU.
        client = self._session.client("dynamodb", config=CONFIG.merge(Config(parameter_validation=False)))
        client.meta.events.register("before-parse.dynamodb.Query", items_as_they_come)
        return client

    @cached_property
    def dynamodbstreams(self) -> StreamsClient:
        client: StreamsClient = self._session.client("dynamodbstreams", config=CONFIG)
        return client

    @cached_property
    def cloudformation(self) -> CloudFormationClient:
        return self._session.client("cloudformation", config=CONFIG)

    @cached_property
    def events(self) -> Any:
        return self._session.client("events", config=NO_SECOND_TRY)

    @cached_property
    def s3(self) -> S3Client:
        return self._session.client("s3", config=CONFIG.merge(Config(signature_version="s3v4")))  # for presigned links

    @cached_property
    def sqs(self) -> SQSClient:
        return self._session.client("sqs", config=CONFIG)

    @cached_property
    def stepfunctions(self) -> SFNClient:
        return self._session.client("stepfunctions", config=CONFIG)

    @cached_property
    def secretsmanager(self) -> SecretsManagerClient:
        return self._session.client("secretsmanager", config=CONFIG)

    @cached_property
    def kms(self) -> KMSClient:
        return self._session.client("kms", config=IMPATIENT)
