"""The HTTP+JSON binding (A2A specification section 11; paths as in a2a.proto)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from herald.bindings import caching, errors
from herald.bindings.http import A2A_JSON, JSON, Request, Response
from herald.bindings.service import Service
from herald.protocol import codec
from herald.protocol.errors import A2AError, InvalidParamsError, MethodNotAllowedError, MethodNotFoundError, invalid
from herald.protocol.protojson import Model


@dataclass(frozen=True, slots=True)
class Route:
    """One row of the route table. The variables of ``path`` are fields of the operation's request."""

    method: str
    path: str
    operation: str
    pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # The first variable is a task's id or a word before a verb: it holds no colon, so that an unknown verb isn't
        # taken for a part of an id. A webhook's id, the second one, may hold any.
        first = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/:]+)", self.path, count=1)
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", first)
        object.__setattr__(self, "pattern", re.compile(pattern))


ROUTES = (
    Route("POST", "/message:send", "SendMessage"),
    Route("POST", "/message:stream", "SendStreamingMessage"),
    Route("GET", "/tasks", "ListTasks"),
    Route("GET", "/tasks/{id}", "GetTask"),
    Route("POST", "/tasks/{id}:cancel", "CancelTask"),
    Route("POST", "/tasks/{id}:subscribe", "SubscribeToTask"),  # the specification's text
    Route("GET", "/tasks/{id}:subscribe", "SubscribeToTask"),  # a2a.proto
    Route("POST", "/tasks/{taskId}/pushNotificationConfigs", "CreateTaskPushNotificationConfig"),
    Route("GET", "/tasks/{taskId}/pushNotificationConfigs", "ListTaskPushNotificationConfigs"),
    Route("GET", "/tasks/{taskId}/pushNotificationConfigs/{id}", "GetTaskPushNotificationConfig"),
    Route("DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}", "DeleteTaskPushNotificationConfig"),
    Route("GET", "/extendedAgentCard", "GetExtendedAgentCard"),
)
"""The route table. Each path is served below ``/{tenant}`` as well."""

# The first segments of fixed paths, and what clients resolve by themselves, are never taken for a tenant.
RESERVED = frozenset(route.path.split("/")[1] for route in ROUTES) | {".well-known", "openapi.json", ".", ".."}


@dataclass(frozen=True, slots=True)
class Match:
    """A route and what the path says: its variables, and ``tenant`` where there is one."""

    route: Route
    fields: Mapping[str, str]


def match(method: str, path: str) -> Match:
    """Find the route of a request.

    Raises:
        MethodNotFoundError: nothing is served at this path.
        MethodNotAllowedError: something is, for other methods: its metadata's ``allow`` names them.
    """
    path = path.removesuffix("/")
    found = _matches(path, {})
    if not found:
        tenant, slash, rest = path[1:].partition("/")
        if slash and tenant and tenant not in RESERVED:
            found = _matches(f"/{rest}", {"tenant": tenant})
    if not found:
        raise MethodNotFoundError("Nothing is served at this path. The Agent Card names the base address.")
    for each in found:
        if each.route.method == method:
            return each
    allow = ", ".join(sorted({each.route.method for each in found}))
    raise MethodNotAllowedError(f"Use {allow} at this path.", metadata={"allow": allow})


def _matches(path: str, more: dict[str, str]) -> list[Match]:
    return [Match(route, {**found.groupdict(), **more}) for route in ROUTES if (found := route.pattern.fullmatch(path))]


@dataclass(frozen=True, slots=True)
class Rest:
    """Answers one HTTP+JSON request."""

    service: Service

    async def __call__(self, request: Request) -> Response:
        operation = ""
        try:
            found = match(request.method, request.path)
            operation = found.route.operation
            caller = self.service.authenticate(request)
            self.service.check_parameters(request)
            params = _params(found, request, self.service.catalogue[operation].request)
            result = await self.service.run(operation, caller, params, request)
        except A2AError as error:
            return refusal(error, request, operation)
        note = {"binding": "HTTP+JSON", "operation": operation}
        kept = caching.OF_CALLERS.get(operation, {})
        return Response(200, _media_type(request), codec.dumps(result or {}).encode(), kept, note)


def refusal(error: A2AError, request: Request, operation: str = "") -> Response:
    """An error as a response of this binding."""
    note = {"binding": "HTTP+JSON", "operation": operation, "error": error.row.reason}
    body = codec.dumps(errors.rest(error)).encode()
    return Response(error.row.status, _media_type(request), body, errors.headers(error), note)


def _media_type(request: Request) -> str:
    """Answer in kind: application/json to a client that speaks it, application/a2a+json to everyone else."""
    return JSON if (request.media_type or request.headers.get("accept", "")) == JSON else A2A_JSON


def _params(found: Match, request: Request, kind: type[Model] | None) -> dict[str, Any]:
    if request.method in ("GET", "DELETE"):
        params: dict[str, Any] = kind.from_query(request.query) if kind else dict(request.query)
    else:
        text = request.json_bytes()
        params = codec.loads(text) if text else {}
        if not isinstance(params, dict):
            raise InvalidParamsError("The body must be a JSON object.")
    for name, value in found.fields.items():
        for spelling in {name, _snake(name)}:
            if params.pop(spelling, None) not in (None, "", value):
                raise invalid(name, "isn't the one in the path: leave it out of the body")
        params[name] = value
    return params


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)
