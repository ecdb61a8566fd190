"""Given figures, then the report says them in Markdown, and a name has no meaning of its own there."""

from __future__ import annotations

from agent import figures, markdown, statement, table

N = "\N{NO-BREAK SPACE}"


def report(*rows: str, entity: str = "A") -> str:
    header = "entity;period;revenue;cost_of_goods_sold;operating_cash_flow;currency"
    found = statement.read(table.from_csv("\n".join([header, *(f"{entity};{row}" for row in rows)])))
    ((name, lines),) = found.entities.items()
    return "".join(markdown.sections(figures.compute(name, lines)))


def test_the_report_of_two_years_reads_like_this() -> None:
    assert report("2023;1200.50;900;-40;EUR", "2024;1500;1050;60;EUR") == (
        "# A, 2023 to 2024\n\n"
        f"Revenue in 2024 was EUR{N}1,500.00, up 24.95{N}% on 2023. The gross margin was 30.00{N}%, up 4.97 points. "
        f"Operating cash flow was EUR{N}60.00, up EUR{N}100.00.\n\n"
        "## Figures\n\n"
        "| Period | Revenue (EUR) | Change | Gross margin | Change | Operating cash flow (EUR) | Change |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        f"| 2023 | 1,200.50 | – | 25.03{N}% | – | −40.00 | – |\n"
        f"| 2024 | 1,500.00 | +24.95{N}% | 30.00{N}% | +4.97{N}pp | 60.00 | – |\n\n"
        "## What stands out\n\n"
        f"- Highest revenue: EUR{N}1,500.00 in 2024.\n"
        f"- The gross margin ran from 25.03{N}% in 2023 to 30.00{N}% in 2024.\n"
        "- Operating cash flow was negative in 2023.\n"
        f"- Operating cash flow over the 2 periods: EUR{N}20.00 in all.\n\n"
        "Gross margin is revenue less cost of goods sold, divided by revenue. Changes are against the period before, "
        "in percent, and in percentage points (pp) for the margin. Amounts are exact; ratios are rounded half away "
        "from zero. – stands where a ratio says nothing.\n"
    )


def test_one_period_has_no_change_and_nothing_that_stands_out() -> None:
    said = report("2024;0;0;5;")
    assert said.startswith(
        "# A, 2024\n\nRevenue in 2024 was 0. There is no gross margin, because there was no revenue. "
        "Operating cash flow was 5.\n\n"
    )
    assert "| 2024 | 0 | – | – | – | 5 | – |" in said
    assert "What stands out" not in said


def test_what_did_not_move_is_unchanged() -> None:
    assert "Revenue in 2024 was 5, unchanged on 2023. " in report("2023;5;1;5;", "2024;5;1;5;")


def test_markup_in_a_name_stays_text() -> None:
    assert report("2024;1;1;1;", entity="*A* | [x](y) <b>").startswith(r"# \*A\* \| \[x\](y) \<b\>, 2024")
