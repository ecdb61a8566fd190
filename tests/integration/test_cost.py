"""What one task costs on AWS: a count that grows is a decision, and is made here."""

from __future__ import annotations

import pytest

from builders.task_cost import Cost, one_task


@pytest.fixture(scope="module")
def cost() -> Cost:
    """A task with 4 updates and one webhook."""
    return one_task(4)


def test_five_notifications_take_five_doorbells(cost: Cost) -> None:
    assert (cost.notifications, cost.doorbells) == (5, 5)  # the snapshot and the four updates


def test_functions_are_invoked_once_for_each_thing_they_do(cost: Cost) -> None:
    assert cost.invocations == {"api": 1, "start_worker": 1, "run_agent": 1, "ring_webhooks": 5, "send_webhooks": 5}


def test_an_execution_enters_three_states(cost: Cost) -> None:
    assert cost.states == ["RunAgent", "GoOn", "Done"]


def test_write_units(cost: Cost) -> None:
    # Create 6, run 4, two states 4 each, two chunks 1 each, five cursor moves 1 each; and the origin of the webhook,
    # which is written once a week.
    assert cost.write_units == 26
    assert cost.index_units == 18


def test_requests(cost: Cost) -> None:
    # A process counts an owner's open tasks and reads their origins with the first task, not with each.
    assert cost.of("dynamodb") == {
        "GetItem": 8,
        "PutItem": 3,
        "Query": 13,
        "TransactWriteItems": 4,
        "UpdateItem": 5,
    }
    assert cost.of("sqs") == {"SendMessageBatch": 5}
    assert cost.of("stepfunctions") == {"StartExecution": 1}
    assert cost.of("secretsmanager") == {"GetSecretValue": 3}  # of functions that have just started


def test_invariant_10_a_chunk_costs_the_same_wherever_it_stands_in_the_log(cost: Cost) -> None:
    longer = one_task(14)
    assert longer.chunk_units == [1] * 12
    assert longer.write_units - cost.write_units == 10 * 2  # ten more chunks, ten more cursor moves
