"""How the agent writes numbers and names for people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

MINUS = "\N{MINUS SIGN}"
SPACE = "\N{NO-BREAK SPACE}"
NONE = "–"


def amount(value: Decimal, places: int = 0, *, signed: bool = False) -> str:
    """An amount in full, with at least ``places``: 1,284,500 or −3,200.50; with a plus where it is signed."""
    places = max(places, decimals([value]))
    return _sign(value, signed) + f"{abs(value):,.{places}f}"


def money(value: Decimal, currency: str, places: int = 0) -> str:
    """An amount with its currency, where one is known: EUR 1,284,500."""
    return f"{currency}{SPACE}{amount(value, places)}" if currency else amount(value, places)


def percent(value: Decimal | None, *, signed: bool = False) -> str:
    """4.21 %, or a dash where there is none."""
    return NONE if value is None else f"{_sign(value, signed)}{abs(value):,}{SPACE}%"


def points(value: Decimal | None) -> str:
    """+0.52 pp, or a dash where there is none."""
    return NONE if value is None else f"{_sign(value, True)}{abs(value):,}{SPACE}pp"


def margin(ratio: Decimal | None) -> str:
    """A ratio as a percentage: 0.4312 is 43.12 %."""
    return NONE if ratio is None else percent(ratio.scaleb(2))


def _sign(value: Decimal, signed: bool) -> str:
    if value < 0:
        return MINUS
    return "+" if signed and value > 0 else ""


def decimals(values: Sequence[Decimal]) -> int:
    """The most decimal places that any of the values is written with."""
    exponents = [value.as_tuple().exponent for value in values]
    return max((-e for e in exponents if isinstance(e, int) and e < 0), default=0)


def counted(number: int, one: str, more: str = "") -> str:
    """ "1 row", "2 rows"; ``more`` where an s doesn't do it."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def shortened(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"


def escaped(text: str) -> str:
    """A name in Markdown, without a meaning of its own there."""
    return re.sub(r"([\\`*_{}\[\]<>#|~!&])", r"\\\1", text)
