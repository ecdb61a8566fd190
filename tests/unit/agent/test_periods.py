"""Given a period as people name it, then its place is known, or it is none."""

from __future__ import annotations

import pytest

from agent import periods


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ("2024", "year", 2024),
        ("FY2024", "year", 2024),
        ("fy 2024", "year", 2024),
        ("H2 2024", "half", 4049),
        ("2024-H1", "half", 4048),
        ("1H2024", "half", 4048),
        ("2024-Q1", "quarter", 8096),
        ("Q4 2023", "quarter", 8095),
        ("q3/2024", "quarter", 8098),
        ("2024Q2", "quarter", 8097),
        ("Q1 FY2024", "quarter", 8096),
        ("2Q2024", "quarter", 8097),
        ("2024-01", "month", 24288),
        ("12/2023", "month", 24287),
        ("Sept. 2024", "month", 24296),
        ("  march   2024 ", "month", 24290),
        ("2024-03-31", "day", 738976),
        ("31.03.2024", "day", 738976),
    ],
)
def test_a_period_has_a_kind_and_a_place(text: str, kind: str, place: int) -> None:
    period = periods.read(text)
    assert period is not None
    assert (period.kind, period.place) == (kind, place)


def test_a_period_keeps_the_label_of_the_file() -> None:
    period = periods.read("  Q1  2024 ")
    assert period is not None
    assert period.label == "Q1 2024"


@pytest.mark.parametrize(
    "text",
    ["", "24", "Q5 2024", "2024-13", "2024-02-30", "03/04/2024", "Smarch 2024", "total", "Q1", "2024-Q1-2"],
)
def test_what_cannot_be_put_in_order_is_no_period(text: str) -> None:
    assert periods.read(text) is None
