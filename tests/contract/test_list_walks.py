"""Walks through lists over the real indexes, an owner's tasks in one shard and in three."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from builders.list_walks import ListWalks
from builders.stores import TABLE, dynamo_store
from fakes.clock import FakeClock
from herald.adapters.aws import AwsClients
from herald.adapters.dynamodb import keys
from herald.records import TaskRef


@pytest.mark.parametrize("shards", [1, 3])
def test_a_walk_shows_each_task_once_and_all_that_stand_still(aws: AwsClients, clock: FakeClock, shards: int) -> None:
    store = dynamo_store(aws, clock, shards)
    numbers = count()

    def remove(ref: TaskRef) -> None:
        client = aws.dynamodb
        found = client.query(
            TableName=TABLE, KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": {"S": keys.pk(ref)}}
        )
        for item in found["Items"]:
            client.delete_item(TableName=TABLE, Key={"pk": item["pk"], "sk": item["sk"]})

    class Walks(ListWalks):
        def __init__(self) -> None:
            number = next(numbers)  # owners that no earlier run has known
            super().__init__(store, clock, remove, [f"alice{number}", f"bob{number}"])

    run_state_machine_as_test(Walks, settings=settings(max_examples=6, stateful_step_count=30, deadline=None))
