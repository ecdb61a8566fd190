"""JSON in and out, digit for digit."""

from __future__ import annotations

import copy
import json
import math
import pickle
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herald.protocol import codec
from herald.protocol.errors import ParseError


@pytest.mark.parametrize(
    "number",
    [
        "5",
        "0",
        "-1",
        "1.5",
        "1.0",
        "1.10",
        "1e2",
        "1E2",
        "1.5E+007",
        "-0",
        "-0.0",
        "1e999",
        "0.1000000000000000055511151231257827",
        "12345678901234567890123",
        "123456789012345678901234567890.5",
    ],
)
def test_g3_a_number_comes_back_digit_for_digit(number: str) -> None:
    text = f'{{"data":[{number},{{"n":{number}}}]}}'
    assert codec.dumps(codec.loads(text)) == text
    assert codec.dumps(codec.loads(number)) == number


def test_a_number_whose_digits_are_kept_is_a_float_to_compute_with() -> None:
    price = codec.loads("1200.50")
    assert isinstance(price, float)
    assert price * 2 == 2401.0
    assert json.dumps([price]) == "[1200.5]"


def test_plain_numbers_are_plain_types() -> None:
    assert [type(value) for value in codec.loads('[1,1.5,"-0",true]')] == [int, float, str, bool]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])  # noqa: S301
def test_a_copied_number_keeps_its_digits(copied: object) -> None:
    assert codec.dumps(copied(codec.loads("[1.10]"))) == "[1.10]"  # type: ignore[operator]


def test_text_is_compact_raw_utf8_in_the_order_of_keys() -> None:
    text = codec.dumps({"b": "é😀\u2028", "a": [1, None, True, "\n"]})
    assert text == '{"b":"é😀\u2028","a":[1,null,true,"\\n"]}'


def test_text_with_kept_digits_is_written_like_any_other() -> None:
    text = '{"b":"é😀","a":[1,null,true,false,"\\n\\"",{},[],1.5],"n":1.10}'
    assert codec.dumps(codec.loads(text)) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"\xff\xfe\x7b", "isn't valid UTF-8 at byte 0"),
        (b'{"a":"\xe9"}', "isn't valid UTF-8 at byte 6"),
        ("", "isn't valid JSON at line 1, column 1"),
        ('{"a":1,}', "isn't valid JSON at line 1"),
        ("{'a':1}", "isn't valid JSON at line 1, column 2"),
        ('{"a":1}\n x', "isn't valid JSON at line 2, column 2"),
        ("\ufeff{}", "isn't valid JSON at line 1, column 1"),
        ('"\n"', "isn't valid JSON at line 1"),
        ("01", "isn't valid JSON"),
        ("[NaN]", "holds NaN"),
        ("[-Infinity]", "holds -Infinity"),
        (r'{"a":"\ud83d"}', "half a surrogate pair"),
        (r'{"\uDE00":1}', "half a surrogate pair"),
        ('"\ud800"', "half a surrogate pair"),
        ("1" * 4301, "more than 4300 digits"),
        ("[" * 201 + "]" * 201, "more than 200 levels"),
        ('{"a":' * 201 + "1" + "}" * 201, "more than 200 levels"),
        ("[" * 500_000, "levels"),
    ],
)
def test_a19_what_isnt_json_is_a_parse_error_that_says_why(text: str | bytes, says: str) -> None:
    with pytest.raises(ParseError, match=says):
        codec.loads(text)


def test_a_whole_surrogate_pair_is_one_character() -> None:
    assert codec.loads(r'"\ud83d\ude00"') == "😀"


def test_levels_up_to_the_limit_come_back() -> None:
    text = "[" * 200 + "1.10" + "]" * 200
    assert codec.dumps(codec.loads(text)) == text


def test_many_values_beside_each_other_arent_levels() -> None:
    text = "[" + ",".join(["[{}]"] * 500) + ',"[[[["]'
    assert codec.dumps(codec.loads(text)) == text


def test_the_last_of_two_equal_keys_counts() -> None:
    assert codec.loads('{"a":1,"a":2}') == {"a": 2}


@pytest.mark.parametrize("value", [math.nan, [math.inf], {"a": -math.inf}, "\ud800", [codec.loads("1.10"), math.nan]])
def test_what_json_cant_say_isnt_written(value: object) -> None:
    with pytest.raises(ValueError, match=r"surrogate|not JSON compliant"):
        codec.dumps(value)


