"""The API over fakes: its operations, and both bindings through the function's own handler."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from builders.events import rest_event, rpc_event
from builders.turns import result_of
from fakes.clock import FakeClock, SequentialIds
from fakes.store import FakeTaskIndex, FakeTaskLog, FakeWebhooks, World
from fakes.usage import FakeUsage
from fakes.world import FakeLauncher, FakeResolver, FakeSealer
from herald.bindings import app, card, gateway, openapi_page
from herald.bindings.card_security import Door
from herald.bindings.cors import OFF, Cors
from herald.bindings.deployed_card import Cards, Deployment
from herald.bindings.service import Service
from herald.bindings.wellknown import CARD_PATH, CardPage
from herald.delivery.url_policy import AllowList, UrlPolicy
from herald.log import Appender, status_entry
from herald.operations.call import Call, Limits
from herald.operations.catalogue import Catalogue, Ports, catalogue
from herald.operations.send_message import Reply
from herald.ports import CardSigner
from herald.protocol import codec
from herald.protocol.states import TaskState
from herald.records import Caller, Entry, Header, TaskRef

Json = dict[str, Any]

HOOK = "https://hooks.example.com/in"
PUBLIC = {"hooks.example.com": ["93.184.216.34"], "other.example.com": ["93.184.216.35"]}
REGION = "eu-central-1"

CARD = """
name: test-agent
description: Does what a test asks for.
version: 1.2.3
defaultInputModes: [text/plain]
defaultOutputModes: [text/plain]
skills:
  - {id: s, name: Skill, description: A skill., tags: [test]}
