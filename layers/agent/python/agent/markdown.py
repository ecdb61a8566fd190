"""The report in Markdown, section by section, so that each can be delivered when it is ready."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from agent import words
from agent.figures import Figures, PeriodFigures


def sections(figures: Figures) -> Iterator[str]:
    """The sections in order; joined as they are they make the document."""
    yield _opening(figures)
    yield _table(figures)
    yield _closing(figures)


def summary(figures: Figures) -> str:
    """The last period in three sentences, without markup."""
    last, change, currency = figures.periods[-1], figures.periods[-1].change, figures.currency
    places = _places(figures)
    revenue = f"Revenue in {last.period} was {words.money(last.revenue, currency, places)}"
    margin = "There is no gross margin, because there was no revenue"
    cash = f"Operating cash flow was {words.money(last.operating_cash_flow, currency, places)}"
    if last.gross_margin is not None:
        margin = f"The gross margin was {words.margin(last.gross_margin)}"
    if change is not None:
        moved = _moved(change.revenue, change.revenue_percent, words.money(abs(change.revenue), currency, places))
        revenue += f"{moved} on {change.since}"
        if change.gross_margin_points is not None:
            margin += _moved(change.gross_margin_points, None, f"{abs(change.gross_margin_points)} points")
        flow = change.operating_cash_flow
        cash += _moved(flow, change.operating_cash_flow_percent, words.money(abs(flow), currency, places))
    return f"{revenue}. {margin}. {cash}."


def _moved(change: Decimal, percent: Decimal | None, amount: str) -> str:
    """ ", up 4.21 %"; by the amount where there is no percentage."""
    if not change:
        return ", unchanged"
    return f", {'up' if change > 0 else 'down'} {amount if percent is None else words.percent(abs(percent))}"


def _opening(figures: Figures) -> str:
    first, last = figures.periods[0].period, figures.periods[-1].period
    span = first if first == last else f"{first} to {last}"
    return f"# {words.escaped(figures.entity)}, {span}\n\n{words.escaped(summary(figures))}\n\n"


def _table(figures: Figures) -> str:
    unit = f" ({figures.currency})" if figures.currency else ""
    places = _places(figures)
    head = ["Period", f"Revenue{unit}", "Change", "Gross margin", "Change", f"Operating cash flow{unit}", "Change"]
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *(_row(period, places) for period in figures.periods)]
    return "## Figures\n\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows) + "\n"


def _row(period: PeriodFigures, places: int) -> list[str]:
    change = period.change
    return [
        period.period,
        words.amount(period.revenue, places),
        words.percent(change.revenue_percent if change else None, signed=True),
        words.margin(period.gross_margin),
        words.points(change.gross_margin_points if change else None),
        words.amount(period.operating_cash_flow, places),
        words.percent(change.operating_cash_flow_percent if change else None, signed=True),
    ]


def _closing(figures: Figures) -> str:
    lines = [*_standing_out(figures), *figures.notes]
    text = "## What stands out\n\n" + "".join(f"- {words.escaped(line)}\n" for line in lines) + "\n" if lines else ""
    return (
        text
        + "Gross margin is revenue less cost of goods sold, divided by revenue. Changes are against the period before, "
        "in percent, and in percentage points (pp) for the margin. Amounts are exact; ratios are rounded half away "
        f"from zero. {words.NONE} stands where a ratio says nothing.\n"
    )


def _standing_out(figures: Figures) -> list[str]:
    periods = figures.periods
    if len(periods) < 2:
        return []
    places = _places(figures)
    best = max(periods, key=lambda period: period.revenue)
    lines = [f"Highest revenue: {words.money(best.revenue, figures.currency, places)} in {best.period}."]
    margins = [(period.gross_margin, period.period) for period in periods if period.gross_margin is not None]
    if len(margins) > 1:
        low, high = min(margins, key=lambda m: m[0]), max(margins, key=lambda m: m[0])
        if low[0] == high[0]:
            lines.append(f"The gross margin was {words.margin(low[0])} throughout.")
        else:
            lines.append(
                f"The gross margin ran from {words.margin(low[0])} in {low[1]} to {words.margin(high[0])} in {high[1]}."
            )
    negative = [period.period for period in periods if period.operating_cash_flow < 0]
    if negative:
        named = ", ".join(negative[:6]) + (f" and {len(negative) - 6} more" if len(negative) > 6 else "")
        lines.append(f"Operating cash flow was negative in {named}.")
    total = sum((period.operating_cash_flow for period in periods), Decimal(0))
    lines.append(
        f"Operating cash flow over the {len(periods)} periods: {words.money(total, figures.currency, places)} in all."
    )
    return lines


def _places(figures: Figures) -> int:
    return words.decimals([amount for p in figures.periods for amount in (p.revenue, p.operating_cash_flow)])
