"""Given figures, then their chart is well-formed SVG whose marks stand where the figures put them."""

from __future__ import annotations

from decimal import Decimal
from xml.etree import ElementTree as ET

import pytest

from agent import chart, figures, statement, table

SVG = "{http://www.w3.org/2000/svg}"


def draw(*rows: str, entity: str = "A") -> ET.Element:
    header = "entity;period;revenue;cost_of_goods_sold;operating_cash_flow"
    found = statement.read(table.from_csv("\n".join([header, *(f"{entity};{row}" for row in rows)])))
    ((name, lines),) = found.entities.items()
    return ET.fromstring(chart.svg(figures.compute(name, lines)))  # noqa: S314 - our own


def bars(root: ET.Element) -> list[tuple[str, float, float]]:
    """Title, top and height of each bar."""
    return [
        (rect[0].text or "", float(rect.attrib["y"]), float(rect.attrib["height"]))
        for rect in root.iter(f"{SVG}rect")
        if len(rect)
    ]


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_bars_are_as_high_as_their_amounts() -> None:
    # the axis runs from -50 to 100 over 204 units: 1.36 a piece, zero at 300 - 50 * 1.36 = 232
    root = draw("2023;100;50;-50", "2024;75;50;25")
    assert bars(root) == [
        ("2023, revenue: 100", 96.0, 136.0),
        ("2024, revenue: 75", 130.0, 102.0),
        ("2023, operating cash flow: −50", 232.0, 68.0),
        ("2024, operating cash flow: 25", 198.0, 34.0),
    ]


def test_large_amounts_are_labelled_in_a_unit_that_is_told() -> None:
    said = texts(draw("2023;EUR 2000000;EUR 1000000;EUR 500000"))
    assert "EUR million" in said
    assert {"0.0", "0.5", "1.0", "1.5", "2.0"} <= set(said)


def test_markup_in_a_name_stays_text() -> None:
    root = draw("2023;1;1;1", entity='<script>alert("&")</script>]]>')
    assert root.find(f".//{SVG}script") is None
    assert '<script>alert("&")</script>]]>' in texts(root)


@pytest.mark.parametrize(("count", "labels"), [(1, 1), (8, 8), (40, 10)])
def test_labels_are_as_many_as_fit_and_the_last_is_among_them(count: int, labels: int) -> None:
    rows = [f"{2000 + n // 4}-Q{n % 4 + 1};{n + 1};1;1" for n in range(count)]
    said = [text for text in texts(draw(*rows)) if "-Q" in text and " to " not in text]
    assert said[-1] == f"{2000 + (count - 1) // 4}-Q{(count - 1) % 4 + 1}"
    assert len(set(said)) == (labels if count > 1 else 1)


def test_the_margin_line_does_not_cross_a_period_without_revenue() -> None:
    root = draw("2021;10;5;1", "2022;10;4;1", "2023;0;0;1", "2024;10;5;1")
    lines = [element.attrib["points"].split() for element in root.iter(f"{SVG}polyline")]
    assert [len(points) for points in lines] == [2, 1]


def test_a_statement_without_revenue_has_a_chart_too() -> None:
    assert "no margin: there was no revenue" in texts(draw("2023;0;0;0"))


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        ("0", "100", ["0", "20", "40", "60", "80", "100"]),
        ("-3", "7", ["-4", "-2", "0", "2", "4", "6", "8"]),
        ("41.8", "48.9", ["40", "42", "44", "46", "48", "50"]),
        ("5", "5", ["4.4", "4.6", "4.8", "5.0", "5.2", "5.4", "5.6"]),
        ("0", "0", ["-1", "-0.5", "0", "0.5", "1"]),
    ],
)
def test_ticks_are_round_and_hold_every_value(low: str, high: str, ticks: list[str]) -> None:
    assert chart.ticks(Decimal(low), Decimal(high)) == [Decimal(tick) for tick in ticks]
