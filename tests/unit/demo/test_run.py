"""Given arrivals, then the demo listens until the task ends or falls silent, and judges what it has."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from demo import run
from demo.account import Seen, settle
from demo.errors import DemoError
from demo.receiver import Arrival
from demo.show import Screen
from demo.signatures import Checks
from rich.console import Console

CHECKS = Checks("whsec_" + "c3Nz" * 11, {"keys": []})
GENUINE = {"v1": "", "v1a": ""}

MESSAGE = {"messageId": "m", "parts": [{"text": "done"}]}
TASK: dict[str, Any] = {"id": "t", "status": {"state": "TASK_STATE_SUBMITTED"}}
ENDED: dict[str, Any] = {"id": "t", "status": {"state": "TASK_STATE_COMPLETED", "message": MESSAGE}}


def arrival(number: int, event: dict[str, Any]) -> Arrival:
    return Arrival({"Webhook-Id": f"msg_k_{number:012d}"}, json.dumps(event).encode(), 5)


def arriving(*arrivals: Arrival) -> Callable[[float], Arrival | None]:
    queue = list(arrivals)
    return lambda seconds: queue.pop(0) if queue else None


def status(state: str) -> dict[str, Any]:
    return {"statusUpdate": {"taskId": "t", "status": {"state": f"TASK_STATE_{state}"}}}


def listened(*arrivals: Arrival) -> list[int]:
    return [seen.number for seen in run._listen(arriving(*arrivals), CHECKS, lambda: 0.0)]


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED", "REJECTED", "CANCELED", "INPUT_REQUIRED"])
def test_listening_ends_when_the_task_does(state: str) -> None:
    assert listened(arrival(0, {"task": TASK}), arrival(2, status(state)), arrival(3, status("WORKING"))) == [0, 2]


def test_listening_ends_in_silence() -> None:
    assert listened(arrival(0, {"task": TASK})) == [0]


def test_listening_ends_in_the_end_though_updates_go_on() -> None:
    times = iter(range(0, 1000, 50))
    arrivals = arriving(*(arrival(n, status("WORKING")) for n in range(100)))
    heard = list(run._listen(arrivals, CHECKS, lambda: float(next(times))))
    assert len(heard) == 2


def judged(tmp_path: Path, told: dict[str, Any], numbers: list[int], *events: tuple[int, dict[str, Any]]) -> str:
    out = io.StringIO()
    seen = [Seen(f"msg_k_{number:012d}", event, GENUINE, 5) for number, event in events]
    screen = Screen(Console(file=out, width=100, highlight=False))
    run._judge(screen, tmp_path, seen, settle(seen, numbers), told)
    return out.getvalue()


LIFE = [(0, {"task": TASK}), (2, {"statusUpdate": {"status": ENDED["status"]}})]


def test_a_good_run_is_judged_good(tmp_path: Path) -> None:
    assert judged(tmp_path, ENDED, [0, 2], *LIFE) == (
        "✓ the log has 2 notifications to send; 2 arrived, in the log's order\n"
        "✓ 2 of 2 hold both signatures, over the bytes that arrived\n"
        "✓ GetTask and the notifications amount to one task: COMPLETED, 0 artifacts of 0 parts, 0 messages\n\n"
    )


@pytest.mark.parametrize(
    ("told", "numbers", "what"),
    [
        (ENDED, [0, 1, 2], r"what arrived isn't what was stored .*1 missing"),
        (ENDED, [0], r"what arrived isn't what was stored"),
        (ENDED | {"metadata": {"a": 1}}, [0, 2], r"differ at task\.metadata"),
        (ENDED | {"status": {"state": "TASK_STATE_FAILED", "message": MESSAGE}}, [0, 2], r"the task is FAILED: done"),
        (ENDED | {"status": {"state": "TASK_STATE_REJECTED"}}, [0, 2], r"the task is REJECTED: it doesn't say why"),
        (ENDED | {"status": {"state": "TASK_STATE_INPUT_REQUIRED"}}, [0, 2], r"the task is INPUT_REQUIRED"),
        (ENDED | {"status": {"state": "TASK_STATE_WORKING"}}, [0, 2], r"the task is still WORKING after 30 s"),
    ],
)
def test_a_run_with_a_fault_says_which(tmp_path: Path, told: dict[str, Any], numbers: list[int], what: str) -> None:
    with pytest.raises(DemoError, match=what) as caught:
        judged(tmp_path, told, numbers, *LIFE)
    assert "make logs" in caught.value.way_out


def test_nothing_that_arrived_is_a_fault_too(tmp_path: Path) -> None:
    with pytest.raises(DemoError, match="2 missing"):
        judged(tmp_path, ENDED, [0, 2])


def test_parts_are_saved_by_media_type(tmp_path: Path) -> None:
    parts = [
        {"data": {"n": 1}, "mediaType": "application/json"},
        {"text": "# A\n", "mediaType": "text/markdown"},
        {"text": "B\n", "mediaType": "text/markdown"},
        {"raw": "PHN2Zy8+", "mediaType": "image/svg+xml"},
        {"text": "else", "mediaType": "text/odd"},
    ]
    saved = run.save({"artifactId": "a", "parts": parts}, tmp_path / "demo")
    assert {path.name: path.read_text() for path in saved} == {
        "figures.json": '{\n  "n": 1\n}\n',
        "report.md": "# A\nB\n",
        "chart.svg": "<svg/>",
    }
