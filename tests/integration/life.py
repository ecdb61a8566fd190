"""One task's life as the sample events of events/ tell it, on moto.

The clock stands at the time of the samples and names come in one order, so that the ids in the files are those that the
handlers make.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import boto3
from moto import mock_aws

from builders.issuer import AUDIENCE, ISSUER, JWKS_URL, FakeIssuerDocuments
from builders.stores import TABLE
from fakes.clock import FakeClock, SequentialIds
from herald import bootstrap
from herald.adapters.dns import SystemResolver
from herald.adapters.http import PinnedTransport
from herald.authorization.claims import Expected
from herald.authorization.key_ring import KeyRing
from herald.authorization.verifier import Verifier
from herald.entrypoints import (
    api,
    authorize,
    publish_keys,
    ring_webhooks,
    run_agent,
    send_webhooks,
    start_worker,
    sweep,
)
from herald.ports import Answer
from integration.pump import Handler, Stack, deployed

ROOT = Path(__file__).parents[2]
EVENTS = {path.stem: path for path in sorted((ROOT / "events").glob("*.json"))}

SENT = "02-api-send-message-jsonrpc"
SENT_AGAIN = "03-api-send-message-http"
RAN = "06-run-agent-turn"
RUNG = "09-send-webhooks-doorbell"
ASKED = "11-api-get-task-http"


def event(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(EVENTS[name].read_text())
    return found


def function_of(name: str, functions: Iterable[str]) -> str:
    """The function that a sample is for: the part of its name after the number says so."""
    return next(function for function in functions if name[3:].startswith(function.replace("_", "-")))


@dataclass
class Life:
    """The deployed stack, and a receiver that takes everything."""

    stack: Stack
    clock: FakeClock
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def handle(self, name: str) -> Any:
        """The sample through its function."""
        return self.stack.invoke(function_of(name, self.stack.functions), event(name))

    def answer(self, name: str) -> Any:
        """The JSON body of an API answer, which must be a 200."""
        response = self.handle(name)
        assert (response["statusCode"], response["isBase64Encoded"]) == (200, False)
        return json.loads(response["body"])

    def live(self, *names: str) -> None:
        for name in names:
            self.handle(name)

    @property
    def items(self) -> dict[str, Mapping[str, Any]]:
        """What the table holds, by sort key."""
        return {item["sk"]["S"]: item for item in boto3.client("dynamodb").scan(TableName=TABLE)["Items"]}

    @property
    def state(self) -> str:
        return str(self.items["TASK"]["state"]["S"])

    def executions(self) -> list[str]:
        """Those that were started; here they go no further."""
        listed = boto3.client("stepfunctions").list_executions(stateMachineArn=self.stack.machine_arn)["executions"]
        return [execution["name"] for execution in listed]

    def doorbells(self) -> list[tuple[str, Any]]:
        """Group and body of what is queued."""
        events = iter(self.stack.doorbell, None)
        records = [record for event in events for record in event["Records"]]
        return [(record["attributes"]["MessageGroupId"], json.loads(record["body"])) for record in records]


@contextmanager
def beginning() -> Iterator[Life]:
    """A life in which nothing has happened yet."""
    with mock_aws(), deployed() as stack:
        clock = FakeClock()
        stack.functions |= _functions(bootstrap.Platform(os.environ, clock=clock, ids=SequentialIds()))
        life = Life(stack, clock)

        def post(_: object, url: str, address: str, headers: Mapping[str, str], body: bytes, seconds: float) -> Answer:
            assert (url, address) == ("https://client.example.com/notifications", "93.184.215.14")
            life.received.append((dict(headers), body))
            return Answer(204, {}, b"", 3)

        with (
            mock.patch.object(SystemResolver, "resolve", return_value=["93.184.215.14"]),
            mock.patch.object(PinnedTransport, "post", post),
        ):
            yield life


def _functions(platform: bootstrap.Platform) -> dict[str, Handler]:
    """All functions on one platform, with its clock and its ids."""
    meter = bootstrap.meter(platform.environ, platform.clock)
    watch = send_webhooks.DeliveryWatch(meter)
    return {
        "api": api.handler_for(platform, ROOT / "layers/agent/python/agent/card.yaml"),
        "authorize": authorize.handler_for(_verifier(platform), meter),
        "publish_keys": publish_keys.handler_for(bootstrap.publish_keys(platform)),
        "start_worker": start_worker.handler_for(bootstrap.start_worker(platform)),
        "run_agent": run_agent.handler_for(bootstrap.run_agent(platform, meter), meter),
        "ring_webhooks": ring_webhooks.handler_for(bootstrap.ring_webhooks(platform)),
        "send_webhooks": send_webhooks.handler_for(bootstrap.send_webhooks(platform, watch), watch),
        "sweep": sweep.handler_for(bootstrap.sweep(platform, meter), meter),
    }


def _verifier(platform: bootstrap.Platform) -> Verifier:
    """Takes the tokens of the samples' issuer, whose private key nobody has any more."""
    documents = FakeIssuerDocuments({JWKS_URL: (ROOT / "events" / "keys" / "issuer.json").read_bytes()})
    keys = KeyRing(documents, ISSUER, JWKS_URL, platform.clock)
    return Verifier(Expected(ISSUER, frozenset({AUDIENCE}), ("herald/call",)), keys, platform.clock)
