"""A table as it was given: a header and rows of cells, found in CSV text (alone or among words) or in JSON rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from agent.fault import Fault, shown
from herald.protocol.codec import ExactFloat

ROWS_AT_MOST = 10_000
COLUMNS_AT_MOST = 100
CHARACTERS_AT_MOST = 4_000_000  # above what a request to Herald can carry
HEADER_WITHIN = 50  # lines: titles and words above the header

SEPARATORS = (",", ";", "\t", "|")

# What people call the columns, without case, spaces and punctuation.
NAMES: Mapping[str, str] = {
    "entity": "entity",
    "company": "entity",
    "companyname": "entity",
    "entityname": "entity",
    "period": "period",
    "fiscalperiod": "period",
    "quarter": "period",
    "year": "period",
    "fiscalyear": "period",
    "month": "period",
    "revenue": "revenue",
    "revenues": "revenue",
    "netrevenue": "revenue",
    "sales": "revenue",
    "netsales": "revenue",
    "turnover": "revenue",
    "costofgoodssold": "cost_of_goods_sold",
    "costofsales": "cost_of_goods_sold",
    "costofrevenue": "cost_of_goods_sold",
    "cogs": "cost_of_goods_sold",
    "operatingcashflow": "operating_cash_flow",
    "cashflowfromoperations": "operating_cash_flow",
    "cashflowfromoperatingactivities": "operating_cash_flow",
    "netcashfromoperatingactivities": "operating_cash_flow",
    "ocf": "operating_cash_flow",
    "cfo": "operating_cash_flow",
    "currency": "currency",
    "currencycode": "currency",
}
AMOUNTS = ("revenue", "cost_of_goods_sold", "operating_cash_flow")
REQUIRED = ("entity", "period", *AMOUNTS)

Cell = str | Decimal  # Decimal: a JSON number, whose digits leave nothing open


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is known: its name here, its name as the table has it, its place, and the unit in its name."""

    name: str
    written: str
    index: int
    unit: str = ""  # EUR of "Revenue (EUR)"


@dataclass(frozen=True, slots=True)
class Table:
    """Known columns by name, and numbered rows. ``separator`` is "" for JSON rows."""

    columns: Mapping[str, Column]
    rows: Sequence[tuple[int, Sequence[Cell]]]
    separator: str


def column(written: str, index: int) -> Column | None:
    """The known column that a header cell names, "Revenue (EUR)" and "cost-of-goods sold" included."""
    named = re.fullmatch(r"(?P<name>[^(\[]*)(?:[(\[](?P<unit>[^)\]]*)[)\]])?\s*", written)
    if named is None:
        return None
    name = NAMES.get("".join(c for c in named["name"].casefold() if c.isalnum()))
    return None if name is None else Column(name, written.strip(), index, (named["unit"] or "").strip())


def from_csv(text: str) -> Table:
    """Read a CSV file.

    Raises:
        Fault: it has no header or no rows, a column is missing or there twice, a row is too short or too long, or there
            are more than ROWS_AT_MOST rows.
    """
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    if len(text) > CHARACTERS_AT_MOST:
        raise Fault(f"the file is longer than {CHARACTERS_AT_MOST:,} characters; send a shorter one")
    lines = _lines(text)
    found = _header(lines)
    if found is None:
        first = next((n for n, line in enumerate(lines, 1) if line.strip()), 1)
        raise Fault(f"there is no header; name the columns {', '.join(REQUIRED)}", row=first)
    at, separator = found
    return _read(text, separator, at)


