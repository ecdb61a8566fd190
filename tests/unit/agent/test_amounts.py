"""Given an amount as people write it, then its value is exact, or there is none."""

from __future__ import annotations

from decimal import Decimal

import pytest

from agent import amounts


@pytest.mark.parametrize(
    ("text", "mark", "value", "currency"),
    [
        ("1234", ".", "1234", ""),
        ("1,234,567.89", ".", "1234567.89", ""),
        ("1.234.567,89", ",", "1234567.89", ""),
        ("1 234 567,89", ",", "1234567.89", ""),
        ("1\N{NO-BREAK SPACE}234,5", ",", "1234.5", ""),
        ("1\N{NARROW NO-BREAK SPACE}234,5", ",", "1234.5", ""),
        ("1'234.50", ".", "1234.50", ""),
        ("CHF 1’234.50", ".", "1234.50", "CHF"),
        ("12,34,567", ".", "1234567", ""),
        ("(1,234)", ".", "-1234", ""),
        ("( 1,234.5 )", ".", "-1234.5", ""),
        ("€(1,234)", ".", "-1234", "EUR"),
        ("(€1,234)", ".", "-1234", "EUR"),
        ("-5", ".", "-5", ""),
        ("\N{MINUS SIGN} 5", ".", "-5", ""),
        ("5-", ".", "-5", ""),
        ("+7", ".", "7", ""),
        ("-$5.25", ".", "-5.25", "$"),
        ("US$ 1,000", ".", "1000", "USD"),
        ("12 eur", ".", "12", "EUR"),
        ("kr 1 200,5", ",", "1200.5", "kr"),
        ("1.2E+06", ".", "1200000", ""),
        ("0", ".", "0", ""),
        ("0.000001", ".", "0.000001", ""),
        ("999999999999999", ".", "999999999999999", ""),
    ],
)
def test_an_amount_is_read_exactly(text: str, mark: str, value: str, currency: str) -> None:
    written = amounts.take_apart(text)
    assert written is not None
    assert amounts.read(written, mark) == Decimal(value)
    assert written.currency == currency


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "n/a",
        "12%",
        "1.2M",
        "((1))",
        "-(5)",
        "--5",
        "(5",
        "5)",
        "EUR 1 EUR",
        "1 EUR 2",
        "1..2",
        ".5",
        "5.",
        "½",
    ],
)
def test_what_is_no_amount_has_no_value(text: str) -> None:
    written = amounts.take_apart(text)
    assert written is None or amounts.read(written, ".") is None


@pytest.mark.parametrize("text", ["1,2345,678", "1,23", "1 23", "1'23", "1 234,567.8", "12,3456.7"])
def test_digits_that_are_grouped_as_nobody_does_have_no_value(text: str) -> None:
    written = amounts.take_apart(text)
    assert written is not None
    assert amounts.read(written, ".") is None


@pytest.mark.parametrize("text", ["1000000000000000", "0.0000001", "123456789012.3456", "1e99"])
def test_more_digits_than_a_double_keeps_have_no_value(text: str) -> None:
    written = amounts.take_apart(text)
    assert written is not None
    assert amounts.read(written, ".") is None


@pytest.mark.parametrize(
    ("body", "mark"),
    [
        ("1234", None),
        ("1,234", None),
        ("1.234", None),
        ("1.5", "."),
        ("1,50", ","),
        ("0,123", ","),
        ("1234.567", "."),
        ("1,234.5", "."),
        ("1.234,5", ","),
        ("1.234.567", ","),
        ("1,234,567", "."),
    ],
)
def test_the_decimal_mark_is_what_the_digits_show(body: str, mark: str | None) -> None:
    assert amounts.decimal_mark(body) == mark


@pytest.mark.parametrize(
    ("one", "other", "agreed"),
    [
        ("EUR", "EUR", "EUR"),
        ("$", "USD", "USD"),
        ("CAD", "$", "CAD"),
        ("¥", "CNY", "CNY"),
        ("EUR", "USD", None),
        ("$", "EUR", None),
    ],
)
def test_a_sign_agrees_with_the_codes_it_stands_for(one: str, other: str, agreed: str | None) -> None:
    assert amounts.same_currency(one, other) == agreed