def test_a_value_of_another_type_isnt_written() -> None:
    with pytest.raises(TypeError):
        codec.dumps({"amount": Decimal("1.10")})


def test_a_value_that_holds_itself_is_refused_at_once() -> None:
    parent: dict[str, object] = {}
    parent["children"] = [{"parent": parent}, {"parent": parent}]
    with pytest.raises(ValueError, match="holds itself"):
        codec.dumps(parent)


def test_canonical_text_sorts_keys_at_every_level_and_keeps_digits() -> None:
    one = codec.loads('{"b":{"z":1,"y":[{"n":2,"m":1}]},"a":"é"}')
    two = codec.loads('{"a":"é","b":{"y":[{"m":1,"n":2}],"z":1}}')
    assert codec.canonical(one) == codec.canonical(two) == '{"a":"é","b":{"y":[{"m":1,"n":2}],"z":1}}'.encode()
    assert codec.canonical(codec.loads('{"b":1.10,"a":1}')) == b'{"a":1,"b":1.10}'


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=20,
)


@settings(deadline=None)
@given(json_values)
def test_any_value_comes_back_equal_by_both_roads(value: object) -> None:
    assert codec.loads(codec.dumps(value)) == value
    with_kept_digits = codec.dumps([value, codec.ExactFloat("1.10")])
    assert with_kept_digits == f"[{codec.dumps(value)},1.10]"


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_761_647_400_000, "2025-10-28T10:30:00.000Z"),
        (1_761_647_400_007, "2025-10-28T10:30:00.007Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_times_go_out_in_utc_with_milliseconds_and_come_back(milliseconds: int, text: str) -> None:
    assert codec.timestamp(milliseconds) == text
    assert codec.parse_timestamp(text) == milliseconds


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("1970-01-01T00:00:01Z", 1000),
        ("1970-01-01T00:00:01.5Z", 1500),
        ("1970-01-01T00:00:01.123999999Z", 1123),
        ("1970-01-01T02:00:01+02:00", 1000),
        ("1969-12-31T18:30:01.25-05:30", 1250),
        ("1969-12-31T23:59:59.9999Z", -1),
    ],
)
def test_times_come_in_with_any_offset_and_up_to_nine_decimals(text: str, milliseconds: int) -> None:
    assert codec.parse_timestamp(text) == milliseconds


def test_what_is_finer_than_a_millisecond_can_be_rounded_up() -> None:
    assert codec.parse_timestamp("1970-01-01T00:00:00.0001Z", up=True) == 1
    assert codec.parse_timestamp("1970-01-01T00:00:00.001Z", up=True) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2025-10-28",
        "2025-10-28T10:30:00",
        "2025-10-28 10:30:00Z",
        "2025-10-28t10:30:00z",
        "2025-10-28T10:30:00z",
        "2025-10-28T10:30Z",
        "2025-10-28T10:30:00.Z",
        "2025-10-28T10:30:00.1234567890Z",
        "2025-10-28T10:30:00+0200",
        "2025-10-28T10:30:00+24:00",
        "2025-13-01T00:00:00Z",
        "2025-02-29T00:00:00Z",
        "2025-10-28T24:00:00Z",
        "2025-10-28T10:30:60Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "２０２５-10-28T10:30:00Z",
        " 2025-10-28T10:30:00Z",
        "2025-10-28T10:30:00Z\n",
    ],
)
def test_what_isnt_an_rfc_3339_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        codec.parse_timestamp(text)


@pytest.mark.parametrize("text", ["+/+/aA==", "-_-_aA==", "-_-_aA", "+/+/aA"])
def test_base64_comes_in_standard_url_safe_and_unpadded(text: str) -> None:
    assert codec.parse_base64(text) == b"\xfb\xff\xbfh"


def test_base64_goes_out_standard_and_padded() -> None:
    assert codec.print_base64(b"\xfb\xff\xbfh") == "+/+/aA=="
    assert codec.print_base64(b"") == ""
    assert codec.parse_base64("") == b""


@pytest.mark.parametrize(
    "text", ["a", "aGVsbG8h!", "aGVs bG8h", "aGVs\nbG8h", "a===", "aGk=====", "aG=k", "é", "aGVsbG8=="]
)
def test_what_isnt_base64_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be base64"):
        codec.parse_base64(text)