def split(text: str) -> tuple[str, str] | None:
    """A text's CSV and the words around it; None when no line is a header with a row below it.

    A text that begins with its header is taken as a file. Fences (```) are left out. The table ends at its last line
    with a separator; after an empty line only rows as long as the header belong to it.
    """
    lines = [line for line in _lines(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")) if "```" not in line]
    found = _header(lines)
    if found is None:
        return None
    start, separator = found
    width = lines[start].count(separator)
    end, empty = start + 1, False
    for number, line in enumerate(lines[start + 1 :], start + 1):
        if not line.strip():
            empty = True
        elif separator in line and (not empty or line.count(separator) >= width):
            end, empty = number + 1, False
    if end == start + 1:
        return None
    above, below = "\n".join(lines[:start]), "\n".join(lines[end:])
    table = lines[start:end] if above.strip() else lines[:end]  # rows are counted as a spreadsheet does
    return "\n".join(table), "\n".join(words for words in (above.strip(), below.strip()) if words)


def from_json(rows: Sequence[Any]) -> Table:
    """Read rows of a data part: objects, or arrays of which the first one is the header. Rows count from 1.

    Raises:
        Fault: as ``from_csv``, and where a cell is neither text nor a number.
    """
    if len(rows) > ROWS_AT_MOST + 1:
        raise _too_many(len(rows))
    if rows and all(isinstance(row, Mapping) for row in rows):
        written = list(dict.fromkeys(str(name) for row in rows for name in row))
        if len(written) > COLUMNS_AT_MOST:
            raise Fault(f"there are more than {COLUMNS_AT_MOST} columns")
        numbered = [(number, [row.get(name) for name in written]) for number, row in enumerate(rows, 1)]
    elif rows and all(isinstance(row, Sequence) and not isinstance(row, str) for row in rows):
        written = [str(name) for name in rows[0]]
        numbered = [(number, list(row)) for number, row in enumerate(rows[1:], 2)]
    else:
        row = next((n for n, r in enumerate(rows, 1) if isinstance(r, str) or not isinstance(r, Mapping | Sequence)), 1)
        raise Fault("it isn't an object with the columns as its members", row=row)
    columns = _columns(written, row=1)
    result: list[tuple[int, Sequence[Cell]]] = []
    for number, values in numbered:
        _check_width(number, [str(value) for value in values], written)
        known = {c.index: c.name for c in columns.values()}
        result.append(
            (number, [_cell(value, number, known[i]) if i in known else "" for i, value in enumerate(values)])
        )
    return _checked(columns, result, "")


def _lines(text: str) -> list[str]:
    """Lines as csv sees them; splitlines() would break at form feeds and their like as well."""
    return re.split(r"\r\n|\r|\n", text)


def _cell(value: Any, row: int, name: str) -> Cell:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Fault("it is neither text nor a number", row=row, column=name)
    if isinstance(value, int):
        return Decimal(value)
    return Decimal(value.text if isinstance(value, ExactFloat) else repr(value))


def _header(lines: Sequence[str]) -> tuple[int, str] | None:
    """Where the header stands and what separates its cells: the first line that names two known columns."""
    for at, line in enumerate(lines[:HEADER_WITHIN]):
        known = {separator: _known(line, separator) for separator in SEPARATORS}
        best = max(SEPARATORS, key=lambda separator: known[separator])
        if known[best] >= 2:
            return at, best
    return None


def _known(line: str, separator: str) -> int:
    if separator not in line or len(line) > 10_000:
        return 0
    try:
        cells = next(csv.reader([line], delimiter=separator))
    except csv.Error:
        return 0
    return len({found.name for index, cell in enumerate(cells) if (found := column(cell, index))})


def _read(text: str, separator: str, header_line: int) -> Table:
    columns: dict[str, Column] = {}
    header: list[str] = []
    rows: list[tuple[int, Sequence[Cell]]] = []
    for number, cells in _records(text, separator):
        if number <= header_line:
            continue
        if not header:
            header = cells
            while header and not header[-1].strip():
                header.pop()
            columns = _columns(header, row=number)
        elif any(cell.strip() for cell in cells):
            if len(rows) == ROWS_AT_MOST:
                raise _too_many(None)
            _check_width(number, cells, header)
            rows.append((number, cells))
    return _checked(columns, rows, separator)


def _records(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Records, counted as a spreadsheet counts its rows: an empty line is one, a quoted line break isn't."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    number = 0
    while True:
        number += 1
        try:
            yield number, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise Fault("the quotation marks don't match; double those inside a quoted cell", row=number) from error


def _columns(header: Sequence[str], row: int) -> dict[str, Column]:
    if len(header) > COLUMNS_AT_MOST:
        raise Fault(f"there are more than {COLUMNS_AT_MOST} columns", row=row)
    columns: dict[str, Column] = {}
    for index, written in enumerate(header):
        found = column(written, index)
        if found is None:
            continue
        if found.name in columns:
            other = columns[found.name].written
            raise Fault(f"it is there twice, as {shown(other)} and {shown(found.written)}", row=row, column=found.name)
        columns[found.name] = found
    for name in REQUIRED:
        if name not in columns:
            there = ", ".join(shown(written.strip()) for written in header[:12] if written.strip())
            raise Fault(f"it is missing; the header has {there or 'no names'}", row=row, column=name)
    return columns


def _check_width(number: int, cells: Sequence[str], header: Sequence[str]) -> None:
    if len(cells) < len(header):
        name = header[len(cells)].strip()
        raise Fault(f"the row ends before it, with {len(cells)} of {len(header)} cells", row=number, column=name)
    if any(cell.strip() for cell in cells[len(header) :]):
        what = f"the row has {len(cells)} cells where the header has {len(header)}; put quotation marks around amounts "
        raise Fault(what + "with thousands separators", row=number, column=str(len(header) + 1))


def _checked(columns: Mapping[str, Column], rows: list[tuple[int, Sequence[Cell]]], separator: str) -> Table:
    if not rows:
        raise Fault("there are no rows below the header")
    if len(rows) > ROWS_AT_MOST:
        raise _too_many(len(rows))
    return Table(columns, rows, separator)


def _too_many(count: int | None) -> Fault:
    there = "more" if count is None else f"{count:,}"
    return Fault(f"the statement has {there} rows; {ROWS_AT_MOST:,} are the most, so send fewer at once")
