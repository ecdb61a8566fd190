"""What schemathesis makes of the HTTP+JSON binding's own OpenAPI document, through the function's handler.

Requests that fit the document and requests that don't, on tasks that are there and on names that aren't: every answer
is one that the document declares, by status, media type, headers and schema, and none is a fault of ours. Each run
makes the same requests; EXAMPLES=1000 makes so many of each kind instead, and others each time.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import schemathesis
from hypothesis import given
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from builders.api import ApiBench, message
from builders.front_door import Session
from herald.bindings.rest import ROUTES, Route
from herald.protocol.states import TaskState
from integration.both_bindings.errors import ROWS
from integration.both_bindings.examples import SECONDS, bounded

BASE = "https://agent.example.com"
OWNER = "anonymous"  # everybody is, where nobody is asked who they are

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    answer = ApiBench(auth="none").rest("GET", "/openapi.json")
    found: dict[str, Any] = answer.body
    return found


@pytest.fixture(scope="module")
def schema(document: dict[str, Any]) -> BaseSchema:
    return schemathesis.openapi.from_dict(document)


@pytest.fixture
def api() -> ApiBench:
    """Behind it lie tasks that have begun, wait and have ended, with a webhook each."""
    api = ApiBench(auth="none")
    for number, state in enumerate((None, TaskState.WORKING, TaskState.INPUT_REQUIRED, TaskState.COMPLETED)):
        ref = api.ref(api.send(OWNER, messageId=f"m{number}")["id"], OWNER)
        if state:
            api.put_artifact(ref)
            api.put_status(ref, state, "Hm.")
        api.call(
            "CreateTaskPushNotificationConfig",
            {"taskId": ref.task_id, "id": "c", "url": "https://hooks.example.com/in"},
            OWNER,
        )
    return api


def ids(api: ApiBench) -> list[str]:
    return sorted({ref.task_id for ref, sk in api.world.items if sk == "TASK"})


@pytest.mark.timeout(SECONDS)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_answer_is_one_that_the_document_declares(
    api: ApiBench, schema: BaseSchema, route: Route, mode: GenerationMode
) -> None:
    operation = schema[route.path][route.method]
    session = Session(api.http)

    @bounded
    @given(case=operation.as_strategy(mode), there=st.sampled_from([None, *ids(api)]), config=st.booleans())
    def check(case: Any, there: str | None, config: bool) -> None:
        _aim(case, route, there, config)

        response = case.call(base_url=BASE, session=session)

        case.validate_response(response, checks=CHECKS)
        if response.status_code != 200:
            error = json.loads(response.content)["error"]
            assert error["code"] == response.status_code
            reason = error["details"][0]["reason"]
            assert (error["code"], error["status"]) == ROWS[reason][2:]

    check()


def _aim(case: Any, route: Route, there: str | None, config: bool) -> None:
    """Let a request be about a task, or a webhook, that is there."""
    if there is None:
        return
    if route.operation in ("SendMessage", "SendStreamingMessage"):
        if isinstance(case.body, dict) and isinstance(case.body.get("message"), dict):
            case.body["message"] = {**message(), **case.body["message"], "taskId": there}
            case.body["message"].pop("contextId", None)
        return
    names = [part[1:-1] for part in route.path.replace(":", "/").split("/") if part.startswith("{")]
    values = [there, "c"] if config else [there]
    case.path_parameters = {**(case.path_parameters or {}), **dict(zip(names, values, strict=False))}


def test_whatever_fits_the_document_and_is_about_something_there_is_taken(api: ApiBench, schema: BaseSchema) -> None:
    """The document isn't wider than the binding: what only its own rules can refuse, it takes."""
    get = schema["/tasks/{id}"]["GET"]
    session = Session(api.http)

    @bounded
    @given(case=get.as_strategy(GenerationMode.POSITIVE), there=st.sampled_from(ids(api)))
    def check(case: Any, there: str) -> None:
        case.path_parameters = {"id": there}
        case.query = {name: value for name, value in (case.query or {}).items() if name != "tenant"}

        response = case.call(base_url=BASE, session=session)

        assert response.status_code == 200, response.content

    check()
