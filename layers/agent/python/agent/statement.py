"""A financial statement: checked rows of one or more entities, in exact amounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from agent import amounts, periods
from agent.fault import Fault, shown
from agent.periods import Period
from agent.table import AMOUNTS, Cell, Table

NAME_CHARACTERS_AT_MOST = 120
PERIODS_AT_MOST = 1_000  # of an entity: more would make a report and a chart that nobody reads


@dataclass(frozen=True, slots=True)
class Line:
    """One entity's amounts of one period; ``currency`` is "" when the file names none."""

    row: int
    period: Period
    revenue: Decimal
    cost_of_goods_sold: Decimal
    operating_cash_flow: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Statement:
    """The lines of each entity, oldest period first; entities in the order of the file."""

    entities: Mapping[str, Sequence[Line]]

    @property
    def rows(self) -> int:
        return sum(len(lines) for lines in self.entities.values())


def read(table: Table) -> Statement:
    """Check a table and read its amounts.

    Raises:
        Fault: a cell is empty or can't be read; an entity has a period twice, periods of two kinds, or two currencies.
    """
    try:
        return _read(table)
    except Fault as fault:
        named = table.columns.get(fault.column or "")
        raise fault if named is None else fault.in_column(named.written) from None


def _read(table: Table) -> Statement:
    mark = _decimal_mark(table)
    names: dict[str, str] = {}  # without case and spacing -> as first written
    lines: dict[str, list[Line]] = {}
    for row, cells in table.rows:
        name = _name(_text(table, cells, row, "entity"), row)
        name = names.setdefault(name.casefold(), name)
        lines.setdefault(name, []).append(_line(table, cells, row, mark))
    return Statement({name: _in_order(name, rows) for name, rows in lines.items()})


def _text(table: Table, cells: Sequence[Cell], row: int, name: str) -> str:
    text = str(cells[table.columns[name].index]).strip()
    if not text:
        raise Fault("it is empty", row=row, column=name)
    return text


def _name(text: str, row: int) -> str:
    name = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(name) > NAME_CHARACTERS_AT_MOST:
        raise Fault(f"a name has {NAME_CHARACTERS_AT_MOST} characters at most", row=row, column="entity")
    return name


def _line(table: Table, cells: Sequence[Cell], row: int, mark: str) -> Line:
    label = _text(table, cells, row, "period")
    period = periods.read(label)
    if period is None:
        raise Fault(f"{shown(label)} isn't a period; write it as {periods.WAYS}", row=row, column="period")
    currency = _named_currency(table, cells, row)
    values = {}
    for name in AMOUNTS:
        written = _written(table, cells, row, name)
        value = amounts.read(written, mark)
        if value is None:
            raise _not_an_amount(str(cells[table.columns[name].index]), row, name)
        for named in (_unit(table, name, row), written.currency):
            currency = _agree(currency, named, row, name)
        values[name] = value
    return Line(row=row, period=period, currency=currency, **values)


def _named_currency(table: Table, cells: Sequence[Cell], row: int) -> str:
    if "currency" not in table.columns:
        return ""
    text = str(cells[table.columns["currency"].index]).strip()
    currency = amounts.currency(text) if text else ""
    if currency is None:
        raise Fault(f"{shown(text)} isn't a currency; write its three letters, like EUR", row=row, column="currency")
    return currency


def _unit(table: Table, name: str, row: int) -> str:
    """The currency in a header cell. Thousands and millions there would be lost in silence, so they are refused."""
    unit = table.columns[name].unit
    currency = amounts.currency(unit) if unit else ""
    if currency is None:
        what = f"the unit {shown(unit)} in the header isn't a currency; give full amounts, in a unit like EUR or none"
        raise Fault(what, row=row, column=name)
    return currency


def _agree(one: str, other: str, row: int, name: str) -> str:
    if not one or not other:
        return one or other
    agreed = amounts.same_currency(one, other)
    if agreed is None:
        raise Fault(f"it is in {other} where the row is in {one}", row=row, column=name)
    return agreed


def _written(table: Table, cells: Sequence[Cell], row: int, name: str) -> amounts.Written:
    cell = cells[table.columns[name].index]
    if isinstance(cell, Decimal):
        return amounts.Written(False, "", "", cell)
    text = _text(table, cells, row, name)
    written = amounts.take_apart(text)
    if written is None:
        raise _not_an_amount(text, row, name)
    return written


def _not_an_amount(text: str, row: int, name: str) -> Fault:
    what = f"{shown(text.strip())} isn't an amount; write it like 1234.50, with {amounts.DIGITS_AT_MOST} digits at most"
    return Fault(what, row=row, column=name)


def _decimal_mark(table: Table) -> str:
    """The decimal mark of the whole file.

    Where no cell shows it, it is the point, as in files whose cells are separated by commas. In others a lone 1.234 or
    1,234 stays open, and is refused: a wrong guess is a factor of a thousand.
    """
    decided: tuple[str, int] | None = None
    open_cell: Fault | None = None
    for row, cells in table.rows:
        for name in AMOUNTS:
            cell = cells[table.columns[name].index]
            written = amounts.take_apart(cell) if isinstance(cell, str) else None
            if written is None:
                continue  # a number, or none: that is told when the line is read
            shows = amounts.decimal_mark(written.body)
            if shows is None:
                if open_cell is None and amounts.lone_separator(written):
                    text = shown(str(cell).strip())
                    what = f"{text} may be a thousand or a fraction, and no other cell tells; write 1234 or 1234.00"
                    open_cell = Fault(what, row=row, column=name)
            elif decided is None:
                decided = shows, row
            elif decided[0] != shows:
                what = f"the decimal mark is “{shows}” here and “{decided[0]}” in row {decided[1]}; use one of them"
                raise Fault(what, row=row, column=name)
    if decided is None and open_cell is not None and table.separator not in ("", ","):
        raise open_cell
    return decided[0] if decided else "."


def _in_order(name: str, lines: list[Line]) -> list[Line]:
    first = lines[0]
    seen: dict[int, Line] = {}
    currency = ""
    for line in lines:
        if line.period.kind != first.period.kind:
            what = f"{shown(line.period.label)} is a {line.period.kind} where row {first.row} has a {first.period.kind}"
            raise Fault(f"{what}; give {shown(name)} periods of one kind", row=line.row, column="period")
        if (other := seen.get(line.period.place)) is not None:
            what = f"{shown(name)} has {shown(line.period.label)} in row {other.row} already"
            raise Fault(what, row=line.row, column="period")
        seen[line.period.place] = line
        if len(seen) > PERIODS_AT_MOST:
            what = f"{shown(name)} has more than {PERIODS_AT_MOST:,} periods; send fewer"
            raise Fault(what, row=line.row, column="period")
        if currency and line.currency and amounts.same_currency(currency, line.currency) is None:
            what = f"{shown(name)} is in {line.currency} here and in {currency} above; give it in one currency"
            raise Fault(what, row=line.row, column="currency")
        currency = _agree(currency, line.currency, line.row, "currency")
    return sorted(lines, key=lambda line: line.period.place)
