"""Given CSV text or JSON rows, then there is a table, or a fault that says where."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from agent import table
from agent.fault import Fault

HEADER = "entity,period,revenue,cost_of_goods_sold,operating_cash_flow"


def fault_of(text: str) -> str:
    with pytest.raises(Fault) as caught:
        table.from_csv(text)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}\nA,2024,1,2,3",
        f"\N{ZERO WIDTH NO-BREAK SPACE}{HEADER}\r\nA,2024,1,2,3\r\n",
        " Entity ; PERIOD;Revenue;Cost of Goods Sold;Operating Cash-Flow\nA;2024;1;2;3",
        "Company\tQuarter\tNet sales\tCOGS\tOCF\nA\t2024\t1\t2\t3",
        'entity,period,"revenue","cost_of_goods_sold",operating_cash_flow,,\n"A",2024,1,2,"3",,\n',
        "Revenue (EUR),entity,period,cost of sales [EUR],notes,cash flow from operations\n1,A,2024,2,hi,3",
        f"Statement of A\n\n{HEADER}\nA,2024,1,2,3",
    ],
)
def test_a_table_is_found_whatever_its_dress(text: str) -> None:
    found = table.from_csv(text)
    assert len(found.rows) == 1
    _, cells = found.rows[0]
    values = [str(cells[found.columns[name].index]).strip() for name in table.REQUIRED]
    assert values == ["A", "2024", "1", "2", "3"]


def test_rows_are_counted_as_a_spreadsheet_counts_them() -> None:
    found = table.from_csv(f'{HEADER}\n\n"A\nB",2024,1,2,3\n   \nC,2024,1,2,3\n')
    assert [number for number, _ in found.rows] == [3, 5]


def test_a_missing_column_is_named_with_those_that_are_there() -> None:
    assert fault_of("entity,period,revenue\nA,2024,1") == (
        "Row 1, column cost_of_goods_sold: it is missing; the header has “entity”, “period”, “revenue”."
    )


def test_a_column_that_is_there_twice_is_a_fault() -> None:
    assert fault_of(f"{HEADER},Sales\nA,2024,1,2,3,4") == (
        "Row 1, column revenue: it is there twice, as “revenue” and “Sales”."
    )


def test_a_file_without_a_header_is_a_fault() -> None:
    assert fault_of("\nA,2024,1,2,3") == (
        "Row 2: there is no header; name the columns entity, period, revenue, cost_of_goods_sold, operating_cash_flow."
    )


@pytest.mark.parametrize("text", [HEADER, f"{HEADER}\n\n  \n"])
def test_a_header_alone_is_a_fault(text: str) -> None:
    assert fault_of(text) == "There are no rows below the header."


def test_a_short_row_is_a_fault_at_the_first_column_it_lacks() -> None:
    assert fault_of(f"{HEADER}\nA,2024,1,2,3\nB,2024,1") == (
        "Row 3, column cost_of_goods_sold: the row ends before it, with 3 of 5 cells."
    )


def test_unquoted_thousands_separators_are_a_fault_that_says_so() -> None:
    assert fault_of(f"{HEADER}\nA,2024,1,200,2,3") == (
        "Row 2, column 6: the row has 6 cells where the header has 5; "
        "put quotation marks around amounts with thousands separators."
    )


def test_quotation_marks_that_do_not_match_are_a_fault_of_their_row() -> None:
    assert fault_of(f'{HEADER}\nA,2024,1,2,3\n"B,2024,1,2,3') == (
        "Row 3: the quotation marks don't match; double those inside a quoted cell."
    )


def test_ten_thousand_rows_are_read_and_one_more_is_a_fault() -> None:
    rows = "A,2024,1,2,3\n" * 10_000
    assert len(table.from_csv(f"{HEADER}\n{rows}").rows) == 10_000
    assert fault_of(f"{HEADER}\n{rows}A,2024,1,2,3\n") == (
        "The statement has more rows; 10,000 are the most, so send fewer at once."
    )


def test_a_file_that_is_too_long_is_a_fault() -> None:
    assert fault_of("x" * 4_000_001) == "The file is longer than 4,000,000 characters; send a shorter one."


@pytest.mark.parametrize(
    ("text", "csv_text", "words"),
    [
        (f"{HEADER}\nA,2024,1,2,3\n", f"{HEADER}\nA,2024,1,2,3", ""),
        (
            f"Analyse this, please:\n\n```csv\n{HEADER}\nA,2024,1,2,3\n```\nThank you, all",
            f"{HEADER}\nA,2024,1,2,3\nThank you, all",
            "Analyse this, please:",
        ),
        (
            f"{HEADER}\nA,2024,1,2,3\n\nB,2024,1,2,3\n\nWhat about A, then?",
            f"{HEADER}\nA,2024,1,2,3\n\nB,2024,1,2,3",
            "What about A, then?",
        ),
        (f"Look:\n{HEADER}\nA,2024,1,2,3\nWell?", f"{HEADER}\nA,2024,1,2,3", "Look:\nWell?"),
    ],
)
def test_words_around_a_table_are_told_from_it(text: str, csv_text: str, words: str) -> None:
    assert table.split(text) == (csv_text, words)


@pytest.mark.parametrize("text", ["", "Hello", "Show period, revenue and cost", "entity, period, revenue, cogs, ocf"])
def test_words_alone_hold_no_table(text: str) -> None:
    assert table.split(text) is None


ROW: dict[str, Any] = {
    "entity": "A",
    "period": 2024,
    "revenue": 1.5,
    "cost_of_goods_sold": "2",
    "operating_cash_flow": 3,
}


def test_rows_of_a_data_part_are_a_table() -> None:
    found = table.from_json([ROW])
    assert found.separator == ""
    assert found.rows == [(1, ["A", Decimal(2024), Decimal("1.5"), "2", Decimal(3)])]


def test_arrays_with_a_header_are_a_table() -> None:
    found = table.from_json([list(ROW), list(ROW.values())])
    assert [number for number, _ in found.rows] == [2]


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([ROW, ROW | {"revenue": True}], "Row 2, column revenue: it is neither text nor a number."),
        ([ROW, ROW | {"revenue": [1]}], "Row 2, column revenue: it is neither text nor a number."),
        ([ROW, 5], "Row 2: it isn't an object with the columns as its members."),
        ([], "Row 1: it isn't an object with the columns as its members."),
        ([{"entity": "A"}], "Row 1, column period: it is missing; the header has “entity”."),
        ([ROW] * 10_001, "The statement has 10,001 rows; 10,000 are the most, so send fewer at once."),
    ],
)
def test_rows_that_are_none_are_a_fault(rows: list[Any], fault: str) -> None:
    with pytest.raises(Fault) as caught:
        table.from_json(rows)
    assert str(caught.value) == fault
