"""Given a table, then its lines are checked and in order, or a fault names the row and the column."""

from __future__ import annotations

from decimal import Decimal

import pytest

from agent import statement, table
from agent.fault import Fault

HEADER = "entity,period,revenue,cost_of_goods_sold,operating_cash_flow,currency"


def read(*rows: str, header: str = HEADER) -> statement.Statement:
    return statement.read(table.from_csv("\n".join([header, *rows])))


def fault_of(*rows: str, header: str = HEADER) -> str:
    with pytest.raises(Fault) as caught:
        read(*rows, header=header)
    return str(caught.value)


def test_lines_are_in_the_order_of_their_periods() -> None:
    found = read("A,2024-Q1,3,1,1,EUR", "A,2023-Q4,2,1,1,EUR", "B,2024,1,1,1,", "A,Q3 2023,1,1,1,EUR")
    assert {name: [line.period.label for line in lines] for name, lines in found.entities.items()} == {
        "A": ["Q3 2023", "2023-Q4", "2024-Q1"],
        "B": ["2024"],
    }
    assert found.rows == 4


def test_an_entity_is_one_however_it_is_spaced_and_capitalised() -> None:
    assert list(read("Acme  Ltd,2023,1,1,1,", "ACME ltd,2024,1,1,1,").entities) == ["Acme Ltd"]


def test_the_decimal_mark_of_the_file_decides_what_is_open_in_a_cell() -> None:
    found = read("A;2023;1.234;1,5;0;", "A;2024;1.234.567;0;0;", header=HEADER.replace(",", ";"))
    assert [line.revenue for line in found.entities["A"]] == [Decimal(1234), Decimal(1234567)]


def test_quoted_thousands_in_a_comma_separated_file_are_thousands() -> None:
    assert read('A,2024,"1,234",0,0,').entities["A"][0].revenue == Decimal(1234)


def test_the_currency_may_stand_in_column_cell_or_header() -> None:
    assert read("A,2024,1,1,1,eur").entities["A"][0].currency == "EUR"
    assert read("A,2024,$1,1,1,USD").entities["A"][0].currency == "USD"
    assert read("A,2024,£1,1,1,").entities["A"][0].currency == "GBP"
    header = HEADER.replace("revenue", "Revenue (NOK)")
    assert read("A,2024,1,1,1,", header=header).entities["A"][0].currency == "NOK"


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (["A,2024,1,2,3,", "A,2025,1,,3,"], "Row 3, column cost_of_goods_sold: it is empty."),
        ([",2024,1,2,3,"], "Row 2, column entity: it is empty."),
        (
            ["A,2024,1,2,3,", "", "A,2025,abc,2,3,"],
            "Row 4, column revenue: “abc” isn't an amount; write it like 1234.50, with 15 digits at most.",
        ),
        (
            ["A,2024,1,2,12%,"],
            "Row 2, column operating_cash_flow: “12%” isn't an amount; write it like 1234.50, with 15 digits at most.",
        ),
        (
            ["A,Q5,1,2,3,"],
            "Row 2, column period: “Q5” isn't a period; write it as 2024, 2024-H1, 2024-Q1, 2024-03 or 2024-03-31.",
        ),
        (["A,2024,1,2,3,", "a,FY2024,1,2,3,"], "Row 3, column period: “A” has “FY2024” in row 2 already."),
        (
            ["A,2024,1,2,3,", "A,2024-Q1,1,2,3,"],
            "Row 3, column period: “2024-Q1” is a quarter where row 2 has a year; give “A” periods of one kind.",
        ),
        (
            ["A,2024,1,2,3,euros"],
            "Row 2, column currency: “euros” isn't a currency; write its three letters, like EUR.",
        ),
        (["A,2024,€1,2,3,USD"], "Row 2, column revenue: it is in EUR where the row is in USD."),
        (
            ["A,2023,1,2,3,USD", "A,2024,1,2,3,EUR"],
            "Row 3, column currency: “A” is in EUR here and in USD above; give it in one currency.",
        ),
        (
            ["A,2023,1.5,2,3,", 'A,2024,"1,5",2,3,'],
            "Row 3, column revenue: the decimal mark is “,” here and “.” in row 2; use one of them.",
        ),
        ([f"{'A' * 121},2024,1,2,3,"], "Row 2, column entity: a name has 120 characters at most."),
    ],
)
def test_a_fault_names_the_row_and_the_column(rows: list[str], fault: str) -> None:
    assert fault_of(*rows) == fault


def test_a_fault_calls_the_column_what_the_file_calls_it() -> None:
    header = "Company,Year,Net Sales,COGS,OCF"
    assert fault_of("A,2024,1,x,3", header=header) == (
        "Row 2, column COGS: “x” isn't an amount; write it like 1234.50, with 15 digits at most."
    )


def test_a_lone_separator_is_refused_where_it_may_be_either() -> None:
    assert fault_of("A;2024;1.234;2;3;", header=HEADER.replace(",", ";")) == (
        "Row 2, column revenue: “1.234” may be a thousand or a fraction, and no other cell tells; write 1234 or "
        "1234.00."
    )


def test_a_unit_of_thousands_is_refused_rather_than_lost() -> None:
    assert fault_of("A,2024,1,2,3,", header=HEADER.replace("revenue", "revenue (EUR thousand)")) == (
        "Row 2, column revenue (EUR thousand): the unit “EUR thousand” in the header isn't a currency; "
        "give full amounts, in a unit like EUR or none."
    )


def test_a_cell_is_shown_printable_and_short() -> None:
    assert fault_of(f"A,2024,\x1b[31m{'9' * 100},2,3,").startswith(
        "Row 2, column revenue: “\N{REPLACEMENT CHARACTER}[31m9999999999999999999999999999999999…” isn't an amount"
    )


def test_a_thousand_periods_are_read_and_one_more_is_a_fault() -> None:
    months = [f"A,{2000 + n // 12}-{n % 12 + 1:02},1,1,1," for n in range(1_001)]
    assert len(read(*months[:1_000]).entities["A"]) == 1_000
    assert fault_of(*months) == "Row 1002, column period: “A” has more than 1,000 periods; send fewer."
