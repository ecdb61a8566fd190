"""What is believed to be our emulator: nothing that an earlier run left behind blocks the next one."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from local import __main__ as local_main
from local import environments, process, stack
from local.environments import ROOT
from local.terminal import LocalError


@pytest.mark.parametrize(
    "record",
    [
        None,
        "",
        "{}",
        "not json",
        json.dumps({"pid": 2**22 - 3, "port": 4566, "started": 1.0}),  # long dead
        json.dumps({"pid": os.getpid(), "port": 4566, "started": 1.0}),  # somebody else's by now
    ],
)
def test_what_isnt_a_running_emulator_of_ours_is_neither_found_nor_stopped(tmp_path: Path, record: str | None) -> None:
    file = tmp_path / "emulator.json"
    if record is not None:
        file.write_text(record, encoding="utf-8")
    assert process.running(file) is None
    assert process.stop(file) is False
    assert not file.exists()


def test_a_busy_port_is_told_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_taken", lambda port: port == 4566)
    python, log = tmp_path / "python", tmp_path / "log"
    with pytest.raises(LocalError, match=r"Port 4566 is taken by another program\. .*PORT=4600"):
        process.start(python, tmp_path, tmp_path / "emulator.json", log, 4566)


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1", "٣"])
def test_what_isnt_a_port_is_refused(port: str) -> None:
    with pytest.raises(LocalError, match=f"PORT={port} isn't a port"):
        stack.place_from({"PORT": port})


def test_a_place_is_the_folder_local_and_port_4566_unless_told_otherwise() -> None:
    assert stack.place_from({}) == stack.Place(ROOT / ".local", 4566)
    assert stack.place_from({"PORT": "5000", "LOCAL_DIR": ".local/two"}) == stack.Place(ROOT / ".local" / "two", 5000)


def test_the_emulator_sees_nothing_of_this_machines_aws_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "production")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA")
    environment = process._environment(4566, tmp_path)
    assert not [name for name in environment if name.startswith("AWS_")]
    assert environment["AUTH"] == "true"
    assert environment["BIND_HOST"] == "127.0.0.1"


def test_functions_that_outlived_their_emulator_are_ended_and_their_files_removed(tmp_path: Path) -> None:
    """A group's leader that is killed leaves its children behind, here one that would sleep for an hour."""
    leader = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 3600 & echo $!; wait"], stdout=subprocess.PIPE, start_new_session=True
    )
    assert leader.stdout is not None
    with leader, leader.stdout as output:
        child = int(output.readline())
        leader.kill()
        leader.wait()
    file = tmp_path / "emulator.json"
    file.write_text(json.dumps({"pid": leader.pid, "port": 4566, "started": 1.0}), encoding="utf-8")
    (tmp_path / "tmp" / "unpacked").mkdir(parents=True)
    assert process.stop(file) is False
    assert not (tmp_path / "tmp").exists()
    give_up = time.monotonic() + 10
    while _alive(child):
        assert time.monotonic() < give_up
        time.sleep(0.01)


def _alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody reaps doesn't."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_busy_port_costs_nobody_the_emulator_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_taken", lambda port: True)
    monkeypatch.setattr(process, "_is_ours", lambda pid: True)
    monkeypatch.setattr(process, "stop", lambda record: pytest.fail("stopped before the port was looked at"))
    record = tmp_path / "emulator.json"
    record.write_text(json.dumps({"pid": 1, "port": 4566, "started": 1.0}), encoding="utf-8")
    with pytest.raises(LocalError, match="Port 4567 is taken"):
        process.start(tmp_path / "python", tmp_path, record, tmp_path / "log", 4567)
    process.refuse_a_taken_port(record, 4566)  # its own port isn't somebody else's


def test_another_port_than_the_highest_one_is_a_port_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_taken", lambda port: True)
    with pytest.raises(LocalError, match="PORT=65501"):
        process.refuse_a_taken_port(tmp_path / "emulator.json", 65535)


def test_an_interrupted_start_leaves_no_emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(port: int) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "_taken", lambda port: False)
    monkeypatch.setattr(process, "healthy", interrupted)
    monkeypatch.setattr(process, "_is_ours", _alive)
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def sleeper(command: list[object], **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(["/bin/sleep", "3600"], **options))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", sleeper)
    record = tmp_path / "emulator.json"
    with pytest.raises(KeyboardInterrupt):
        process.start(tmp_path / "python", tmp_path, record, tmp_path / "log", 4566)
    assert not record.exists()
    assert not _alive(started[0].pid)


@pytest.mark.parametrize(("before", "left"), [(None, []), (process.Emulator(7, 4566, 1.0), [7])])
def test_a_failed_or_interrupted_up_stops_only_the_emulator_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: process.Emulator | None, left: list[int]
) -> None:
    running = [before.pid] if before else []

    def start(*_: object) -> process.Emulator:
        running[:] = [8]
        return process.Emulator(8, 4566, 2.0)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(environments, "ensure", lambda environment: None)
    monkeypatch.setattr(process, "running", lambda record: before)
    monkeypatch.setattr(process, "refuse_a_taken_port", lambda record, port: None)
    monkeypatch.setattr(process, "start", start)
    monkeypatch.setattr(process, "stop", lambda record: bool(running.pop()))
    monkeypatch.setattr(stack, "_sam_build", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stack.up(stack.Place(tmp_path, 4566))
    assert running == left


def test_up_takes_the_agent_to_deploy_and_a_place_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[stack.Variant] = []

    def up(place: stack.Place, variant: stack.Variant) -> dict[str, str]:
        asked.append(variant)
        return {"cardUrl": "http://card"}

    monkeypatch.setattr(stack, "up", up)
    monkeypatch.setenv("LOCAL_DIR", str(tmp_path))
    monkeypatch.setenv("AGENT", "agent.greeter:Greeter")
    local_main.up()
    assert asked[0].parameters == {"Agent": "agent.greeter:Greeter"}
    assert "stack.json. Log lines" in capsys.readouterr().out


@pytest.mark.parametrize("agent", ["agent.greeter.Greeter", "Greeter", "agent/greeter.py:Greeter", "agent.greeter:"])
def test_what_doesnt_name_a_class_is_refused_before_anything_is_built(agent: str) -> None:
    with pytest.raises(LocalError, match=r"isn't module:Class\. Name it like AGENT=agent\.greeter:Greeter"):
        stack.variant_from({"AGENT": agent})


def test_a_failed_sam_is_told_by_the_lines_that_say_why() -> None:
    said = "\n".join(
        ["Uploading", "", "\tFile with same data already exists at 1, skipping upload", "Error: no such thing"]
    )
    assert stack._telling(said) == ["Uploading", "Error: no such thing"]
