"""How the demo looks: a line for each notification as it arrives, and a page at the end; the same without colour."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.markdown import Markdown
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from demo.account import Balance, Seen

WIDTH = 100  # at most, and always through a pipe
MARKS = ("✓", "✗")
PLAIN_MARKS = ("y", "n")  # where the output has no others

_STATE_STYLES = {
    "SUBMITTED": "cyan",
    "WORKING": "blue",
    "INPUT_REQUIRED": "yellow",
    "AUTH_REQUIRED": "yellow",
    "COMPLETED": "bold green",
    "FAILED": "bold red",
    "REJECTED": "bold red",
    "CANCELED": "bold red",
}
_KINDS = {"task": "task", "statusUpdate": "status", "artifactUpdate": "artifact"}

#           number  since  latency  kind  v1  v1a  and the rest of the line for what it says
_COLUMNS = (4, 9, 9, 9, 4, 5)


def console() -> Console:
    """A console on standard output: colours on a terminal unless NO_COLOR is set, plain text elsewhere."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace", line_buffering=True)
    made = Console(highlight=False)
    wide = made.width if made.is_terminal else int(os.environ.get("COLUMNS") or WIDTH)
    made.width = max(60, min(wide, WIDTH))
    return made


class Screen:
    """Prints the demo's story."""

    def __init__(self, on: Console) -> None:
        self._on = on
        self._yes, self._no = MARKS if on.encoding.startswith("utf") else PLAIN_MARKS

    def title(self) -> None:
        self._on.print(Rule("[bold]Herald[/]: a message in, signed notifications out", style="dim"))

    def woken(self, said: str) -> None:
        self._on.print(
            Padding(
                f"[dim]by a task that isn't counted, a file with a fault. It is rejected: {escape(said)}[/]",
                (0, 0, 0, 4),
            )
        )

    def opening(self, agent: str, file: Path, receiver: str) -> None:
        self._on.print(
            f"\nA client sends [bold]{escape(file.name)}[/] to [bold]{escape(agent)}[/], asks to be answered at once,\n"
            f"and listens at {escape(receiver)}\n"
        )

    def sent(self, task: dict[str, Any], milliseconds: float) -> None:
        state = _short(task["status"]["state"])
        self._on.print(
            f"[bold]SendMessage[/] answered in [bold]{milliseconds:.0f} ms[/]: "
            f"task [bold]{task['id']}[/] is [{_STATE_STYLES[state]}]{state}[/]\n"
        )
        names = ("log", "after", "latency", "kind", "v1", "v1a")
        head = Text(style="dim")
        for name, width in zip(names, _COLUMNS, strict=True):
            head.append(name.rjust(width - 2) + "  " if name in ("log", "after", "latency") else name.ljust(width))
        head.append("what it says")
        self._on.print(head)

    def notification(self, seen: Seen, milliseconds: int, latency: int | None, again: bool) -> None:
        kind = next((shown for member, shown in _KINDS.items() if member in seen.event), "?")
        line = Text(style="dim" if again else "")
        line.append(f"{seen.number:>{_COLUMNS[0] - 2}}  ", "bold")
        line.append(f"{milliseconds / 1000:.2f} s".rjust(_COLUMNS[1] - 2) + "  ", "dim")
        line.append(("?" if latency is None else f"{latency:,} ms").rjust(_COLUMNS[2] - 2) + "  ")
        line.append(kind.ljust(_COLUMNS[3]))
        for check, width in zip(("v1", "v1a"), _COLUMNS[4:], strict=True):
            fault = seen.faults.get(check, "unchecked")
            line.append((self._no if fault else self._yes).ljust(width), "bold red" if fault else "green")
        line.append_text(_said(seen.event))
        if again:
            line.append(" (again)")
        self._on.print(line, no_wrap=True, overflow="ellipsis")

    def footnotes(self) -> None:
        self._on.print(
            "\n[dim]log: the entry's place in the task's log; messages and runs stand there too and are never sent\n"
            "after: since SendMessage was sent   latency: from storing the entry to its POST arriving, one clock\n"
            "v1: HMAC, checked by the package standardwebhooks   v1a: ed25519, checked by herald.webhooks[/]\n"
        )

    def artifact(self, name: str, markdown: str, saved: Sequence[Path]) -> None:
        if markdown:
            body = Group(Markdown(markdown))
            self._on.print(Panel(body, title=f"[bold]{escape(name)}[/]", border_style="dim", padding=(1, 2)))
        for path in saved:
            self._on.print(f"  {escape(path.name):<14} saved as [bold]{escape(_short_path(path))}[/]")
        self._on.print()

    def checks(self, facts: Iterable[tuple[bool, str]]) -> None:
        for good, sentence in facts:
            mark = f"[green]{self._yes}[/]" if good else f"[bold red]{self._no}[/]"
            self._on.print(f"{mark} {escape(sentence)}")
        self._on.print()

    def faults(self, seen: Sequence[Seen]) -> None:
        """What is wrong with the signatures that don't hold."""
        for one in seen:
            for check, fault in one.faults.items():
                if fault:
                    self._on.print(f"[red]{self._no} notification {one.number}, {check}: {escape(fault)}[/]")

    def trouble(self, what: str, way_out: str) -> None:
        self._on.print(f"[bold red]{self._no} The demo stopped:[/] {escape(what)}")
        if way_out:
            self._on.print(f"  {escape(way_out)}")

    def last_line(self, balance: Balance) -> None:
        self._on.file.write(balance.line + "\n")  # as it is: no wrapping, no colour, for whoever reads it by program


def _said(event: dict[str, Any]) -> Text:
    if "task" in event:
        return _state(event["task"]["status"]).append("  the task as it was registered", "dim")
    if "statusUpdate" in event:
        return _state(event["statusUpdate"]["status"])
    if "artifactUpdate" in event:
        return _chunk(event["artifactUpdate"])
    return Text("not a notification", "bold red")


def _state(status: dict[str, Any]) -> Text:
    state = _short(status.get("state", ""))
    said = " ".join(part["text"] for part in status.get("message", {}).get("parts", []) if "text" in part)
    return Text(state, _STATE_STYLES.get(state, "")).append(f"  {said}" if said else "", "default not bold")


def _chunk(update: dict[str, Any]) -> Text:
    """A chunk as "first chunk: application/json, text/markdown"."""
    parts = update["artifact"]["parts"]
    types = ", ".join(part.get("mediaType") or next(iter(part)) for part in parts)
    place = "next chunk" if update.get("append") else "first chunk"
    if update.get("lastChunk"):
        place = "last chunk" if update.get("append") else "whole"
    return Text(place, "magenta").append(f"  {types}", "default")


def _short(state: str) -> str:
    return state.removeprefix("TASK_STATE_")


def _short_path(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
