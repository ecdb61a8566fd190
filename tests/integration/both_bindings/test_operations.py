"""Every operation with its options, over both bindings: the same request, the same result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from herald.bindings.jsonrpc import METHODS
from herald.bindings.openapi import SHAPES
from herald.bindings.rest import ROUTES
from herald.protocol.protojson import Model
from integration.both_bindings.cases import Refused, live
from integration.both_bindings.operations import OPERATIONS
from integration.both_bindings.stage import BINDINGS, Binding, Deployment, Reply

LIVED: dict[tuple[Binding, str], list[Reply]] = {}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_case(deployment: Deployment, name: str) -> None:
    LIVED[deployment.binding, name] = live(deployment, name, OPERATIONS[name])


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_case_is_the_same_over_both_bindings(deployed: dict[Binding, Deployment], name: str) -> None:
    over = []
    for binding in BINDINGS:
        if (binding, name) not in LIVED:
            pytest.skip("the case has failed, or wasn't run, over one of them")
        over.append([_without_tokens(reply) for reply in LIVED[binding, name]])

    assert over[0] == over[1]


def _without_tokens(reply: Reply) -> Reply:
    """Page tokens are sealed, and no two seals are the same."""
    if not (isinstance(reply.result, dict) and reply.result.get("nextPageToken")):
        return reply
    return replace(reply, result={**reply.result, "nextPageToken": "sealed"})


# ---- the table is whole ----


def test_each_operation_is_in_both_route_tables_and_has_a_case() -> None:
    asked = {step.operation for told in OPERATIONS.values() for step in told.steps}
    succeeded = {
        step.operation for told in OPERATIONS.values() for step in told.steps if not isinstance(step.answer, Refused)
    }

    assert set(METHODS) == {route.operation for route in ROUTES} == asked
    assert {name for name in METHODS if SHAPES[name].result is not None} == succeeded


def _fields(kind: type[Model], at: str = "") -> Iterator[str]:
    """The paths of all fields of a request that have names of their own."""
    for member in kind.members:
        path = f"{at}{member.name}"
        yield path
        inner = kind.model_fields[member.attribute].annotation
        for each in (inner, *getattr(inner, "__args__", ())):
            if isinstance(each, type) and issubclass(each, Model):
                yield from _fields(each, f"{path}.")


def _paths(value: Any, at: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield f"{at}{name}"
            yield from _paths(member, f"{at}{name}.")
    elif isinstance(value, list):
        for member in value:
            yield from _paths(member, at)


# A stream's options are a send's, and no stream is offered. A task that is named inline is in the errors' table.
LEFT_OUT = {
    "SendMessage": {
        "configuration.taskPushNotificationConfig.tenant",
        "configuration.taskPushNotificationConfig.taskId",
    }
}


@pytest.mark.parametrize("operation", [name for name in METHODS if name != "SendStreamingMessage"])
def test_each_field_of_each_request_is_tried(operation: str) -> None:
    tried = {
        path
        for told in OPERATIONS.values()
        for step in told.steps
        if step.operation == operation
        for path in _paths(step.params)
    }

    assert set(_fields(SHAPES[operation].request)) - tried == LEFT_OUT.get(operation, set())
