"""Plain text for a terminal: tables, times in UTC with their age, sizes, and texts of others made harmless."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlsplit, urlunsplit

from herald.protocol.codec import timestamp

HIDDEN = "[hidden]"

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligned columns, two spaces between; the last one is as long as it is."""
    if not rows:
        return []
    widths = [max(len(row[place]) for row in (headings, *rows)) for place in range(len(headings))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (headings, *rows)
    ]


def moment(at: int | None) -> str:
    """``2026-01-01 00:00:00Z``; a dash for no time. ``at`` is in ms since 1970."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%SZ}" if at else "-"


def stamp(at: int | None) -> str | None:
    """The same for programs: ISO 8601 with milliseconds; None for no time."""
    return timestamp(at) if at else None


def duration(ms: int) -> str:
    """The two largest units: ``2d 3h``, ``4m 10s``, ``0s``."""
    seconds = abs(ms) // 1000
    parts: list[str] = []
    for name, size in _UNITS:
        count, seconds = divmod(seconds, size)
        if count or parts:
            parts.append(f"{count}{name}")
    return " ".join(part for part in parts[:2] if part[0] != "0") or "0s"


def age(at: int | None, now: int) -> str:
    """``3m 10s ago`` or ``in 2h``; a dash for no time."""
    if not at:
        return "-"
    return f"in {duration(at - now)}" if at > now else f"{duration(now - at)} ago"


def when(at: int | None, now: int) -> str:
    """``2026-01-01 00:00:00Z (3m ago)``."""
    return f"{moment(at)} ({age(at, now)})" if at else "-"


def size(count: int) -> str:
    """``34 B``, ``1.2 KB``, ``2.0 MB``."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.1f} KB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def many(count: int, one: str, more: str = "") -> str:
    """``1 entry``, ``2 entries``."""
    return f"{count} {one if count == 1 else more or one + 's'}"


def either(names: Sequence[str]) -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def safe(text: str, most: int = 0) -> str:
    """A text that others wrote, on one line and without anything that a terminal obeys; cut to ``most`` characters."""
    shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return f"{shown[: most - 1]}…" if most and len(shown) > most else shown


def address(url: str) -> str:
    """A URL without what may be secret in it: its query, and a user and password before its host."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    netloc = f"{HIDDEN}@{host}" if "@" in parts.netloc else host
    return urlunsplit((parts.scheme, netloc, parts.path, HIDDEN if parts.query else "", ""))
