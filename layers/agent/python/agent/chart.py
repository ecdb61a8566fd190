"""The figures as an SVG chart: revenue and operating cash flow as bars, and the gross margin as a line below them.

Two panels that share the periods, rather than two scales on one: nobody has to guess which axis a mark belongs to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from xml.sax.saxutils import escape

from agent import words
from agent.figures import Figures

FILE = "chart.svg"

WIDTH, HEIGHT = 800, 480
LEFT, RIGHT = 76, 24
BARS = (96, 300)  # top and bottom of the upper panel
LINE = (350, 432)
CHARACTER = 6.6  # width of one in an axis label, about

INK, QUIET, GRID = "#1f2933", "#5f6c7b", "#e4e7eb"
REVENUE, CASH, MARGIN = "#2b6cb0", "#dd9a24", "#2f855a"

_SCALES = ((Decimal(10) ** 9, "billion"), (Decimal(10) ** 6, "million"), (Decimal(10) ** 4, "thousand"))


@dataclass(frozen=True, slots=True)
class Axis:
    """A vertical scale: ticks from bottom to top, and the panel's place on the page."""

    ticks: Sequence[Decimal]
    top: int
    bottom: int

    def y(self, value: Decimal) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        return self.bottom - float((value - low) / (high - low)) * (self.bottom - self.top)


def svg(figures: Figures) -> str:
    """A chart of at most a few hundred periods, as an SVG document that stands alone: no script, no link, no font."""
    return "\n".join(_elements(figures)) + "\n"


def ticks(low: Decimal, high: Decimal, about: int = 5) -> list[Decimal]:
    """Round numbers from low or less to high or more, in even steps of 1, 2, 2.5 or 5 times a power of ten."""
    if low == high:
        pad = abs(low) / 10 or Decimal(1)
        low, high = low - pad, high + pad
    rough = (high - low) / about
    power = Decimal(1).scaleb(rough.adjusted())
    step = next(m * power for m in map(Decimal, ("1", "2", "2.5", "5", "10")) if m * power >= rough)
    first = (low / step).to_integral_value(ROUND_FLOOR)
    last = (high / step).to_integral_value(ROUND_CEILING)
    return [step * n for n in range(int(first), int(last) + 1)]


def _elements(figures: Figures) -> Iterator[str]:
    periods = figures.periods
    name = words.shortened(figures.entity, 64)
    unit = next(((size, word) for size, word in _SCALES if _largest(figures) >= size), (Decimal(1), ""))
    span = periods[0].period if len(periods) == 1 else f"{periods[0].period} to {periods[-1].period}"
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'role="img" aria-labelledby="title desc" font-family="system-ui, -apple-system, \'Segoe UI\', Roboto, '
        'Helvetica, Arial, \'DejaVu Sans\', sans-serif" font-size="12">'
    )
    yield f'<title id="title">{escape(figures.entity)}: revenue, operating cash flow and gross margin</title>'
    yield f'<desc id="desc">{escape(span)}: bars of revenue and operating cash flow, a line of the gross margin.</desc>'
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    yield _text(24, 34, name, size=18, weight=600)
    yield _text(24, 56, span, fill=QUIET)
    yield from _bars(figures, *unit)
    yield from _line(figures)
    yield from _labels([period.period for period in periods])
    yield "</svg>"


def _bars(figures: Figures, scale: Decimal, word: str) -> Iterator[str]:
    series = (
        (REVENUE, "Revenue", [period.revenue for period in figures.periods]),
        (CASH, "Operating cash flow", [period.operating_cash_flow for period in figures.periods]),
    )
    every = [value / scale for _, _, values in series for value in values]
    axis = Axis(ticks(min(*every, Decimal(0)), max(*every, Decimal(0))), *BARS)
    yield _text(24, 82, " ".join(part for part in (figures.currency, word) if part), fill=QUIET, size=11)
    x = WIDTH - RIGHT
    for colour, label, _ in reversed(series):
        x -= int(len(label) * CHARACTER) + 2
        yield _text(x, 82, label)
        yield f'<rect x="{x - 16}" y="72" width="11" height="11" rx="2" fill="{colour}"/>'
        x -= 34
    yield from _grid(axis, _number(axis.ticks))
    slot = (WIDTH - LEFT - RIGHT) / len(figures.periods)
    width = min(slot * 0.36, 40)
    zero = axis.y(Decimal(0))
    for place, (colour, label, values) in enumerate(series):
        for index, value in enumerate(values):
            x_bar = LEFT + slot * (index + 0.5) + (place - 1) * width
            y = axis.y(value / scale)
            height = abs(y - zero)
            told = f"{figures.periods[index].period}, {label.lower()}: {words.money(value, figures.currency)}"
            yield (
                f'<rect x="{x_bar:.1f}" y="{min(y, zero):.1f}" width="{max(width - 1, 0.5):.1f}" height="{height:.1f}" '
                f'fill="{colour}"><title>{escape(told)}</title></rect>'
            )
    yield f'<line x1="{LEFT}" y1="{zero:.1f}" x2="{WIDTH - RIGHT}" y2="{zero:.1f}" stroke="{QUIET}"/>'


