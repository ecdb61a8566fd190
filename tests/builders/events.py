"""The events that AWS hands to a Lambda function, as small as they may be and as complete as ours look at them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any

from fakes.store import Change
from herald.adapters.dynamodb import items, keys
from herald.records import Attempt, Doorbell, Entry, Header, TakenSend, TaskRef, Webhook

REGION = "eu-central-1"
ACCOUNT = "123456789012"
API_ID = "a1b2c3d4e5"
STREAM_ARN = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/tasks/stream/2026-01-01T00:00:00.000"
QUEUE_ARN = f"arn:aws:sqs:{REGION}:{ACCOUNT}:doorbells.fifo"


def rest_event(
    method: str = "POST",
    path: str = "/",
    body: object = None,
    *,
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
    owner: str = "alice",
    tenant: str = "",
    user: str = "",
    stage: str = "prod",
    domain: str = f"{API_ID}.execute-api.{REGION}.amazonaws.com",
    base_path: str = "",
    base64_body: bool = False,
) -> dict[str, Any]:
    """An API Gateway REST API proxy event.

    ``body`` that isn't str, bytes or None is sent as JSON. ``owner`` and ``tenant`` are what the authorizer found in a
    token; ``user``, instead, is ``identity.user`` of a SigV4 caller. Both "": nobody. ``base_path`` is that of a custom
    domain: part of ``requestContext.path`` in the place of the stage.
    """
    sent = {"Content-Type": "application/json", "A2A-Version": "1.0", "Host": domain, **(headers or {})}
    raw: bytes | None
    if body is None or isinstance(body, bytes):
        raw = body
    else:
        raw = (body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)).encode()
    encoded = None
    if raw is not None:
        encoded = base64.b64encode(raw).decode() if base64_body else raw.decode()
    prefix = base_path if base_path or not domain.startswith(API_ID) else f"/{stage}"
    session = user.partition(":")[2]
    return {
        "resource": "/{proxy+}",
        "path": f"{base_path}{path}",
        "httpMethod": method,
        "headers": sent,
        "multiValueHeaders": {name: [value] for name, value in sent.items()},
        "queryStringParameters": dict(query) if query else None,
        "multiValueQueryStringParameters": {name: [value] for name, value in query.items()} if query else None,
        "pathParameters": {"proxy": path.lstrip("/")} if path != "/" else None,
        "stageVariables": None,
        "requestContext": {
            "resourceId": "abc123",
            "resourcePath": "/{proxy+}",
            "httpMethod": method,
            "path": f"{prefix}{path}",
            "accountId": ACCOUNT,
            "protocol": "HTTP/1.1",
            "stage": stage,
            "domainPrefix": domain.split(".")[0],
            "domainName": domain,
            "apiId": API_ID,
            "requestId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
            "requestTime": "01/Jan/2026:00:00:00 +0000",
            "requestTimeEpoch": 1_767_225_600_000,
            "identity": {
                "accountId": ACCOUNT if user else None,
                "caller": user or None,
                "user": user or None,
                "userArn": f"arn:aws:sts::{ACCOUNT}:assumed-role/client/{session}" if user else None,
                "accessKey": "ASIAEXAMPLE" if user else None,
                "sourceIp": "198.51.100.7",
                "userAgent": "test",
            },
            "authorizer": None if user or not owner else authorized(owner, tenant),
        },
        "body": encoded,
        "isBase64Encoded": base64_body,
    }


def authorized(owner: str, tenant: str = "", missing: str = "", expires: str = "1767229200") -> dict[str, str]:
    """What the authorizer says of a token, as API Gateway hands it on; ``expires`` is an hour after the event."""
    return {"principalId": owner, "owner": owner, "tenant": tenant, "missing": missing, "expires": expires}


def rpc_event(method: str, params: object = None, *, rpc_id: object = 1, **event: Any) -> dict[str, Any]:
    """A JSON-RPC request as an API Gateway event; keyword arguments as in ``rest_event``."""
    envelope: dict[str, object] = {"jsonrpc": "2.0", "id": rpc_id, "method": method}
    if params is not None:
        envelope["params"] = params
    return rest_event("POST", "/", envelope, **event)


Kept = Header | Entry | TakenSend | Webhook | Attempt


def image(ref: TaskRef, record: Kept, expires_second: int, *, sk: str = "", body_key: str = "") -> items.Item:
    """The DynamoDB image of a record; ``sk`` is needed for a TakenSend only."""
    if isinstance(record, Header):
        return items.header_item(record)
    if isinstance(record, Entry):
        return items.entry_item(keys.pk(ref), record, expires_second, body_key)
    if isinstance(record, Webhook):
        return items.webhook_item(record)
    if isinstance(record, TakenSend):
        return items.taken_item(keys.pk(ref), sk.removeprefix("MSG#"), record, expires_second)
    owner = Webhook(ref, "", sk.split("#")[1], "", "", 0, 0, False, 0, 0)
    return items.attempt_item(owner, record, expires_second)


def stream_record(new: Mapping[str, Any] | None, event: str = "INSERT", position: int = 1) -> dict[str, Any]:
    """One record of a DynamoDB stream (view NEW_IMAGE) as Lambda gets it."""
    change: dict[str, Any] = {
        "ApproximateCreationDateTime": 1_767_225_600,
        "Keys": {name: new[name] for name in ("pk", "sk")} if new else {},
        "SequenceNumber": f"{position:021d}",
        "SizeBytes": 500,
        "StreamViewType": "NEW_IMAGE",
    }
    if new is not None and event != "REMOVE":
        change["NewImage"] = dict(new)
    return {
        "eventID": f"{position:032x}",
        "eventName": event,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": REGION,
        "dynamodb": change,
        "eventSourceARN": STREAM_ARN,
    }


def stream_event(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {"Records": [dict(record) for record in records]}


def stream_of(changes: Iterable[Change]) -> dict[str, Any]:
    """The stream event of a fake World's changes: ``stream_of(world.changes(since))``. Nothing is filtered."""
    records = []
    for change in changes:
        new = None
        if change.record is not None:
            new = image(change.ref, change.record, change.expires_second, sk=change.sk)
        records.append(stream_record(new, change.event, change.position + 1))
    return stream_event(records)


