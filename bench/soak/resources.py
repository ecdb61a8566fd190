"""What the stack's processes hold: memory, file descriptors, sockets. Linux only, from /proc; elsewhere nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bench.soak.judge import Process

PROC = Path("/proc")
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")  # a second
EMULATOR = "emulator"
FUNCTION = b"AWS_LAMBDA_FUNCTION_NAME="


def of_stack(leader: int) -> list[Process]:
    """The emulator and the processes of its functions: the members of its process group."""
    found = []
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError, ValueError):  # it has ended meanwhile
            group = int((folder / "stat").read_text().rpartition(")")[2].split()[2])
            if group == leader:
                pid = int(folder.name)
                found.append(_process(pid, EMULATOR if pid == leader else _function(folder)))
    return found


def own() -> Process | None:
    """This process."""
    with suppress(OSError):
        return _process(os.getpid(), "bench")
    return None


def _process(pid: int, name: str) -> Process:
    folder = PROC / str(pid)
    memory = int((folder / "statm").read_text().split()[1]) * PAGE
    targets = list(_targets(folder / "fd"))
    sockets = sum(target.startswith("socket:") for target in targets)
    return Process(pid, name, memory, len(targets), sockets, _age(folder))


def _age(folder: Path) -> float:
    """Seconds since the process was started; field 22 of its stat counts from the machine's own start."""
    ticks = int((folder / "stat").read_text().rpartition(")")[2].split()[19])
    return float((PROC / "uptime").read_text().split()[0]) - ticks / TICKS


def _targets(folder: Path) -> Iterator[str]:
    for link in folder.iterdir():
        with suppress(OSError):
            yield str(link.readlink())


def _function(folder: Path) -> str:
    """The logical name of the function whose process this is: SendWebhooks for herald-local-SendWebhooksFunction-…."""
    variables = (folder / "environ").read_bytes().split(b"\0")
    name = next((text.removeprefix(FUNCTION).decode() for text in variables if text.startswith(FUNCTION)), "other")
    return next((part.removesuffix("Function") for part in name.split("-") if part.endswith("Function")), name)


def table(moments: Mapping[str, Sequence[Process]]) -> list[str]:
    """A line for each name: at each moment how many processes, MB in all, files and sockets of the one with most."""
    names = sorted({process.name for processes in moments.values() for process in processes})
    head = "".join(f"{moment:>34}" for moment in moments)
    found = [f"  {'':<14}{head}", f"  {'':<14}" + f"{'count':>8}{'MB':>9}{'files':>8}{'sockets':>9}" * len(moments)]
    for name in names:
        cells = ""
        for processes in moments.values():
            those = [process for process in processes if process.name == name]
            files = max((process.files for process in those), default=0)
            sockets = max((process.sockets for process in those), default=0)
            cells += f"{len(those):>8}{sum(process.memory for process in those) / 2**20:>9.0f}{files:>8}{sockets:>9}"
        found.append(f"  {name:<14}{cells}")
    return found
