"""Every error that a client can provoke, over both bindings: its code, status, reason, fields, and the same words."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from herald.adapters.dynamodb.log import DynamoTaskLog
from herald.ports import Unavailable
from herald.protocol.errors import A2AError
from integration.both_bindings.cases import Refused, live
from integration.both_bindings.errors import ERRORS, NOBODY_CAN, RAW, ROWS
from integration.both_bindings.operations import NOW, message
from integration.both_bindings.stage import BINDINGS, Binding, Client, Deployment, Reply

LIVED: dict[tuple[Binding, str], list[Reply]] = {}


def check_row(binding: Binding, reply: Reply) -> None:
    """An error looks as its row says."""
    code, over_rpc, status, grpc = ROWS[reply.reason]
    if binding == "JSONRPC":
        assert (reply.code, reply.status) == (code, over_rpc)
    else:
        assert (reply.grpc, reply.status) == (grpc, status)


@pytest.mark.parametrize("name", ERRORS)
def test_an_error(deployment: Deployment, name: str) -> None:
    replies = live(deployment, name, ERRORS[name])

    refusals = [reply for reply in replies if reply.reason]
    assert refusals
    for reply in refusals:
        check_row(deployment.binding, reply)
    LIVED[deployment.binding, name] = replies


@pytest.mark.parametrize("name", RAW)
def test_what_is_no_call(deployment: Deployment, name: str) -> None:
    row = RAW[name]
    if row.only not in (None, deployment.binding):
        pytest.skip(f"over {row.only} only")
    deployment.begin()

    reply = row.send(Client(deployment, "alice"))

    assert (reply.result, reply.reason, reply.fields) == (None, row.reason, [])
    assert set(reply.metadata) == set(row.metadata)
    check_row(deployment.binding, reply)
    LIVED[deployment.binding, name] = [reply]


@pytest.mark.parametrize("name", [*ERRORS, *(name for name, row in RAW.items() if row.same and not row.only)])
def test_an_error_is_the_same_over_both_bindings(deployed: dict[Binding, Deployment], name: str) -> None:
    if any((binding, name) not in LIVED for binding in BINDINGS):
        pytest.skip("the case has failed, or wasn't run, over one of them")
    over = [LIVED[binding, name] for binding in BINDINGS]

    assert over[0] == over[1]


# ---- what goes wrong behind the API ----


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Any:
    def breaking(error: Exception) -> None:
        def fail(*_: object) -> None:
            raise error

        monkeypatch.setattr(DynamoTaskLog, "create", fail)

    return breaking


SEND = {"message": message(), "configuration": NOW}


def test_a_store_that_does_not_answer_is_unavailable(deployment: Deployment, broken: Any) -> None:
    deployment.begin()
    broken(Unavailable("TransactWriteItems: ThrottlingException"))

    reply = Client(deployment, "alice").call("SendMessage", SEND)

    assert (reply.reason, dict(reply.headers)) == ("UNAVAILABLE", {"retry-after": "1"})
    check_row(deployment.binding, reply)
    assert "Throttling" not in str(reply)


def test_e24_a_fault_of_ours_tells_nothing_but_where_to_look(
    deployment: Deployment, broken: Any, caplog: pytest.LogCaptureFixture
) -> None:
    deployment.begin()
    broken(RuntimeError("secret"))

    with caplog.at_level(logging.ERROR):
        reply = Client(deployment, "alice").call("SendMessage", SEND)

    assert (reply.reason, reply.message) == ("INTERNAL_ERROR", "Internal error")
    assert reply.metadata == {"correlationId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"}
    check_row(deployment.binding, reply)
    assert "secret" not in str(reply)
    assert "secret" in caplog.text


def test_e12_two_callers_without_a_name_are_not_one_owner(deployment: Deployment) -> None:
    deployment.begin()
    client = Client(deployment, "alice")

    replies = [client.call("SendMessage", SEND, owner="") for _ in range(2)]

    assert [(reply.reason, reply.status) for reply in replies] == [("UNAUTHENTICATED", 401)] * 2
    assert [dict(reply.headers) for reply in replies] == [{"www-authenticate": 'Bearer realm="herald"'}] * 2
    assert client.call("ListTasks").result["totalSize"] == 0


# ---- the tables are whole ----


def _kinds(kind: type[A2AError]) -> list[type[A2AError]]:
    return [each for child in kind.__subclasses__() for each in (child, *_kinds(child))]


@pytest.mark.parametrize("kind", _kinds(A2AError))
def test_e15_an_error_is_as_the_specification_says(kind: type[A2AError]) -> None:
    code, _, status, grpc = ROWS[kind.row.reason]

    assert (kind.row.code, kind.row.status, kind.row.grpc) == (code, status, grpc)


def test_each_row_of_the_error_table_has_a_case() -> None:
    told = {step.answer.reason for each in ERRORS.values() for step in each.steps if isinstance(step.answer, Refused)}
    behind = {"UNAVAILABLE", "INTERNAL_ERROR"}

    assert {kind.row.reason for kind in _kinds(A2AError)} == set(ROWS)
    assert set(ROWS) - NOBODY_CAN == told | {row.reason for row in RAW.values()} | behind
