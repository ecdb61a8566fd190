"""The emulator's process: start it, find it again, stop it.

What is known of it lies in a small file. A process is believed to be ours only if it also looks like it, so a dead
emulator of an earlier run, or a number that the system has given to somebody else, blocks nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from local.terminal import LocalError

MODULE = "local.emulator"
ISSUER_KEY = "issuer.pem"  # beside the record: the private key of the local issuer of access tokens
READY_WITHIN = 60.0  # seconds; it takes one or two
STOPPED_WITHIN = 10.0

_children: dict[int, subprocess.Popen[bytes]] = {}  # those that this process started, and must reap


@dataclass(frozen=True)
class Emulator:
    """A running emulator. ``started`` tells it from a later one on the same port."""

    pid: int
    port: int
    started: float

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"


def running(record: Path) -> Emulator | None:
    """The emulator that the record speaks of, if it still runs and answers."""
    emulator = _recorded(record)
    return emulator if emulator and healthy(emulator.port) else None


def _recorded(record: Path) -> Emulator | None:
    """The emulator that the record speaks of, if it still runs."""
    try:
        emulator = Emulator(**json.loads(record.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return emulator if _is_ours(emulator.pid) else None


def start(
    python: Path, root: Path, record: Path, log: Path, port: int, environment: Mapping[str, str] | None = None
) -> Emulator:
    """Stop the emulator that the record speaks of, start another one, and wait until it answers.

    ``environment`` is what it is given beside its usual one.

    Raises:
        LocalError: the port is taken, or the emulator doesn't come up. Nothing of the new one is left then.
    """
    refuse_a_taken_port(record, port)
    stop(record)
    refuse_a_taken_port(record, port)
    scratch = _scratch(record)
    scratch.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [python, "-m", MODULE],
            cwd=root,
            env=_environment(port, scratch) | dict(environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in a terminal is for us; and its functions end with it
        )
    _children[process.pid] = process
    emulator = Emulator(process.pid, port, time.time())
    record.write_text(json.dumps(asdict(emulator)), encoding="utf-8")
    try:
        _wait(process, port, log)
    except BaseException:  # Ctrl-C, too
        stop(record)
        raise
    return emulator


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until the emulator answers."""
    give_up = time.monotonic() + READY_WITHIN
    while not healthy(port):
        if process.poll() is not None or time.monotonic() > give_up:
            tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
            raise LocalError(f"The emulator didn't start. The end of {log}:\n{tail}")
        time.sleep(0.1)


def refuse_a_taken_port(record: Path, port: int) -> None:
    """See that the port is free, or held by the emulator that the record speaks of.

    Raises:
        LocalError: another program has it.
    """
    ours = _recorded(record)
    if not (ours and ours.port == port) and _taken(port):
        other = port + 34 if port + 34 < 65536 else port - 34
        raise LocalError(f"Port {port} is taken by another program. Choose another one, for example: PORT={other}")


def stop(record: Path) -> bool:
    """Stop the emulator that the record speaks of, and its functions; False if none ran."""
    try:
        pid = int(json.loads(record.read_text(encoding="utf-8"))["pid"])
    except (OSError, ValueError, KeyError):
        pid = 0
    record.unlink(missing_ok=True)
    if not pid or not _is_ours(pid):
        _end_orphans(pid)
        _remove_scratch(record)
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(pid, number)
        give_up = time.monotonic() + STOPPED_WITHIN
        while time.monotonic() < give_up:
            if not _is_ours(pid):
                if child := _children.pop(pid, None):
                    child.wait()
                _end_orphans(pid)
                _remove_scratch(record)
                return True
            time.sleep(0.05)
    raise LocalError(f"The emulator, process {pid}, doesn't stop.")


def _scratch(record: Path) -> Path:
    """Where an emulator unpacks its functions."""
    return record.parent / "tmp"


def _remove_scratch(record: Path) -> None:
    shutil.rmtree(_scratch(record), ignore_errors=True)


def _end_orphans(pid: int) -> None:
    """End the functions that outlived their emulator: the members of its process group, which nobody leads any more."""
    if not pid:
        return
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    except PermissionError:
        pass  # somebody else's by now


def healthy(port: int) -> bool:
    """Whether an emulator answers on this port."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_ministack/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError, ValueError):
        return False


def _environment(port: int, scratch: Path) -> dict[str, str]:
    """A clean one: what the emulator is started with, its functions see."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "LANG") if name in os.environ}
    return kept | {
        "ISSUER_KEY": str(scratch.parent / ISSUER_KEY),
        "AUTH": "true",  # roles and AWS_IAM are enforced: a missing permission fails here, not on AWS
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "PYTHONUNBUFFERED": "1",
        "TMPDIR": str(scratch),
    }


def _taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def _is_ours(pid: int) -> bool:
    """Whether this process is an emulator of ours, and not a zombie."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        if Path("/proc/self").exists():
            return False
        asked = subprocess.run(["/bin/ps", "-p", str(pid), "-o", "args="], capture_output=True, text=True, check=False)
        command = asked.stdout
    return MODULE in command