"""


def message(text: str = "hi", **members: Any) -> Json:
    """M of the cases: a client's message."""
    return {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": text}], **members}


def sending(*, now: bool = True, config: Json | None = None, metadata: Json | None = None, **members: Any) -> Json:
    """A SendMessageRequest; ``now`` is returnImmediately."""
    request: Json = {"message": message(**members), "configuration": {"returnImmediately": now, **(config or {})}}
    return request if metadata is None else {**request, "metadata": metadata}


@dataclass
class ApiBench:
    """The API and the world behind it.

    ``call`` calls an operation; ``rpc`` and ``rest`` go through API Gateway's events.
    """

    limits: Limits = field(default_factory=Limits)
    auth: gateway.AuthMode = "jwt"
    reply: Reply | None = None
    allow: str = ""
    card_text: str = CARD
    extended_text: str = ""
    card_signer: CardSigner | None = None
    issuer: str = "https://issuer.example.com"
    token_url: str = ""
    scopes: tuple[str, ...] = ()
    public_url: str = ""
    webhook_tokens: bool = False
    egress_addresses: tuple[str, ...] = ()
    cors: Cors = OFF
    clock: FakeClock = field(default_factory=FakeClock)
    ids: SequentialIds = field(default_factory=SequentialIds)
    launcher: FakeLauncher = field(default_factory=FakeLauncher)
    sealer: FakeSealer = field(default_factory=FakeSealer)
    resolver: FakeResolver = field(default_factory=lambda: FakeResolver(PUBLIC))

    def __post_init__(self) -> None:
        self.world = World(self.clock)
        self.log = FakeTaskLog(self.world)
        self.index = FakeTaskIndex(self.world)
        self.webhooks = FakeWebhooks(self.world)
        self.usage = FakeUsage(self.world)
        self._handler: Callable[[Json, Any], Json] | None = None
        self.operations: Catalogue = catalogue(
            Ports(
                log=self.log,
                index=self.index,
                webhooks=self.webhooks,
                launcher=self.launcher,
                sealer=self.sealer,
                clock=self.clock,
                ids=self.ids,
                usage=self.usage,
                check_url=UrlPolicy(self.resolver, AllowList.parse(self.allow)).objection,
                reply=self.reply,
                extended_card=self.cards.extended if self.extended_text else None,
            ),
            self.limits if not self.extended_text else replace(self.limits, extended_agent_card=True),
        )

    # ---- operations ----

    def call(self, name: str, params: Json, owner: str = "alice", tenant: str = "") -> Any:
        """Call an operation; raises its A2AError."""
        operation = self.operations[name]
        call = Call(Caller(tenant, owner), "00-" + "a" * 32 + "-" + "b" * 16 + "-01")
        return result_of(operation.run(call, operation.request.parse(params) if operation.request else None))  # type: ignore[arg-type]

    def send(self, owner: str = "alice", tenant: str = "", **members: Any) -> Json:
        """SendMessage, returnImmediately; the Task."""
        task: Json = self.call("SendMessage", sending(**members), owner, tenant)["task"]
        return task

    def ref(self, task_id: str, owner: str = "alice", tenant: str = "") -> TaskRef:
        return TaskRef(tenant, owner, task_id)

    def header(self, ref: TaskRef) -> Header:
        header = self.world.get(ref, "TASK", Header)
        assert header is not None
        return header

    def put_status(self, ref: TaskRef, state: TaskState, text: str = "") -> Entry:
        """A worker's status, without a run: the API looks at states alone."""
        header = self.header(ref)
        end = self.world.entries(ref)[-1].number
        appender = Appender(self.log, self.clock, self.ids, header, end, lambda _: None)
        said = None
        if text:
            said = {
                "messageId": f"a{header.end}",
                "contextId": header.context_id,
                "taskId": ref.task_id,
                "role": "ROLE_AGENT",
                "parts": [{"text": text}],
            }
        return appender.commit(
            lambda number, writer: status_entry(appender.header, number, writer, state, self.clock.now(), message=said),
            lambda before, entry: before.with_status(entry, due_at=None),
        )

    def put_artifact(self, ref: TaskRef, artifact_id: str = "a", text: str = "x") -> None:
        header = self.header(ref)
        end = self.world.entries(ref)[-1].number
        update = {
            "taskId": ref.task_id,
            "contextId": header.context_id,
            "artifact": {"artifactId": artifact_id, "parts": [{"text": text}]},
        }
        body = codec.dumps({"artifactUpdate": update})
        entry = Entry(end + 1, "artifact", body, self.clock.now(), self.ids.token(), header.turn)
        assert self.log.put(ref, entry, header.expires_second)

    # ---- bindings ----

    @cached_property
    def written(self) -> card.WrittenCard:
        return card.read(self.card_text, self.extended_text or None, modified=1_767_225_600)

    @cached_property
    def cards(self) -> Cards:
        door = Door(self.auth, REGION, self.issuer, self.token_url, self.scopes)
        deployment = Deployment(
            door, 15, self.limits.webhooks_per_task, self.webhook_tokens, egress_addresses=self.egress_addresses
        )
        return Cards(self.written, deployment, self.card_signer)

    @property
    def handler(self) -> Callable[[Json, Any], Json]:
        if self._handler is None:
            written, cards = self.written, self.cards
            base_url = gateway.public_url(self.public_url, REGION)
            documents: dict[str, app.Page] = {
                CARD_PATH: CardPage(cards.public, written.modified, 300, base_url),
                openapi_page.PATH: openapi_page.OpenApiPage(cards.public.unsigned, base_url),
            }
            service = Service(
                self.operations, self.ids, self.auth, written.required_extensions, written.extensions, base_url
            )
            self._handler = app.handler(app.application(service, documents, self.cors))
        return self._handler

    def http(self, event: Json) -> Json:
        """The function's answer to an API Gateway event."""
        return self.handler(event, None)

    def rpc(self, method: str, params: object = None, **event: Any) -> Json:
        """The JSON-RPC response; keyword arguments as in ``rest_event``, ``owner`` and ``tenant`` of the caller too."""
        answer = self.http(rpc_event(method, params, **event))
        parsed: Json = json.loads(answer["body"])
        return parsed

    def rest(self, method: str, path: str, body: object = None, **event: Any) -> Answer:
        """The HTTP+JSON response; keyword arguments as in ``rpc``."""
        answer = self.http(rest_event(method, path, body, **event))
        return Answer(answer["statusCode"], answer["headers"], json.loads(answer["body"]) if answer["body"] else None)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def reason(self) -> str:
        reason: str = self.body["error"]["details"][0]["reason"]
        return reason
