"""Given an entity's lines, then its figures are those that were computed by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agent import figures, statement, table


def compute(*rows: str, last: int | None = None) -> figures.Figures:
    header = "entity,period,revenue,cost_of_goods_sold,operating_cash_flow"
    found = statement.read(table.from_csv("\n".join([header, *(f"A,{row}" for row in rows)])))
    return figures.compute("A", found.entities["A"], last)


def as_json(*rows: str) -> list[dict[str, Any]]:
    periods: list[dict[str, Any]] = figures.as_json(compute(*rows))["periods"]
    return periods


def test_margin_and_changes_are_exact_or_rounded_as_documented() -> None:
    # margins 60/200 = 0.3 and 75.5/250.5 = 0.301397…; revenue +50.5/200 = 25.25 %; cash -13/40 = -32.5 %
    assert as_json("2023,200.00,140,40", "2024,250.50,175,27") == [
        {
            "period": "2023",
            "revenue": Decimal("200.00"),
            "costOfGoodsSold": Decimal(140),
            "grossProfit": Decimal("60.00"),
            "grossMargin": Decimal("0.3000"),
            "operatingCashFlow": Decimal(40),
            "change": None,
        },
        {
            "period": "2024",
            "revenue": Decimal("250.50"),
            "costOfGoodsSold": Decimal(175),
            "grossProfit": Decimal("75.50"),
            "grossMargin": Decimal("0.3014"),
            "operatingCashFlow": Decimal(27),
            "change": {
                "since": "2023",
                "revenue": {"amount": Decimal("50.50"), "percent": Decimal("25.25")},
                "grossMargin": {"points": Decimal("0.14")},
                "operatingCashFlow": {"amount": Decimal(-13), "percent": Decimal("-32.50")},
            },
        },
    ]


@pytest.mark.parametrize(
    ("revenue", "percent"),
    [
        ("80001", "0.00"),  # 0.00125 %
        ("80004", "0.01"),  # 0.005 %: half goes away from zero
        ("79996", "-0.01"),  # -0.005 %
        ("80012", "0.02"),  # 0.015 %; to even it would be 0.02, binary floats make 0.01 of it
        ("79999", "0.00"),  # and never -0.00
    ],
)
def test_halves_are_rounded_away_from_zero(revenue: str, percent: str) -> None:
    change = compute("2023,80000,0,0", f"2024,{revenue},0,0").periods[1].change
    assert change is not None
    assert str(change.revenue_percent) == percent


def test_points_come_from_unrounded_margins() -> None:
    # 1/3 and 2/3: 33.333… points, where the rounded margins 0.3333 and 0.6667 would give 33.34
    change = compute("2023,3,2,0", "2024,3,1,0").periods[1].change
    assert change is not None
    assert change.gross_margin_points == Decimal("33.33")


@pytest.mark.parametrize("revenue", ["0", "-5"])
def test_without_revenue_there_is_no_margin(revenue: str) -> None:
    first, second = compute(f"2023,{revenue},1,1", "2024,10,5,1").periods
    assert first.gross_margin is None
    assert second.change is not None
    assert second.change.gross_margin_points is None
    assert second.change.revenue_percent is None


def test_against_a_loss_there_is_an_amount_and_no_percentage() -> None:
    change = compute("2023,10,5,-4", "2024,10,5,6").periods[1].change
    assert change is not None
    assert change.operating_cash_flow == Decimal(10)
    assert change.operating_cash_flow_percent is None


def test_the_last_periods_keep_the_change_against_the_one_before_them() -> None:
    found = compute("2022,100,50,1", "2023,110,50,1", "2024,121,50,1", last=2)
    assert [period.period for period in found.periods] == ["2023", "2024"]
    change = found.periods[0].change
    assert change is not None
    assert (change.since, change.revenue_percent) == ("2022", Decimal("10.00"))


def test_a_gap_between_periods_is_told() -> None:
    found = compute("2023-Q1,100,50,1", "2023-Q3,110,50,1", "2023-Q4,110,50,1")
    assert found.notes == (
        "The file has nothing between 2023-Q1 and 2023-Q3: the change there is against the last period it has.",
    )


def test_costs_that_are_all_negative_are_read_as_costs_and_told() -> None:
    found = compute("2023,100,(60),1", "2024,100,-55,1")
    assert [period.gross_margin for period in found.periods] == [Decimal("0.4000"), Decimal("0.4500")]
    assert found.notes == ("The file gives costs as negative amounts; they are read as costs.",)


def test_the_largest_amounts_are_subtracted_exactly() -> None:
    found = compute("2023,999999999999999,0.000001,1", "2024,-999999999999999,1,1")
    assert found.periods[0].gross_profit == Decimal("999999999999998.999999")
    assert found.periods[1].change is not None
    assert found.periods[1].change.revenue == Decimal(-1999999999999998)
