"""Which task and trace a line is about: known within a road, forgotten after it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from herald import correlation
from herald.correlation import note, road

TRACE = f"00-{'1' * 32}-{'a' * 16}-01"


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    """Whatever ran before may have noted something outside a road."""
    with road():
        yield


def test_a_road_tells_what_has_become_known_and_nothing_after() -> None:
    assert correlation.told() == {}
    with road("task-1"):
        assert correlation.told() == {"task_id": "task-1"}
        note(traceparent=TRACE)
        note("")
        assert correlation.told() == {"task_id": "task-1", "trace_id": "1" * 32}
    assert correlation.told() == {}


def test_a_road_knows_nothing_of_the_one_around_it_and_leaves_it_as_it_was() -> None:
    with road("task-1", TRACE):
        with road("task-2"):
            assert correlation.told() == {"task_id": "task-2"}
        assert correlation.told() == {"task_id": "task-1", "trace_id": "1" * 32}


def test_it_ends_with_an_exception_too() -> None:
    with pytest.raises(LookupError), road("task-1"):
        raise LookupError
    assert correlation.told() == {}


def test_two_requests_at_once_are_two_roads() -> None:
    async def request(task_id: str) -> str:
        note(task_id)
        await asyncio.sleep(0)
        return correlation.told()["task_id"]

    async def both() -> list[str]:
        return list(await asyncio.gather(request("task-1"), request("task-2")))

    assert asyncio.run(both()) == ["task-1", "task-2"]
    assert correlation.told() == {}