def queue_event(*doorbells: Doorbell | str, receives: int = 1) -> dict[str, Any]:
    """An SQS FIFO event; a str is a body as it is, so that a test can send rubbish."""
    from herald.adapters.sqs import body_of

    records = []
    for number, bell in enumerate(doorbells, 1):
        key = bell.key if isinstance(bell, Doorbell) else "group"
        records.append(
            {
                "messageId": f"00000000-0000-0000-0000-{number:012d}",
                "receiptHandle": f"receipt-{number}",
                "body": body_of(bell) if isinstance(bell, Doorbell) else bell,
                "attributes": {
                    "ApproximateReceiveCount": str(receives),
                    "SentTimestamp": "1767225600000",
                    "SequenceNumber": f"{number:020d}",
                    "MessageGroupId": key,
                    "SenderId": "AIDASENDER",
                    "MessageDeduplicationId": f"{key}-{number}",
                    "ApproximateFirstReceiveTimestamp": "1767225600000",
                },
                "messageAttributes": {},
                "md5OfBody": "",
                "eventSource": "aws:sqs",
                "eventSourceARN": QUEUE_ARN,
                "awsRegion": REGION,
            }
        )
    return {"Records": records}


class LambdaContext:
    """The context object of an invocation; ``seconds`` is the time that is left, and stays so."""

    function_name = "function"
    function_version = "$LATEST"
    memory_limit_in_mb = "512"
    aws_request_id = "11111111-2222-3333-4444-555555555555"
    log_group_name = "/aws/lambda/function"
    log_stream_name = "2026/01/01/[$LATEST]abc"

    def __init__(self, seconds: float = 300.0) -> None:
        self.seconds = seconds
        self.invoked_function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:function"

    def get_remaining_time_in_millis(self) -> int:
        return round(self.seconds * 1000)
