"""JSON as A2A sends it: UTF-8, compact, and numbers digit for digit (A2A specification section 5.6, ProtoJSON).

Bodies of requests, stored entries and answers all pass here, so that what a client put into ``data`` or ``metadata``
comes back as it was written: ``1.10`` stays ``1.10``, and ``12345678901234567890123`` keeps its last digit.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NoReturn, Self

from herald.protocol.errors import ParseError

JsonObject = dict[str, Any]

MAX_DEPTH = 200  # levels of arrays and objects in a document
MAX_DIGITS = 4300  # of an integer: Python's own limit, stated in the error


class ExactFloat(float):
    """A number whose digits differ from what Python would print: a float to compute with, its text to send."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]  # float's own names the value
        return (self.text,)


def loads(text: str | bytes) -> Any:
    """Read one JSON document.

    Numbers with a fraction or an exponent are floats, ``ExactFloat`` where their text would be lost. Of a key that is
    given twice the last one counts.

    Raises:
        ParseError: it isn't UTF-8 or JSON, holds NaN, Infinity or half a surrogate pair, or is too deep.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            raise ParseError(f"The JSON text isn't valid UTF-8 at byte {error.start}.") from None
    elif not text.isascii() and not _is_unicode(text):
        raise ParseError(_HALF_PAIR)
    decode = _EXACT.decode if _MINUS_ZERO.search(text) else _PLAIN.decode
    try:
        value = decode(text)
    except json.JSONDecodeError as error:
        raise ParseError(f"The text isn't valid JSON at line {error.lineno}, column {error.colno}.") from None
    except RecursionError:
        raise ParseError(_TOO_DEEP) from None
    except ValueError:  # only int() is left to raise one
        raise ParseError(f"The JSON text holds an integer of more than {MAX_DIGITS} digits.") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _too_deep(value):
        raise ParseError(_TOO_DEEP)
    if "\\" in text and _SURROGATE.search(text) and not _is_unicode(json.dumps(value, ensure_ascii=False)):
        raise ParseError(_HALF_PAIR)
    return value


def dumps(value: Any) -> str:
    """Write a value as compact JSON, raw UTF-8, in the order of its keys.

    Raises:
        ValueError: it holds NaN, Infinity, half a surrogate pair, itself, or too many levels.
        TypeError: it holds what JSON can't say.
    """
    return _print(value, _IN_ORDER, sort=False)


def canonical(value: Any) -> bytes:
    """The UTF-8 JSON of a value with the keys of every object sorted: equal values give equal bytes, for hashing."""
    return _print(value, _SORTED, sort=True).encode()


def timestamp(milliseconds: int) -> str:
    """Milliseconds since 1970 as RFC 3339 in UTC with milliseconds: ``2025-10-28T10:30:00.000Z`` (section 5.6.1)."""
    return (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds") + "Z"


def parse_timestamp(text: str, *, up: bool = False) -> int:
    """Milliseconds since 1970 of an RFC 3339 time, as ProtoJSON reads it: any offset, up to nine decimals.

    Args:
        text: like ``2025-10-28T10:30:00Z`` or ``2025-10-28T12:30:00.5+02:00``.
        up: round what is finer than a millisecond up instead of down.

    Raises:
        ValueError: it isn't one, or isn't in the years 1 to 9999.
    """
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise ValueError("must be an RFC 3339 time like 2025-10-28T10:30:00.000Z")
    to_second, fraction, sign, hours, minutes = match.groups()
    nanoseconds = int((fraction or "").ljust(9, "0"))
    try:
        moment = datetime.fromisoformat(to_second)
        if sign:
            offset = timedelta(hours=int(hours), minutes=int(minutes))
            moment = moment - offset if sign == "+" else moment + offset
    except (ValueError, OverflowError):
        raise ValueError("must be a time that exists, in the years 0001 to 9999") from None
    milliseconds, rest = divmod(nanoseconds, 1_000_000)
    whole = (moment - _EPOCH) // timedelta(milliseconds=1)
    return whole + milliseconds + (1 if up and rest else 0)


def parse_base64(text: str) -> bytes:
    """The bytes of base64 text: standard or URL-safe alphabet, padded or not.

    Raises:
        ValueError: it holds anything else.
    """
    body = text.rstrip("=")
    padding = len(text) - len(body)
    if len(body) % 4 == 1 or (padding and (padding > 2 or len(text) % 4)):
        raise ValueError(_NOT_BASE64)
    try:
        return base64.b64decode(body.translate(_URL_SAFE) + "=" * (-len(body) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(_NOT_BASE64) from None


def print_base64(content: bytes) -> str:
    """Bytes as base64 in the standard alphabet, padded."""
    return base64.b64encode(content).decode("ascii")


_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # UTC throughout, so no zone is carried
_TIMESTAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)
_URL_SAFE = str.maketrans("-_", "+/")
_NOT_BASE64 = "must be base64, standard or URL-safe"
_HALF_PAIR = "The JSON text holds half a surrogate pair, which isn't Unicode."
_TOO_DEEP = f"The JSON text has more than {MAX_DEPTH} levels of arrays and objects."
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_MINUS_ZERO = re.compile(r"-0(?![0-9.eE])")


def _refuse(constant: str) -> NoReturn:
    raise ParseError(f"The JSON text holds {constant}, which JSON doesn't have.")


def _float(text: str) -> float:
    value = float(text)
    return value if repr(value) == text else ExactFloat(text)


def _int(text: str) -> int | float:
    return ExactFloat(text) if text == "-0" else int(text)


# An int hook takes the decoder off its C road for every integer, so only texts that need it pay for it.
_PLAIN = json.JSONDecoder(parse_float=_float, parse_constant=_refuse)
_EXACT = json.JSONDecoder(parse_float=_float, parse_int=_int, parse_constant=_refuse)

_SEPARATORS = (",", ":")
_IN_ORDER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=_SEPARATORS)
_quoted = _IN_ORDER.encode  # of a string
_SORTED = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=_SEPARATORS, sort_keys=True)


def _print(value: Any, encoder: json.JSONEncoder, *, sort: bool) -> str:
    try:
        text = encoder.encode(value)
    except (ValueError, RecursionError):  # NaN, a cycle, or a finite number whose float isn't, like 1e999
        exact = True
    else:
        exact = _holds_exact(value)
    if exact:
        pieces: list[str] = []
        _write(value, pieces.append, sort, 2 * MAX_DEPTH)
        text = "".join(pieces)
    if not text.isascii() and not _is_unicode(text):
        raise ValueError("the value holds half a surrogate pair, which isn't Unicode")
    return text


def _holds_exact(value: Any) -> bool:
    """The C encoder prints every float as Python does, so its text stands only where there is no ExactFloat."""
    nodes = [value]
    for node in nodes:  # grows while it is walked; the encoder has seen that it ends
        kind = type(node)
        if kind is dict:
            nodes += node.values()
        elif kind is list or kind is tuple:
            nodes += node
        elif kind is ExactFloat:
            return True
    return False


def _write(value: Any, put: Callable[[str], None], sort: bool, levels: int) -> None:
    if type(value) is str:
        put(_quoted(value))
    elif isinstance(value, ExactFloat):
        put(value.text)
    elif type(value) is int:
        put(str(value))
    elif isinstance(value, dict):
        _descend(levels)
        mark = "{"
        for key, member in sorted(value.items()) if sort else value.items():
            if not isinstance(key, str):
                raise TypeError(f"the keys of an object are strings, not {type(key).__name__}")
            put(f"{mark}{_quoted(key)}:")
            _write(member, put, sort, levels - 1)
            mark = ","
        put("{}" if mark == "{" else "}")
    elif isinstance(value, (list, tuple)):
        _descend(levels)
        mark = "["
        for member in value:
            put(mark)
            _write(member, put, sort, levels - 1)
            mark = ","
        put("[]" if mark == "[" else "]")
    else:
        put(_IN_ORDER.encode(value))


def _descend(levels: int) -> None:
    if not levels:
        raise ValueError("the value has too many levels, or holds itself")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            member
            for node in level
            for member in (node.values() if type(node) is dict else node)
            if type(member) is dict or type(member) is list
        ]
        if not level:
            return False
    return True