def _line(figures: Figures) -> Iterator[str]:
    yield _text(24, LINE[0] - 16, "Gross margin, %", fill=QUIET, size=11)
    known = [(i, p.gross_margin.scaleb(2)) for i, p in enumerate(figures.periods) if p.gross_margin is not None]
    if not known:
        yield _text(WIDTH // 2, sum(LINE) // 2, "no margin: there was no revenue", fill=QUIET, anchor="middle")
        return
    values = [value for _, value in known]
    axis = Axis(ticks(min(values), max(values), about=3), *LINE)
    yield from _grid(axis, _number(axis.ticks))
    slot = (WIDTH - LEFT - RIGHT) / len(figures.periods)
    points = {index: (LEFT + slot * (index + 0.5), axis.y(value)) for index, value in known}
    for run in _runs(sorted(points)):
        path = " ".join(f"{points[i][0]:.1f},{points[i][1]:.1f}" for i in run)
        yield f'<polyline points="{path}" fill="none" stroke="{MARGIN}" stroke-width="2" stroke-linejoin="round"/>'
    few = slot >= 44
    for index, value in known:
        x, y = points[index]
        told = f"{figures.periods[index].period}, gross margin: {words.percent(value)}"
        yield (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{3.5 if few else 1.5}" fill="{MARGIN}"><title>{escape(told)}</title>'
            "</circle>"
        )
        if few:
            yield _text(
                x, y - 8, f"{value:.1f}".replace("-", words.MINUS), fill=MARGIN, size=11, anchor="middle", halo=True
            )


def _runs(indexes: Sequence[int]) -> Iterator[list[int]]:
    """Neighbours together: a line must not cross a period that has no margin."""
    run: list[int] = []
    for index in indexes:
        if run and index != run[-1] + 1:
            yield run
            run = []
        run.append(index)
    yield run


def _grid(axis: Axis, number: Callable[[Decimal], str]) -> Iterator[str]:
    for tick in axis.ticks:
        y = axis.y(tick)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{GRID}"/>'
        yield _text(LEFT - 10, y + 4, number(tick), fill=QUIET, anchor="end")


def _number(axis_ticks: Sequence[Decimal]) -> Callable[[Decimal], str]:
    step = (axis_ticks[1] - axis_ticks[0]).normalize()
    places = words.decimals([step])
    return lambda tick: (words.MINUS if tick < 0 else "") + f"{abs(tick):,.{places}f}"


def _labels(labels: Sequence[str]) -> Iterator[str]:
    """The periods below both panels; when they don't all fit, every second, third, …, counted from the last one."""
    slot = (WIDTH - LEFT - RIGHT) / len(labels)
    every = math.ceil((max(map(len, labels)) * CHARACTER + 8) / slot)
    for index, label in enumerate(labels):
        if (len(labels) - 1 - index) % every == 0:
            yield _text(LEFT + slot * (index + 0.5), LINE[1] + 24, label, fill=QUIET, anchor="middle")


def _text(
    x: float,
    y: float,
    content: str,
    *,
    fill: str = INK,
    size: int = 12,
    weight: int = 400,
    anchor: str = "start",
    halo: bool = False,
) -> str:
    look = ' stroke="#ffffff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}"{look}>{escape(content)}</text>'
    )


def _largest(figures: Figures) -> Decimal:
    return max(abs(amount) for p in figures.periods for amount in (p.revenue, p.operating_cash_flow))
