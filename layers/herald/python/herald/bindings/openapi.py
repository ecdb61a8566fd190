"""The OpenAPI 3.1 document of the HTTP+JSON binding, made from its route table, its error table and the models.

It is for generators of clients and for tests; the protocol itself doesn't ask for it. What a deployment adds, its
address and how callers show who they are, is the Agent Card's word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from herald.bindings import schemas
from herald.bindings.errors import BAD_REQUEST, DOMAIN, ERROR_INFO
from herald.bindings.http import A2A_JSON, JSON, MAX_BODY
from herald.bindings.rest import ROUTES, Route
from herald.protocol import requests
from herald.protocol.card import AgentCard
from herald.protocol.errors import A2AError
from herald.protocol.model import SendMessageResponse, Task, TaskPushNotificationConfig
from herald.protocol.protojson import Model
from herald.protocol.version import EXTENSIONS_HEADER, VERSION, VERSION_HEADER

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """What an operation takes and gives. ``result`` None: no stream is offered, so it never succeeds."""

    summary: str
    request: type[Model]
    result: type[Model] | JsonObject | None


_EMPTY: JsonObject = {"type": "object", "maxProperties": 0, "description": "google.protobuf.Empty"}

SHAPES = {
    "SendMessage": Shape("Send a message", requests.SendMessageRequest, SendMessageResponse),
    "SendStreamingMessage": Shape("Send a message and stream", requests.SendMessageRequest, None),
    "GetTask": Shape("Get a task", requests.GetTaskRequest, Task),
    "ListTasks": Shape("List tasks", requests.ListTasksRequest, requests.ListTasksResponse),
    "CancelTask": Shape("Cancel a task", requests.CancelTaskRequest, Task),
    "SubscribeToTask": Shape("Subscribe to a task", requests.SubscribeToTaskRequest, None),
    "CreateTaskPushNotificationConfig": Shape(
        "Register a webhook", requests.CreateTaskPushNotificationConfigRequest, TaskPushNotificationConfig
    ),
    "ListTaskPushNotificationConfigs": Shape(
        "List a task's webhooks",
        requests.ListTaskPushNotificationConfigsRequest,
        requests.ListTaskPushNotificationConfigsResponse,
    ),
    "GetTaskPushNotificationConfig": Shape(
        "Get a webhook", requests.GetTaskPushNotificationConfigRequest, TaskPushNotificationConfig
    ),
    "DeleteTaskPushNotificationConfig": Shape(
        "Delete a webhook", requests.DeleteTaskPushNotificationConfigRequest, _EMPTY
    ),
    "GetExtendedAgentCard": Shape("Get the extended Agent Card", requests.GetExtendedAgentCardRequest, AgentCard),
}

_ABOUT = (
    "The HTTP+JSON binding of A2A {version}. Bodies are ProtoJSON (specification sections 5.5 to 5.7). Answers are as "
    "the schemas say. Requests may also name their fields in snake_case, give enums by number and integers as strings, "
    "and write null for what is left out; members that a schema doesn't name are ignored. Each path is served below "
    "/{{tenant}} as well. {header} may be a query parameter of the same name instead.\n\n{agent}"
)
_NO_STREAMS = "This agent doesn't stream: the answer is UnsupportedOperation."

# What API Gateway answers by itself, beside the rows of the error table.
_GATEWAY = {403: {"PERMISSION_DENIED"}, 429: {"RESOURCE_EXHAUSTED"}, 504: {"UNAVAILABLE"}}
_OF_BODIES = frozenset({413, 415})
_OF_PATHS = frozenset({405})  # of verbs that the document doesn't name
_MORE_HEADERS = {401: "WWW-Authenticate", 403: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}

_TASK_ID = {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"}
_CONFIG_ID = {"type": "string", "pattern": "^[!-.0-~]{1,128}$"}
_TEXT: JsonObject = {"type": "string"}


def document(card: Mapping[str, Any]) -> JsonObject:
    """The document of the deployment that this Agent Card, completed, describes."""
    messages = [shape.result for shape in SHAPES.values() if isinstance(shape.result, type)]
    bodies = [SHAPES[route.operation].request for route in ROUTES if route.method == "POST"]
    made: JsonObject = {
        "openapi": "3.1.1",
        "info": {
            "title": card["name"],
            "version": card["version"],
            "description": _ABOUT.format(version=VERSION, header=VERSION_HEADER, agent=card["description"]),
        },
        "externalDocs": {"description": "The A2A protocol", "url": "https://a2a-protocol.org/latest/specification/"},
        "servers": [
            {"url": each["url"]} for each in card["supportedInterfaces"] if each["protocolBinding"] == "HTTP+JSON"
        ],
        "paths": _paths(),
        "components": {
            "schemas": {**schemas.closure([*bodies, *messages]), **_ERRORS},
            "responses": {f"Error{status}": _error(status, reasons) for status, reasons in _statuses().items()},
            "parameters": {"Version": _VERSION, "Extensions": _EXTENSIONS},
            "headers": {"Extensions": {"description": "The extensions in use.", "schema": _TEXT}},
        },
    }
    if schemes := card.get("securitySchemes"):
        made["components"]["securitySchemes"] = {name: _security_scheme(each) for name, each in schemes.items()}
        made["security"] = [
            {name: scopes.get("list", []) for name, scopes in each.get("schemes", {}).items()}
            for each in card.get("securityRequirements", [])
        ]
    return made


# ---- paths ----


def _paths() -> JsonObject:
    paths: dict[str, JsonObject] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return paths


def _operation(route: Route) -> JsonObject:
    shape = SHAPES[route.operation]
    variables = re.findall(r"\{(\w+)\}", route.path)
    ids: list[JsonObject] = [
        {"name": name, "in": "path", "required": True, "schema": _TASK_ID if number == 0 else _CONFIG_ID}
        for number, name in enumerate(variables)
    ]
    service: list[JsonObject] = [{"$ref": f"#/components/parameters/{name}"} for name in ("Version", "Extensions")]
    # Two routes of one operation: the specification's text is first.
    first = next(each for each in ROUTES if each.operation == route.operation)
    made: JsonObject = {
        "operationId": route.operation if route is first else f"{route.operation}By{route.method.title()}",
        "summary": shape.summary,
        "parameters": [*ids, *service],
        "responses": {},
    }
    if shape.result is None:
        made["description"] = _NO_STREAMS
    else:
        made["responses"]["200"] = {
            "description": "The result.",
            "headers": {EXTENSIONS_HEADER: {"$ref": "#/components/headers/Extensions"}},
            "content": _content(schemas.reference(shape.result) if isinstance(shape.result, type) else shape.result),
        }
    if route.method == "POST":
        made["requestBody"] = _body(shape.request, variables)
    else:
        made["parameters"] += _query(shape.request, variables)
    for status in _statuses():
        if route.method == "POST" or status not in _OF_BODIES:
            made["responses"][str(status)] = {"$ref": f"#/components/responses/Error{status}"}
    return made


def _body(kind: type[Model], variables: list[str]) -> JsonObject:
    schema = schemas.message(kind, without=variables) if variables else schemas.reference(kind)
    required = any(member.required and member.name not in variables for member in kind.members)
    about = f"At most {MAX_BODY:,} bytes."
    if variables:
        about += f" What the path says may be repeated: {', '.join(variables)}."
    return {"description": about, "required": required, "content": _content(schema)}


def _query(kind: type[Model], variables: Iterable[str]) -> list[JsonObject]:
    return [
        {"name": name, "in": "query", "schema": schema}
        for name, schema in schemas.properties(kind).items()
        if name not in variables
    ]


def _content(schema: JsonObject) -> JsonObject:
    return {A2A_JSON: {"schema": schema}, JSON: {"schema": schema}}


_VERSION: JsonObject = {
    "name": VERSION_HEADER,
    "in": "header",
    "required": True,
    "description": "The version of A2A that the request speaks.",
    "schema": {"type": "string", "pattern": r"^1\.0(\.[0-9]+)?$", "examples": [VERSION]},
}
_EXTENSIONS: JsonObject = {
    "name": EXTENSIONS_HEADER,
    "in": "header",
    "description": "URIs of the extensions that the client wants to use, separated by commas.",
    "schema": _TEXT,
}


# ---- errors ----


def _statuses() -> dict[int, set[str]]:
    """The HTTP statuses of errors and the reasons that each of them may have, by the error table."""
    found: dict[int, set[str]] = {status: set(reasons) for status, reasons in _GATEWAY.items()}
    for kind in _kinds(A2AError):
        found.setdefault(kind.row.status, set()).add(kind.row.reason)
    return {status: found[status] for status in sorted(found) if status not in _OF_PATHS}


def _kinds(kind: type[A2AError]) -> list[type[A2AError]]:
    return [each for child in kind.__subclasses__() for each in (child, *_kinds(child))]


def _error(status: int, reasons: Iterable[str]) -> JsonObject:
    made: JsonObject = {
        "description": f"The reason in error.details[0] is {' or '.join(sorted(reasons))}.",
        "content": _content({"$ref": f"{schemas.REF}Status"}),
    }
    if header := _MORE_HEADERS.get(status):
        made["headers"] = {header: {"schema": _TEXT}}
    return made


_ERROR_INFO: JsonObject = {
    "type": "object",
    "description": "google.rpc.ErrorInfo",
    "properties": {
        "@type": {"const": ERROR_INFO},
        "reason": {"type": "string", "pattern": "^[A-Z][A-Z0-9_]*[A-Z0-9]$"},
        "domain": {"const": DOMAIN},
        "metadata": {"type": "object", "additionalProperties": _TEXT},
    },
    "required": ["@type", "reason", "domain"],
}
_BAD_REQUEST: JsonObject = {
    "type": "object",
    "description": "google.rpc.BadRequest",
    "properties": {
        "@type": {"const": BAD_REQUEST},
        "fieldViolations": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"field": _TEXT, "description": _TEXT},
                "required": ["field", "description"],
            },
        },
    },
    "required": ["@type", "fieldViolations"],
}
_STATUS: JsonObject = {
    "type": "object",
    "description": "google.rpc.Status, as the HTTP+JSON binding wraps it.",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "integer", "description": "The HTTP status."},
                "status": {"type": "string", "description": "The name of the google.rpc.Code."},
                "message": {"type": "string", "minLength": 1},
                "details": {
                    "type": "array",
                    "minItems": 1,
                    "description": "An ErrorInfo; then a BadRequest, where fields are wrong.",
                    "items": {"anyOf": [{"$ref": f"{schemas.REF}{name}"} for name in ("ErrorInfo", "BadRequest")]},
                },
            },
            "required": ["code", "status", "message", "details"],
        }
    },
    "required": ["error"],
}
_ERRORS = {"Status": _STATUS, "ErrorInfo": _ERROR_INFO, "BadRequest": _BAD_REQUEST}


# ---- security ----


def _security_scheme(scheme: Mapping[str, Any]) -> JsonObject:
    """A scheme of the card in OpenAPI's words; the card's are made after them."""
    ((kind, told),) = scheme.items()
    made = _SCHEMES[kind](told)
    return {**made, "description": told["description"]} if told.get("description") else made


def _oauth2(told: Mapping[str, Any]) -> JsonObject:
    flows = {name: dict(flow) for name, flow in told["flows"].items() if name in _FLOWS}
    for flow in flows.values():
        flow.pop("pkceRequired", None)
        flow.setdefault("scopes", {})
    return {"type": "oauth2", "flows": flows}


_FLOWS = frozenset({"authorizationCode", "clientCredentials", "implicit", "password"})  # 3.1 has no device code
_SCHEMES: dict[str, Callable[[Mapping[str, Any]], JsonObject]] = {
    "apiKeySecurityScheme": lambda told: {"type": "apiKey", "in": told["location"], "name": told["name"]},
    "httpAuthSecurityScheme": lambda told: {
        "type": "http",
        "scheme": told["scheme"],
        **({"bearerFormat": told["bearerFormat"]} if "bearerFormat" in told else {}),
    },
    "oauth2SecurityScheme": _oauth2,
    "openIdConnectSecurityScheme": lambda told: {
        "type": "openIdConnect",
        "openIdConnectUrl": told["openIdConnectUrl"],
    },
    "mtlsSecurityScheme": lambda _: {"type": "mutualTLS"},
}
