"""Media types and ranges."""

from __future__ import annotations

import pytest

from herald.protocol.media_types import essence, is_within, media_range


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text/plain", "text/plain"),
        ("Text/PLAIN", "text/plain"),
        ("text/csv; charset=utf-8", "text/csv"),
        ("text/csv;charset=UTF-8;header=present", "text/csv"),
        ('text/csv ; charset="utf-8" ', "text/csv"),
        ('multipart/mixed; boundary="a;b\\"c"', "multipart/mixed"),
        ("text/plain;", "text/plain"),
        ("text/plain; ; charset=utf-8", "text/plain"),
        ("application/vnd.oai.openapi+json;version=3.1", "application/vnd.oai.openapi+json"),
        ("", None),
        ("text", None),
        ("text/", None),
        ("/plain", None),
        ("text/plain/x", None),
        ("text /plain", None),
        (" text/plain", None),
        ("text/plain, text/csv", None),
        ("text/plain charset=utf-8", None),
        ("text/plain; charset", None),
        ("text/plain; charset=", None),
        ('text/plain; charset="utf-8', None),
        ("text/plain\n", None),
        ("text/plain; a=b\nX-Evil: 1", None),
        ("té/xt", None),
        ("image/*", None),
        ("*/*", None),
    ],
)
def test_a_media_type_is_its_type_and_subtype_alone(text: str, expected: str | None) -> None:
    assert essence(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Image/*", "image/*"),
        ("*/*;q=0.8", "*/*"),
        ("text/CSV; charset=utf-8", "text/csv"),
        ("*", None),
        ("*/png", None),
        ("image/p*", None),
        ("im*/*", None),
        ("text", None),
    ],
)
def test_a_range_has_a_star_for_a_whole_half(text: str, expected: str | None) -> None:
    assert media_range(text) == expected


@pytest.mark.parametrize(
    ("media_type", "ranges", "within"),
    [
        ("image/png", ("image/png",), True),
        ("image/png", ("text/plain", "image/*"), True),
        ("image/png", ("*/*",), True),
        ("image/png", ("image/jpeg", "text/*"), False),
        ("image/png", (), False),
        ("imagex/png", ("image/*",), False),
        ("application/geo+json", ("application/json",), False),
    ],
)
def test_a_range_holds_what_it_names(media_type: str, ranges: tuple[str, ...], within: bool) -> None:
    assert is_within(media_type, ranges) is within


@pytest.mark.parametrize(
    "text",
    ["text/plain" + "; \t" * 200_000 + "x", "a/b" + ";a=b " * 100_000 + "!", 'a/b;c="' + "\\x" * 200_000],
    ids=["spaces", "parameters", "quotes"],
)
def test_no_text_takes_long_to_be_refused(text: str) -> None:
    assert essence(text) is None
