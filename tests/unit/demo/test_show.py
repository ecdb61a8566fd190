"""Given notifications, then the screen tells their number, kind, state, latency and checks, without colour as well."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from demo.account import Seen, settle
from demo.show import Screen
from rich.console import Console

GENUINE = {"v1": "", "v1a": ""}


def screen() -> tuple[Screen, io.StringIO]:
    out = io.StringIO()
    return Screen(Console(file=out, width=100, highlight=False)), out


def seen(number: int, event: dict[str, Any], faults: dict[str, str] = GENUINE) -> Seen:
    return Seen(f"msg_k_{number:012d}", event, faults, 0)


def status(state: str, said: str) -> dict[str, Any]:
    return {"statusUpdate": {"status": {"state": f"TASK_STATE_{state}", "message": {"parts": [{"text": said}]}}}}


def test_a_notification_is_one_line_with_all_that_matters() -> None:
    show, out = screen()
    show.notification(seen(2, status("WORKING", "Reading. " * 30)), 1234, 56, again=False)
    (line,) = out.getvalue().splitlines()
    assert line.startswith(" 2   1.23 s    56 ms  status   ✓   ✓    WORKING  Reading. Reading.")
    assert len(line) <= 100
    assert line.endswith("…")


def test_a_false_signature_is_marked_beside_its_check() -> None:
    show, out = screen()
    show.notification(seen(2, status("WORKING", "x"), {"v1": "", "v1a": "bad"}), 1, None, again=True)
    assert out.getvalue() == " 2   0.00 s        ?  status   ✓   ✗    WORKING  x (again)\n"


def test_chunks_are_told_by_place_and_media_types() -> None:
    show, out = screen()
    parts = [{"data": {}, "mediaType": "application/json"}, {"text": "x"}]
    for more in ({}, {"append": True}, {"append": True, "lastChunk": True}, {"lastChunk": True}):
        show.notification(seen(4, {"artifactUpdate": {"artifact": {"parts": parts}, **more}}), 1, 1, again=False)
    told = [line.split("✓    ")[1] for line in out.getvalue().splitlines()]
    assert told == [
        f"{place}  application/json, text" for place in ("first chunk", "next chunk", "last chunk", "whole")
    ]


def test_what_is_no_notification_is_told() -> None:
    show, out = screen()
    show.notification(seen(4, {}), 1, 1, again=False)
    assert "not a notification" in out.getvalue()


def test_markup_in_what_an_agent_says_stays_text() -> None:
    show, out = screen()
    show.woken("[bold]x[/]")
    show.artifact("[red]name[/]", "", [])
    show.checks([(True, "[red]y[/]"), (False, "z")])
    assert "[bold]x[/]" in out.getvalue()
    assert "✓ [red]y[/]\n✗ z\n" in out.getvalue()


def test_the_last_line_is_exactly_what_is_promised() -> None:
    show, out = screen()
    show.last_line(settle([seen(0, {}), seen(2, {})], [0, 2]))
    assert out.getvalue() == "demo: 2 notifications, 2 verified, in order, 0 missing\n"


def test_saved_files_are_named_below_the_working_directory() -> None:
    show, out = screen()
    show.artifact("Analysis", "# Title", [Path.cwd() / ".local/demo/chart.svg"])
    assert "chart.svg      saved as .local/demo/chart.svg" in out.getvalue()


def test_checks_can_be_told_apart_where_the_output_is_ascii() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", errors="replace")
    Screen(Console(file=out, width=100, highlight=False)).checks([(True, "a"), (False, "b")])
    out.flush()
    assert raw.getvalue() == b"y a\nn b\n\n"
