"""From a statement's lines to figures: margins, and the change against the period before.

Amounts are exact. ``grossMargin`` is a ratio, (revenue - cost of goods sold) / revenue, rounded to 4 places;
percentages and percentage points are rounded to 2; all rounding is half away from zero, as spreadsheets do it. Points
are computed from unrounded margins. A margin needs a revenue above zero and a percentage an amount above zero in the
period before; otherwise they are null, because a ratio to nothing or to a loss says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from agent import amounts
from agent.periods import PARTS_OF_YEAR
from agent.statement import Line

MARGIN_PLACES = 4
PERCENT_PLACES = 2
ROUNDING = "grossMargin to 4 places, percent and points to 2, half away from zero; amounts are exact"

# Enough for exact sums and for quotients that are rounded once: amounts have 15 digits at most.
_EXACT = Context(prec=60, rounding=ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Change:
    """Against the period ``since``; None where a ratio says nothing."""

    since: str
    revenue: Decimal
    revenue_percent: Decimal | None
    gross_margin_points: Decimal | None
    operating_cash_flow: Decimal
    operating_cash_flow_percent: Decimal | None


@dataclass(frozen=True, slots=True)
class PeriodFigures:
    """One period; ``change`` is None for the oldest one."""

    period: str
    revenue: Decimal
    cost_of_goods_sold: Decimal
    gross_profit: Decimal
    gross_margin: Decimal | None
    operating_cash_flow: Decimal
    change: Change | None


@dataclass(frozen=True, slots=True)
class Figures:
    """One entity, oldest period first; ``currency`` is "" when none is named; ``notes`` are sentences to read."""

    entity: str
    currency: str
    periods: Sequence[PeriodFigures]
    notes: Sequence[str]


def compute(entity: str, lines: Sequence[Line], last: int | None = None) -> Figures:
    """The figures of an entity's lines (oldest first), all of them or the ``last`` ones.

    The oldest period that is shown still has its change against the one before it, where the statement has that one.
    """
    notes = []
    costs = [line.cost_of_goods_sold for line in lines]
    costs_negative = max(costs) <= 0 and min(costs) < 0
    if costs_negative:
        notes.append("The file gives costs as negative amounts; they are read as costs.")
    sign = -1 if costs_negative else 1
    begin = 0 if last is None else max(0, len(lines) - last)
    periods = []
    for index in range(begin, len(lines)):
        before = lines[index - 1] if index else None
        periods.append(_period(lines[index], before, sign))
        if before is not None and _gap(before, lines[index]):
            notes.append(
                f"The file has nothing between {before.period.label} and {lines[index].period.label}: "
                "the change there is against the last period it has."
            )
    return Figures(entity, _currency(lines), tuple(periods), tuple(notes))


def as_json(figures: Figures) -> dict[str, Any]:
    """The figures as a data part's value; its numbers are Decimals, to be written with exactly their digits."""
    return {
        "entity": figures.entity,
        "currency": figures.currency or None,
        "periods": [_as_json(period) for period in figures.periods],
        "rounding": ROUNDING,
        "notes": list(figures.notes),
    }


def _as_json(period: PeriodFigures) -> dict[str, Any]:
    change = period.change
    return {
        "period": period.period,
        "revenue": period.revenue,
        "costOfGoodsSold": period.cost_of_goods_sold,
        "grossProfit": period.gross_profit,
        "grossMargin": period.gross_margin,
        "operatingCashFlow": period.operating_cash_flow,
        "change": change
        and {
            "since": change.since,
            "revenue": {"amount": change.revenue, "percent": change.revenue_percent},
            "grossMargin": {"points": change.gross_margin_points},
            "operatingCashFlow": {
                "amount": change.operating_cash_flow,
                "percent": change.operating_cash_flow_percent,
            },
        },
    }


def _period(line: Line, before: Line | None, sign: int) -> PeriodFigures:
    margin = _margin(line, sign)
    cost = line.cost_of_goods_sold * sign
    return PeriodFigures(
        period=line.period.label,
        revenue=line.revenue,
        cost_of_goods_sold=cost,
        gross_profit=_EXACT.subtract(line.revenue, cost),
        gross_margin=None if margin is None else _rounded(margin, MARGIN_PLACES),
        operating_cash_flow=line.operating_cash_flow,
        change=None if before is None else _change(line, before, sign),
    )


def _change(line: Line, before: Line, sign: int) -> Change:
    margin, margin_before = _margin(line, sign), _margin(before, sign)
    points = None
    if margin is not None and margin_before is not None:
        points = _rounded(_EXACT.multiply(_EXACT.subtract(margin, margin_before), Decimal(100)), PERCENT_PLACES)
    return Change(
        since=before.period.label,
        revenue=_EXACT.subtract(line.revenue, before.revenue),
        revenue_percent=_percent(line.revenue, before.revenue),
        gross_margin_points=points,
        operating_cash_flow=_EXACT.subtract(line.operating_cash_flow, before.operating_cash_flow),
        operating_cash_flow_percent=_percent(line.operating_cash_flow, before.operating_cash_flow),
    )


def _margin(line: Line, sign: int) -> Decimal | None:
    if line.revenue <= 0:
        return None
    return _EXACT.divide(_EXACT.subtract(line.revenue, line.cost_of_goods_sold * sign), line.revenue)


def _percent(amount: Decimal, before: Decimal) -> Decimal | None:
    if before <= 0:
        return None
    hundredfold = _EXACT.multiply(_EXACT.subtract(amount, before), Decimal(100))
    return _rounded(_EXACT.divide(hundredfold, before), PERCENT_PLACES)


def _rounded(value: Decimal, places: int) -> Decimal:
    rounded = value.quantize(Decimal(1).scaleb(-places), context=_EXACT)
    return abs(rounded) if rounded == 0 else rounded  # no -0.00


def _gap(before: Line, line: Line) -> bool:
    return line.period.kind in PARTS_OF_YEAR and line.period.place != before.period.place + 1


def _currency(lines: Sequence[Line]) -> str:
    currency = ""
    for line in lines:
        currency = (amounts.same_currency(currency, line.currency) if currency and line.currency else None) or (
            currency or line.currency
        )
    return currency
