"""Periods as statements name them, put in order: 2024, FY2024, H1 2024, 2024-Q1, Mar 2024, 2024-03, 2024-03-31."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

WAYS = "2024, 2024-H1, 2024-Q1, 2024-03 or 2024-03-31"

_SHORT_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

PARTS_OF_YEAR = {"year": 1, "half": 2, "quarter": 4, "month": 12}


@dataclass(frozen=True, slots=True)
class Period:
    """One period: ``kind`` is year, half, quarter, month or day; ``place`` orders the periods of one kind.

    ``place`` counts periods of the kind since year 0 (days since year 1), so that the one before has ``place - 1``.
    """

    kind: str
    place: int
    label: str = field(compare=False)  # as the file has it


_YEAR = r"(?P<year>(?:19|20|21)\d\d)"
_JOIN = r"[\s/_-]*"
_FORMS: tuple[tuple[str, str], ...] = (
    ("year", rf"(?:fy{_JOIN})?{_YEAR}"),
    ("half", rf"(?:fy)?{_YEAR}{_JOIN}h(?P<part>[12])"),
    ("half", rf"(?:h(?P<part>[12])|(?P<part2>[12])h){_JOIN}(?:fy)?{_YEAR}"),
    ("quarter", rf"(?:fy)?{_YEAR}{_JOIN}q(?P<part>[1-4])"),
    ("quarter", rf"(?:q(?P<part>[1-4])|(?P<part2>[1-4])q){_JOIN}(?:fy)?{_YEAR}"),
    ("month", rf"{_YEAR}[/-](?P<part>0?[1-9]|1[0-2])"),
    ("month", rf"(?P<part>0?[1-9]|1[0-2])[/-]{_YEAR}"),
    ("month", rf"(?P<name>[a-z]{{3,9}})\.?{_JOIN}{_YEAR}"),
    ("month", rf"{_YEAR}{_JOIN}(?P<name>[a-z]{{3,9}})"),
    ("day", rf"{_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)"),
    ("day", rf"(?P<day>\d\d?)\.(?P<month>\d\d?)\.{_YEAR}"),
)
_COMPILED = tuple((kind, re.compile(form, re.ASCII)) for kind, form in _FORMS)


def read(text: str) -> Period | None:
    """The period that a cell names; None when it can't be put in order. Day/month/year is nobody's one order: None."""
    label = " ".join(text.split())
    for kind, form in _COMPILED:
        if found := form.fullmatch(label.lower()):
            place = _PLACES[kind](found)
            return None if place is None else Period(kind, place, label)
    return None


def _group(found: re.Match[str], name: str) -> str | None:
    return found.groupdict().get(name)


def _part(found: re.Match[str], parts: int) -> int:
    part = _group(found, "part") or _group(found, "part2") or "1"
    return int(found["year"]) * parts + int(part) - 1


def _month(found: re.Match[str]) -> int | None:
    name = _group(found, "name")
    if name is None:
        return _part(found, 12)
    if name == "sept":
        name = "sep"
    for names in (_SHORT_MONTHS, _MONTHS):
        if name in names:
            return int(found["year"]) * 12 + names.index(name)
    return None


def _day(found: re.Match[str]) -> int | None:
    try:
        return date(int(found["year"]), int(found["month"]), int(found["day"])).toordinal()
    except ValueError:
        return None


_PLACES: dict[str, Callable[[re.Match[str]], int | None]] = {
    "year": lambda found: _part(found, 1),
    "half": lambda found: _part(found, 2),
    "quarter": lambda found: _part(found, 4),
    "month": _month,
    "day": _day,
}
