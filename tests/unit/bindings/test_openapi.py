"""The OpenAPI document: correct by OpenAPI's own schema, by the route table, and by what the models print."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31

from builders.api import CARD, ApiBench
from herald.bindings import openapi, schemas
from herald.bindings.rest import ROUTES
from herald.operations.catalogue import Catalogue
from herald.protocol.card import AgentCard
from herald.protocol.model import Part, StreamResponse, Task
from herald.protocol.protojson import Model

JsonObject = dict[str, Any]

BASE = "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/prod"
PUBLIC_CARD = {
    "name": "n",
    "version": "1.2.3",
    "description": "d",
    "supportedInterfaces": [
        {"url": f"{BASE}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": BASE, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
    ],
}


@pytest.fixture(scope="module")
def document() -> JsonObject:
    return openapi.document(PUBLIC_CARD)


def validator(document: JsonObject, name: str) -> jsonschema.Draft202012Validator:
    schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    checker = jsonschema.FormatChecker()
    return jsonschema.Draft202012Validator(schema, format_checker=checker)


# ---- by OpenAPI's own schema ----


def test_it_is_a_document_of_openapi_3_1(document: JsonObject) -> None:
    assert OPENAPI_31["$id"] == "https://spec.openapis.org/oas/3.1/schema/2022-10-07"
    jsonschema.Draft202012Validator(OPENAPI_31).validate(document)
    assert document["openapi"] == "3.1.1"


def test_each_schema_in_it_is_one_of_json_schema_2020_12(document: JsonObject) -> None:
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_reference_leads_somewhere(document: JsonObject) -> None:
    found = 0
    waiting: list[Any] = [document]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict) and isinstance(reference := node.get("$ref"), str):
            place: Any = document
            for step in reference.removeprefix("#/").split("/"):
                place = place[step]
            found += 1
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    assert found > 100


# ---- by the route table ----


def test_each_route_is_in_it_and_nothing_else_is(document: JsonObject) -> None:
    described = {(verb.upper(), path) for path, item in document["paths"].items() for verb in item}

    assert described == {(route.method, route.path) for route in ROUTES}


def test_an_operations_id_is_its_name_and_is_its_own(document: JsonObject) -> None:
    ids = [row["operationId"] for item in document["paths"].values() for row in item.values()]

    assert len(set(ids)) == len(ids)
    assert set(ids) == {*(route.operation for route in ROUTES), "SubscribeToTaskByGet"}


def test_what_an_operation_takes_is_what_it_parses() -> None:
    operations: Catalogue = ApiBench().operations

    assert set(openapi.SHAPES) == set(operations)
    for name, operation in operations.items():
        assert operation.request in (None, openapi.SHAPES[name].request)


def test_path_query_and_body_of_an_operation(document: JsonObject) -> None:
    get = document["paths"]["/tasks/{id}"]["get"]
    create = document["paths"]["/tasks/{taskId}/pushNotificationConfigs"]["post"]
    listing = document["paths"]["/tasks"]["get"]

    named = {row["name"]: row for row in get["parameters"] if "name" in row}
    assert named["id"] == {
        "name": "id",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
    }
    assert named["historyLength"]["schema"] == {"type": "integer", "format": "int32", "minimum": 0}
    body = create["requestBody"]["content"]["application/a2a+json"]["schema"]
    assert create["requestBody"]["required"] is True
    assert body["required"] == ["url"]
    assert "taskId" not in body["properties"]
    assert [row["name"] for row in listing["parameters"] if "name" in row] == [
        "tenant",
        "contextId",
        "status",
        "pageSize",
        "pageToken",
        "historyLength",
        "statusTimestampAfter",
        "includeArtifacts",
    ]


def test_the_body_of_a_cancel_may_be_left_out(document: JsonObject) -> None:
    assert document["paths"]["/tasks/{id}:cancel"]["post"]["requestBody"]["required"] is False


def test_a_stream_never_succeeds(document: JsonObject) -> None:
    for path, verb in (
        ("/message:stream", "post"),
        ("/tasks/{id}:subscribe", "post"),
        ("/tasks/{id}:subscribe", "get"),
    ):
        assert "200" not in document["paths"][path][verb]["responses"]


def test_errors_are_told_by_status_with_their_reasons(document: JsonObject) -> None:
    responses = document["components"]["responses"]

    assert responses["Error404"]["description"] == (
        "The reason in error.details[0] is METHOD_NOT_FOUND or TASK_NOT_FOUND."
    )
    assert set(responses["Error401"]["headers"]) == set(responses["Error403"]["headers"]) == {"WWW-Authenticate"}
    assert set(responses["Error429"]["headers"]) == {"Retry-After"}
    assert "Error405" not in responses  # of verbs that the document doesn't name
    told = document["paths"]["/tasks/{id}"]["get"]["responses"]
    assert sorted(told) == ["200", "400", "401", "403", "404", "429", "500", "503", "504"]
    told = document["paths"]["/message:send"]["post"]["responses"]
    assert sorted(told) == ["200", "400", "401", "403", "404", "413", "415", "429", "500", "503", "504"]


# ---- by what the models print ----

MESSAGE = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "t"}]}
PRINTED: list[tuple[type[Model], JsonObject]] = [
    (Part, {"data": None}),
    (Part, {"text": ""}),
    (Part, {"raw": "AAEC", "mediaType": "image/png", "filename": "f", "metadata": {"a": [1]}}),
    (Part, {"url": "https://example.com/"}),
    (
        Task,
        {
            "id": "t",
            "contextId": "c",
            "status": {"state": 3, "message": MESSAGE, "timestamp": "2026-01-01T00:00:00Z"},
            "artifacts": [{"artifactId": "a", "parts": [{"data": {"x": 1.5}}]}],
            "history": [MESSAGE],
            "metadata": {"n": 0, "f": False, "s": ""},
        },
    ),
    (StreamResponse, {"message": MESSAGE}),
    (
        AgentCard,
        {
            **PUBLIC_CARD,
            "capabilities": {"streaming": False, "extensions": [{"uri": "urn:x", "params": {"a": 1}}]},
            "securitySchemes": {
                "o": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {"tokenUrl": "u", "scopes": {"s": "d"}}}}}
            },
            "securityRequirements": [{"schemes": {"o": {"list": ["s"]}}}],
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "s", "name": "n", "description": "d", "tags": ["t"]}],
        },
    ),
]


@pytest.mark.parametrize(("kind", "given"), PRINTED, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_sent_fits_its_schema(document: JsonObject, kind: type[Model], given: JsonObject) -> None:
    printed = json.loads(json.dumps(kind.parse(given).wire()))
    found = {"components": {"schemas": schemas.closure([kind])}}

    validator(found, kind.__name__).validate(printed)


WRONG: dict[str, tuple[str, Callable[[JsonObject], Any]]] = {
    "no parts": ("Message", lambda message: message.update(parts=[])),
    "no messageId": ("Message", lambda message: message.pop("messageId")),
    "an empty messageId": ("Message", lambda message: message.update(messageId="")),
    "a role of its own": ("Message", lambda message: message.update(role="user")),
    "two contents": ("Message", lambda message: message["parts"][0].update(url="u")),
    "no content": ("Message", lambda message: message["parts"][0].pop("text")),
    "metadata that is no object": ("Message", lambda message: message.update(metadata=[])),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_does_not_fit(document: JsonObject, name: str) -> None:
    kind, spoil = WRONG[name]
    message = json.loads(json.dumps(MESSAGE))
    validator(document, kind).validate(message)

    spoil(message)

    assert not validator(document, kind).is_valid(message)


# ---- by the card ----


def test_the_address_and_the_names_are_the_cards(document: JsonObject) -> None:
    assert document["servers"] == [{"url": BASE}]
    assert (document["info"]["title"], document["info"]["version"]) == ("n", "1.2.3")
    assert "security" not in document


def test_security_is_the_cards_in_openapis_words() -> None:
    made = openapi.document(
        {
            **PUBLIC_CARD,
            "securitySchemes": {
                "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key", "description": "a key"}},
                "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
                "oauth": {
                    "oauth2SecurityScheme": {
                        "flows": {"clientCredentials": {"tokenUrl": "https://t", "scopes": {"send": "Send."}}}
                    }
                },
                "code": {
                    "oauth2SecurityScheme": {
                        "flows": {
                            "authorizationCode": {
                                "authorizationUrl": "https://a",
                                "tokenUrl": "https://t",
                                "scopes": {},
                                "pkceRequired": True,
                            }
                        }
                    }
                },
                "device": {
                    "oauth2SecurityScheme": {
                        "flows": {
                            "deviceCode": {
                                "deviceAuthorizationUrl": "https://d",
                                "tokenUrl": "https://t",
                                "scopes": {},
                            }
                        }
                    }
                },
                "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://i/.well-known/x"}},
                "mtls": {"mtlsSecurityScheme": {}},
            },
            "securityRequirements": [
                {"schemes": {"oauth": {"list": ["send"]}, "key": {}}},
                {"schemes": {"device": {}}},
            ],
        }
    )

    jsonschema.Draft202012Validator(OPENAPI_31).validate(made)
    assert made["components"]["securitySchemes"] == {
        "key": {"type": "apiKey", "in": "header", "name": "X-Key", "description": "a key"},
        "bearer": {"type": "http", "scheme": "Bearer", "bearerFormat": "JWT"},
        "oauth": {
            "type": "oauth2",
            "flows": {"clientCredentials": {"tokenUrl": "https://t", "scopes": {"send": "Send."}}},
        },
        "code": {
            "type": "oauth2",
            "flows": {"authorizationCode": {"authorizationUrl": "https://a", "tokenUrl": "https://t", "scopes": {}}},
        },
        "device": {"type": "oauth2", "flows": {}},  # OpenAPI 3.1 has no device code
        "oidc": {"type": "openIdConnect", "openIdConnectUrl": "https://i/.well-known/x"},
        "mtls": {"type": "mutualTLS"},
    }
    assert made["security"] == [{"oauth": ["send"], "key": []}, {"device": []}]


# ---- at its address ----


def test_it_is_served_to_anyone_in_any_version() -> None:
    api = ApiBench(card_text=CARD)

    answer = api.rest("GET", "/openapi.json", owner="", headers={"A2A-Version": ""})

    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.body["servers"] == [{"url": BASE}]
    assert answer.body["info"]["title"] == "test-agent"
    assert answer.headers["cache-control"] == "public, max-age=300"


def test_who_has_it_already_is_told_so() -> None:
    api = ApiBench()
    tag = api.rest("GET", "/openapi.json").headers["etag"]

    again = api.rest("GET", "/openapi.json", headers={"If-None-Match": tag})

    assert (again.status, again.body) == (304, None)


def test_it_can_be_asked_for_by_head_and_only_be_read() -> None:
    api = ApiBench()
    head = api.http({**_event("HEAD")})
    whole = api.http({**_event("GET")})

    assert (head["statusCode"], head["body"]) == (200, "")
    assert int(head["headers"]["content-length"]) == len(whole["body"].encode())
    refused = api.rest("POST", "/openapi.json", {})
    assert (refused.status, refused.headers["allow"], refused.reason) == (405, "GET, HEAD", "METHOD_NOT_ALLOWED")


def _event(method: str) -> JsonObject:
    from builders.events import rest_event

    return rest_event(method, "/openapi.json")
