"""What the client asks for: a statement and words, gathered from the messages of a task's turns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent import table
from agent.fault import Fault, shown
from agent.table import Table
from herald.agent import Message, Part
from herald.protocol.model import Role

CSV_TYPES = frozenset({"text/csv", "application/csv", "text/x-csv", "application/vnd.ms-excel"})
TEXT_TYPES = frozenset({"", "text/plain", "text/tab-separated-values", "application/octet-stream"})
CHARSETS = frozenset({"utf-8", "utf-16", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252"})
ROWS_MEMBERS = ("rows", "statement", "lines", "data")

_COUNTS = {
    word: count
    for count, word in enumerate(
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 2
    )
}
_LAST = re.compile(
    rf"\b(?:last|latest|past|most recent)\s+(?:(?P<n>\d{{1,3}}|{'|'.join(_COUNTS)})\s+)?"
    r"(?P<unit>period|year|half|halve|quarter|month|day)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Request:
    """``words`` and ``earlier`` are what the client said, now and in the turns before; the newest statement."""

    words: str
    earlier: str
    statement: Table | None
    follow_up: bool


@dataclass(frozen=True, slots=True)
class Span:
    """ "The last four quarters": a number of units, where the unit is a kind of period or "period" for any."""

    count: int
    unit: str


def gather(message: Message, history: Sequence[Message]) -> Request:
    """Read the messages of the client's, the newest first, until one of them brings a statement.

    Raises:
        Fault: the statement can't be read.
    """
    words, statement = _read(message.parts)
    earlier = []
    asked = [said for said in history if said.role is Role.USER]
    for said in reversed(asked):
        said_words, said_statement = _read(said.parts) if statement is None else (_words(said.parts), None)
        earlier.append(said_words)
        statement = statement or said_statement
    return Request(words, "\n".join(earlier), statement, follow_up=bool(asked))


def span(words: str) -> Span | None:
    """How many of the last periods are asked for; None for all of them."""
    found = _LAST.search(words)
    if found is None:
        return None
    count = (found["n"] or "1").lower()
    unit = found["unit"].lower()
    return Span(_COUNTS.get(count) or int(count), "half" if unit == "halve" else unit)


def _words(parts: Iterable[Part]) -> str:
    try:
        return _read(parts)[0]
    except Fault:  # an older file's faults are of no account beside a newer file
        return ""


def _read(parts: Iterable[Part]) -> tuple[str, Table | None]:
    words: list[str] = []
    tables: list[Table] = []
    for part in parts:
        said, found = _part(part)
        words.append(said)
        if found is not None:
            tables.append(found)
    if len(tables) > 1:
        raise Fault(f"the message holds {len(tables)} statements; send one at a time, several entities may share it")
    return "\n".join(w for w in words if w.strip()), tables[0] if tables else None


def _part(part: Part) -> tuple[str, Table | None]:
    media_type, charset = _media_type(part)
    if part.text is not None:
        return _text(part.text, media_type)
    if part.raw is not None:
        named_csv = (part.filename or "").lower().endswith((".csv", ".tsv", ".txt"))
        if media_type not in CSV_TYPES and not (media_type in TEXT_TYPES or named_csv):
            raise Fault(f"a file of type {shown(media_type)} isn't read here; send the statement as text/csv")
        return "", table.from_csv(_decoded(part.raw, charset))
    if part.url is not None:
        raise Fault("a link isn't followed here; send the statement's content as a text, raw or data part")
    return _data(part.data)


def _media_type(part: Part) -> tuple[str, str]:
    essence, *parameters = (part.media_type or "").lower().split(";")
    named = dict(p.strip().split("=", 1) for p in parameters if "=" in p)
    return essence.strip(), named.get("charset", "").strip('"')


def _text(text: str, media_type: str) -> tuple[str, Table | None]:
    if media_type in CSV_TYPES:
        return "", table.from_csv(text)
    if len(text) > table.CHARACTERS_AT_MOST:
        raise Fault(f"the text is longer than {table.CHARACTERS_AT_MOST:,} characters; send a shorter one")
    found = table.split(text)
    if found is None:
        return text, None
    csv_text, words = found
    return words, table.from_csv(csv_text)


def _decoded(content: bytes, charset: str) -> str:
    if charset and charset not in CHARSETS:
        raise Fault(f"the character set {shown(charset)} isn't read here; send the file as UTF-8")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        charset = "utf-16"
    try:
        return content.decode("utf-8-sig" if charset in ("", "utf-8") else charset)
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        raise Fault("it isn't UTF-8 text; save the file as CSV UTF-8", row=row) from error


def _data(value: Any) -> tuple[str, Table | None]:
    if isinstance(value, str):
        return _text(value, "")
    if isinstance(value, Mapping):
        return _object(value)
    if isinstance(value, list):
        return "", table.from_json(value)
    raise Fault("the data part holds neither rows nor words; send rows as objects with the columns as members")


def _object(value: Mapping[str, Any]) -> tuple[str, Table | None]:
    """Rows under a member, one row alone, or words only; an entity and a currency beside the rows hold for each row."""
    words = "\n".join(said for said in value.values() if isinstance(said, str))
    for member in ROWS_MEMBERS:
        if isinstance(rows := value.get(member), list):
            shared = {
                name: said
                for name, said in value.items()
                if (known := table.column(name, 0)) and known.name in ("entity", "currency") and isinstance(said, str)
            }
            return words, table.from_json([{**shared, **row} if isinstance(row, Mapping) else row for row in rows])
    known_members = {known.name for name in value if (known := table.column(name, 0))}
    if "period" in known_members and known_members & set(table.AMOUNTS):
        return "", table.from_json([value])
    if not words:
        raise Fault(f"the data part has no rows; give them under {shown(ROWS_MEMBERS[0])}")
    return words, None
