"""A log event as a line for a person."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from botocore.exceptions import EndpointConnectionError
from local import logs, process
from local.logs import readable

AT = 1_735_732_800_123  # 2025-01-01T12:00:00.123Z


def test_a_record_shows_its_level_its_message_and_its_own_fields() -> None:
    record = {"level": "INFO", "message": "turn started", "service": "herald", "task_id": "t1", "turn": 0}
    assert readable(AT, "start_worker", json.dumps(record)) == (
        "12:00:00.123  start_worker   INFO    turn started  task_id=t1  turn=0"
    )


def test_a_traceback_follows_on_lines_of_its_own() -> None:
    line = readable(AT, "api", json.dumps({"level": "ERROR", "message": "no", "exception": "Traceback\nboom"}))
    assert line == "12:00:00.123  api            ERROR   no\n    Traceback\n    boom"


@pytest.mark.parametrize(
    "said", ["\n12:00:00.123  api", "\r12:00:00.123  api", "\x1b[2J", "\u202e", "\x9b2J", "\u2028"]
)
@pytest.mark.parametrize("where", ["message", "exception", "task", "plain text"])
def test_a_clients_words_are_neither_obeyed_by_a_terminal_nor_taken_for_a_line(said: str, where: str) -> None:
    message = f"it is {said}!" if where == "plain text" else json.dumps({"message": "no", where: f"it is {said}!"})

    first, *more = (readable(AT, "api", message) or "").split("\n")

    assert first.startswith("12:00:00.123  api ")
    assert all(line.startswith("    ") for line in more)
    assert "".join((first, *more)).isprintable()


def test_plain_text_is_shown_as_it_is() -> None:
    assert readable(AT, "run_agent", "hello\n") == "12:00:00.123  run_agent              hello"


@pytest.mark.parametrize(
    "message",
    [
        "START RequestId: 1 Version: $LATEST",
        "END RequestId: 1",
        "REPORT RequestId: 1\tDuration: 3 ms",
        '{"_aws": {"CloudWatchMetrics": []}, "Delivered": [1.0]}',
        '{"time": "…", "type": "platform.report", "record": {}}',
        "\n",
    ],
)
def test_what_only_the_platform_reads_is_left_out(message: str) -> None:
    assert readable(AT, "api", message) is None


def test_a_stack_that_died_is_told_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stack.json").write_text("{}", encoding="utf-8")
    monkeypatch.setenv("LOCAL_DIR", str(tmp_path))
    assert logs.main() == 1
    assert capsys.readouterr().err == "No local stack is up. Start it: make up\n"


def test_a_stack_that_is_stopped_meanwhile_ends_the_lines_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise EndpointConnectionError(endpoint_url="http://localhost:4566/")

    (tmp_path / "stack.json").write_text("{}", encoding="utf-8")
    monkeypatch.setenv("LOCAL_DIR", str(tmp_path))
    monkeypatch.setattr(process, "running", lambda record: process.Emulator(1, 4566, 1.0))
    monkeypatch.setattr(logs, "_lines", gone)
    assert logs.main() == 1
    assert "Start it: make up" in capsys.readouterr().err
