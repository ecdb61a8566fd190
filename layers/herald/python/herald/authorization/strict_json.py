"""JSON as a token must have it: an object in UTF-8 whose members are named once."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def read_object(text: bytes) -> dict[str, Any]:
    """The object.

    Two readers that take different ones of two equal members could see two different tokens, so there are none.

    Raises:
        ValueError: it is something else.
    """
    try:
        found = json.loads(text.decode(), object_pairs_hook=_once, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if not isinstance(found, dict):
        raise ValueError("not an object")  # noqa: TRY004 - of text, not of an argument
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member comes twice")
    return members


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} isn't JSON")
