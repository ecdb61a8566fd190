"""What a person reads at 3 a.m.: aligned, in UTC, with its age, and without a secret."""

from __future__ import annotations

import pytest

from fakes.clock import START
from herald.ops.text import address, age, duration, many, moment, safe, size, stamp, table, when

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000


def test_columns_are_as_wide_as_what_stands_in_them() -> None:
    assert table(["A", "STATE"], [["long one", "x"], ["b", ""]]) == ["A         STATE", "long one  x", "b"]
    assert table(["A"], []) == []


@pytest.mark.parametrize(
    ("ms", "told"),
    [
        (0, "0s"),
        (999, "0s"),
        (59 * SECOND, "59s"),
        (60 * SECOND, "1m"),
        (4 * MINUTE + 10 * SECOND, "4m 10s"),
        (2 * HOUR, "2h"),
        (2 * HOUR + 5 * SECOND, "2h"),
        (3 * DAY + 4 * HOUR + 5 * MINUTE, "3d 4h"),
    ],
)
def test_a_duration_has_its_two_largest_units(ms: int, told: str) -> None:
    assert duration(ms) == told


def test_times_are_in_utc_with_their_age() -> None:
    assert moment(START) == "2026-01-01 00:00:00Z"
    assert age(START, START + 3 * MINUTE) == "3m ago"
    assert age(START + HOUR, START) == "in 1h"
    assert when(START, START + 90 * SECOND) == "2026-01-01 00:00:00Z (1m 30s ago)"
    assert (moment(0), age(None, START), when(0, START), stamp(0)) == ("-", "-", "-", None)
    assert stamp(START + 7) == "2026-01-01T00:00:00.007Z"


def test_sizes_and_numbers() -> None:
    assert [size(each) for each in (0, 999, 1_234, 2_000_000)] == ["0 B", "999 B", "1.2 KB", "2.0 MB"]
    assert [many(1, "letter"), many(2, "letter"), many(0, "entry", "entries")] == ["1 letter", "2 letters", "0 entries"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\x1b[2Jboo\r\nnext", "\\x1b[2Jboo\\r\\nnext"),
        ("right\u202eleft", "right\\u202eleft"),
        ("ünï", "ünï"),
    ],
)
def test_a_terminal_obeys_nothing_that_others_wrote(text: str, told: str) -> None:
    assert safe(text) == told


def test_a_long_text_is_cut() -> None:
    assert safe("abcdef", 4) == "abc…"
    assert safe("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://hooks.example.com/a/b", "https://hooks.example.com/a/b"),
        ("https://hooks.example.com:8443/a?key=secret&b", "https://hooks.example.com:8443/a?[hidden]"),
        ("https://me:secret@hooks.example.com/", "https://[hidden]@hooks.example.com/"),
    ],
)
def test_an_address_shows_no_secret(url: str, told: str) -> None:
    assert address(url) == told
