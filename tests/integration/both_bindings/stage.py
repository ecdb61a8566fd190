"""One deployment of the API behind each binding, on moto: the same callers, the same time, the same names.

Each binding has a table of its own, so that what is done over one is done anew over the other, and equal requests must
lead to equal answers, ids and times included.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from unittest import mock
from urllib.parse import quote, urlencode

import boto3
from moto import mock_aws

from builders.events import LambdaContext
from builders.front_door import event
from builders.stack import create_tasks_table
from fakes.clock import START, FakeClock, SequentialIds
from herald import bootstrap
from herald.bindings.rest import ROUTES
from herald.entrypoints import api, run_agent
from herald.operations import direct_reply
from herald.protocol.model import Message, Part, Role
from herald.records import TaskRef
from integration import pump

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Json = dict[str, Any]
Binding = Literal["JSONRPC", "HTTP+JSON"]
Handler = Callable[[Any, Any], Any]

BINDINGS: tuple[Binding, ...] = ("JSONRPC", "HTTP+JSON")
HOOK = "https://127.0.0.1:9999/in"
IN_JSON = {"Content-Type": "application/json"}
EXTENSION = "https://example.com/extensions/a"

CARD = f"""
name: test-agent
description: Does what a test asks for.
version: 1.2.3
capabilities:
  extensions:
    - {{uri: "{EXTENSION}"}}
