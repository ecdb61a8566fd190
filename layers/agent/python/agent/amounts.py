"""Amounts as people write them: 1,234.50, 1.234,50, 1 234,50, 1'234.50, (1,234), -5, €12, 12 EUR.

Which of point and comma is the decimal mark is decided once for a file, by the cells that show it: guessing cell by
cell would take 1.234 for a thousand in one row and for one in the next.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

# A binary double holds any 15 digits, so that every JSON reader gives back the digits that were sent.
DIGITS_AT_MOST = 15
PLACES_AT_MOST = 6

# A sign and the currency codes it may stand for; the first one is meant when there is only one.
SIGNS: dict[str, tuple[str, ...]] = {
    "€": ("EUR",),
    "£": ("GBP",),
    "₹": ("INR",),
    "₩": ("KRW",),
    "₺": ("TRY",),
    "US$": ("USD",),
    "$": ("USD", "AUD", "CAD", "HKD", "MXN", "NZD", "SGD"),
    "¥": ("JPY", "CNY"),
    "kr": ("NOK", "SEK", "DKK", "ISK"),
}

_SCIENTIFIC = re.compile(r"[+-]?\d+(\.\d+)?[eE][+-]?\d{1,2}")
_NOT_NUMERIC = re.compile(r"[^\d\s().,'+-]+")
_SHAPE = re.compile(r"(?P<open>\()?(?P<sign>[+-])?(?P<body>\d[\d., ']*\d|\d)(?P<trailing>-)?(?P<close>\))?", re.ASCII)
_GROUPS = re.compile(r"\d{1,3}(?:[. ,']\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}|\d+", re.ASCII)  # the second is Indian


@dataclass(frozen=True, slots=True)
class Written:
    """An amount before the decimal mark is known: sign, digits with separators, and currency ("" for none)."""

    negative: bool
    body: str
    currency: str
    value: Decimal | None = None  # where nothing is open: a JSON number, or 1.2E+06


def currency(text: str) -> str | None:
    """The currency that a sign or a three-letter code names: "EUR" for € and eur, "$" for $; None if it is neither."""
    if text in SIGNS:
        return SIGNS[text][0] if len(SIGNS[text]) == 1 else text
    return text.upper() if re.fullmatch(r"[A-Za-z]{3}", text) else None


def same_currency(one: str, other: str) -> str | None:
    """The more telling of two names when both may mean one currency ($ and USD: USD), else None."""
    if one == other or other in SIGNS.get(one, ()):
        return other
    return one if one in SIGNS.get(other, ()) else None


def take_apart(text: str) -> Written | None:
    """Sign, digits and currency of a cell; None when it isn't an amount."""
    text = unicodedata.normalize("NFKC", text).strip()
    text = text.replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", "-").replace("’", "'")
    if _SCIENTIFIC.fullmatch(text):
        return Written(False, "", "", Decimal(text))
    named = ""
    if words := _NOT_NUMERIC.findall(text):
        found = currency(words[0])
        edges = text.strip("()+- ")
        if len(words) > 1 or found is None or not (edges.startswith(words[0]) or edges.endswith(words[0])):
            return None
        named = found
        text = text.replace(words[0], "")
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"(?<=[-+(]) | (?=[-)])", "", text)
    shape = _SHAPE.fullmatch(text)
    if shape is None or bool(shape["open"]) != bool(shape["close"]):
        return None
    minuses = [bool(shape["open"]), shape["sign"] == "-", bool(shape["trailing"])]
    if sum(minuses) > 1:
        return None
    return Written(any(minuses), shape["body"], named)


def decimal_mark(body: str) -> str | None:
    """The decimal mark that an amount shows, "." or ","; None when it shows none, as 1234 and 1,234 do."""
    marks = [c for c in body if c in ".,"]
    if not marks:
        return None
    last = marks[-1]
    if len(set(marks)) == 2:
        return last
    if len(marks) > 1:
        return "," if last == "." else "."
    before, after = body.split(last)
    grouped = len(after) == 3 and len(before) <= 3 and before != "0"
    return None if grouped else last


def lone_separator(written: Written) -> bool:
    """True for 1,234 and 1.234, which mean a thousand to some and one to others."""
    return any(c in written.body for c in ".,") and decimal_mark(written.body) is None


def read(written: Written, mark: str) -> Decimal | None:
    """The exact value; None when the digits aren't grouped as amounts are, or there are too many of them."""
    value = written.value
    if value is None:
        whole, _, places = written.body.partition(mark)
        separators = {c for c in whole if not c.isdigit()}
        if len(separators) > 1 or not _GROUPS.fullmatch(whole) or (places and not places.isdigit()):
            return None
        digits = "".join(c for c in whole if c.isdigit())
        value = Decimal(f"{digits}.{places}" if places else digits)
        value = -value if written.negative else value
    if not fits(value):
        return None
    return Decimal(int(value)) if value.as_tuple().exponent > 0 else value  # type: ignore[operator]  # it is finite


def fits(value: Decimal) -> bool:
    """Finite, and within the digits and places that are kept exactly."""
    if not value.is_finite():
        return False
    if not value:
        return True
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # noqa: S101 - it is finite
    highest = value.adjusted()
    return highest < DIGITS_AT_MOST and -exponent <= PLACES_AT_MOST and highest - exponent < DIGITS_AT_MOST