defaultInputModes: [text/*, application/json, image/png]
defaultOutputModes: [text/plain, application/json]
skills:
  - {{id: s, name: Skill, description: A skill., tags: [test]}}
"""


@dataclass(frozen=True)
class Profile:
    """How an API is deployed, where it differs from the others."""

    card: str = CARD
    extended: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    reply: Callable[[Any], Awaitable[Any]] | None = None


async def _nonsense(_: object) -> str:
    return "no message"


async def _hello(_: object) -> Message:
    return Message(message_id="r1", role=Role.AGENT, parts=[Part(text="Hello.")])


PROFILES = {
    "plain": Profile(),
    "requiring": Profile(CARD.replace("}\ndefault", ", required: true}\ndefault")),
    "without webhooks": Profile(CARD.replace("capabilities:\n", "capabilities:\n  pushNotifications: false\n")),
    "extended": Profile(extended="description: Does more for those it knows.\n"),
    "replying": Profile(reply=_hello),
    "replying nonsense": Profile(reply=_nonsense),
    "of two webhooks": Profile(environ={"HERALD_WEBHOOKS_PER_TASK": "2"}),
    "of one origin": Profile(environ={"HERALD_ORIGINS_PER_OWNER": "1"}),
    "of one task": Profile(environ={"HERALD_OPEN_TASKS_PER_OWNER": "1"}),
}


@dataclass(frozen=True)
class Reply:
    """An answer: what both bindings say the same of, and how each of them says it."""

    result: Any = None
    reason: str = ""
    message: str = ""
    details: tuple[Json, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    code: int = field(default=0, compare=False)  # of JSON-RPC
    grpc: str = field(default="", compare=False)  # of HTTP+JSON
    status: int = field(default=0, compare=False)
    media_type: str = field(default="", compare=False)

    @property
    def fields(self) -> list[str]:
        return [each["field"] for each in self.details[1]["fieldViolations"]] if len(self.details) > 1 else []

    @property
    def metadata(self) -> Json:
        found: Json = self.details[0].get("metadata", {})
        return found


@dataclass
class Deployment:
    """The functions behind one binding, their table, clock and names."""

    binding: Binding
    environ: dict[str, str]
    folder: Path
    tables: DynamoDBClient
    clock: FakeClock = field(default_factory=FakeClock)
    ids: SequentialIds = field(default_factory=SequentialIds)
    handlers: dict[str, Handler] = field(default_factory=dict)
    _worker: Handler | None = None

    def begin(self) -> None:
        """An empty table, and time and names as they were when it was deployed."""
        table = self.environ["HERALD_TABLE"]
        with suppress(self.tables.exceptions.ResourceNotFoundException):  # moto's transactions copy all that there is
            self.tables.delete_table(TableName=table)
        create_tasks_table(self.tables, table)
        self.clock.set(START)
        self.ids.__init__()  # type: ignore[misc]

    def handler(self, profile: str) -> Handler:
        if profile not in self.handlers:
            found = PROFILES[profile]
            folder = self.folder / re.sub(r"\W", "-", f"{self.binding}-{profile}")
            folder.mkdir()
            card = folder / "card.yaml"
            card.write_text(found.card)
            os.utime(card, (START // 1000, START // 1000))
            if found.extended:
                (folder / "extended_card.yaml").write_text(found.extended)
            with mock.patch.object(direct_reply, "load", return_value=found.reply):
                self.handlers[profile] = api.handler_for(self._platform(found.environ), card)
        return self.handlers[profile]

    def work(self, owner: str, tenant: str, task_id: str) -> None:
        """Run the turn that a task's last message has opened, as run_agent does."""
        if self._worker is None:
            self._worker = run_agent.handler_for(bootstrap.run_agent(self._platform({})))
        header = (
            self._platform({})
            .task_log(self.environ["HERALD_TABLE"], self.environ["HERALD_BUCKET"])
            .header(TaskRef(tenant, owner, task_id))
        )
        assert header is not None
        turn = {"tenant": tenant, "owner": owner, "taskId": task_id, "turn": header.turn}
        assert self._worker is not None
        self._worker(turn, LambdaContext())  # type: ignore[arg-type]

    def _platform(self, more: Mapping[str, str]) -> bootstrap.Platform:
        return bootstrap.Platform({**self.environ, **more}, clock=self.clock, ids=self.ids)


@dataclass
class Client:
    """A caller of one deployment over its binding."""

    deployment: Deployment
    owner: str
    tenant: str = ""
    profile: str = "plain"

    def call(
        self, operation: str, params: Json | None = None, headers: Mapping[str, str] | None = None, **more: Any
    ) -> Reply:
        """Call an operation; keyword arguments as in ``rest_event``."""
        sent = {"A2A-Version": "1.0", **(headers or {})}
        if self.deployment.binding == "JSONRPC":
            body = {"jsonrpc": "2.0", "id": 1, "method": operation, "params": params or {}}
            return self.send(
                "POST", "/", json.dumps(body).encode(), {"Content-Type": "application/json", **sent}, **more
            )
        method, target, rest = _request(operation, params or {})
        if rest is not None:
            sent = {**IN_JSON, **sent}
        return self.send(method, target, rest or b"", sent, **more)

    def post(self, body: bytes, headers: Mapping[str, str] | None = None) -> Reply:
        """SendMessage's address with a body as it is."""
        path = "/" if self.deployment.binding == "JSONRPC" else "/message:send"
        return self.send("POST", path, body, {"A2A-Version": "1.0", **IN_JSON, **(headers or {})})

    def send(
        self,
        method: str,
        target: str,
        body: bytes,
        headers: Mapping[str, str],
        authorizer: Mapping[str, str] | None = None,
        **more: Any,
    ) -> Reply:
        """Any request at all. ``authorizer`` is what the authorizer found, where owner and tenant don't say it all."""
        sent = event(method, target, headers.items(), body, **{"owner": self.owner, "tenant": self.tenant, **more})
        if authorizer is not None:
            sent["requestContext"]["authorizer"] = dict(authorizer)
        return _reply(self.deployment.binding, self.deployment.handler(self.profile)(sent, LambdaContext()))


def _request(operation: str, params: Json) -> tuple[str, str, bytes | None]:
    """Verb, target and body of an operation over HTTP+JSON."""
    route = next((route for route in ROUTES if route.operation == operation), None)
    if route is None:
        return "GET", f"/{operation}", None
    rest = dict(params)
    path = re.sub(r"\{(\w+)\}", lambda found: quote(str(rest.pop(found[1])), safe=""), route.path)
    if route.method == "POST":
        return "POST", path, json.dumps(rest).encode() if rest else None
    said = {name: str(value).lower() if isinstance(value, bool) else value for name, value in rest.items()}
    return route.method, f"{path}?{urlencode(said)}" if said else path, None


TOLD = ("a2a-extensions", "allow", "retry-after", "www-authenticate")
TRANSPORT = {401, 403, 405, 413, 429}


def _reply(binding: Binding, answer: Json) -> Reply:
    assert answer["isBase64Encoded"] is False
    body = json.loads(answer["body"])
    sent = {name.lower(): value for name, value in answer["headers"].items()}
    told = tuple((name, sent[name]) for name in TOLD if name in sent)
    status, media_type = answer["statusCode"], sent["content-type"]
    if binding == "JSONRPC":
        assert media_type == "application/json"
        assert body["jsonrpc"] == "2.0"
        assert set(body) in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
        if "result" in body:
            assert (status, body["id"]) == (200, 1)
            return Reply(body["result"] or {}, headers=told, status=status, media_type=media_type)
        error, details = body["error"], body["error"]["data"]
        assert set(error) == {"code", "message", "data"}
        assert status in {200, *TRANSPORT}
        return _refusal(error, details, told, status=status, code=error["code"], media_type=media_type)
    if status == 200:
        return Reply(body, headers=told, status=status, media_type=media_type)
    assert set(body) == {"error"}
    error = body["error"]
    assert set(error) == {"code", "status", "message", "details"}
    assert error["code"] == status
    return _refusal(error, error["details"], told, status=status, grpc=error["status"], media_type=media_type)


def _refusal(error: Json, details: list[Json], told: tuple[tuple[str, str], ...], **more: Any) -> Reply:
    assert details[0]["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"
    assert details[0]["domain"] == "a2a-protocol.org"
    assert all(isinstance(value, str) for value in details[0].get("metadata", {}).values())
    assert [each["@type"] for each in details[1:]] in ([], ["type.googleapis.com/google.rpc.BadRequest"])
    assert error["message"]
    return Reply(None, details[0]["reason"], error["message"], tuple(details), told, **more)


@contextmanager
def deployments(folder: Path) -> Iterator[dict[Binding, Deployment]]:
    """Both bindings, deployed on one moto."""
    settings = {
        "HERALD_AUTH_MODE": "jwt",
        "HERALD_AGENT": "builders.agents:Obedient",
        "HERALD_WEBHOOK_ALLOW": "127.0.0.1:*",
        "HERALD_BLOCKING_SECONDS": "2",
    }
    with mock_aws(), pump.deployed(settings):
        tables = {binding: f"tasks-{number}" for number, binding in enumerate(BINDINGS)}
        client = boto3.client("dynamodb")
        yield {
            binding: Deployment(binding, {**os.environ, "HERALD_TABLE": table}, folder, client)
            for binding, table in tables.items()
        }
