"""Media types as parts name them, and ranges as an Agent Card lists them (RFC 9110 sections 8.3.1 and 12.5.1)."""

from __future__ import annotations

import re
from collections.abc import Collection

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_QUOTED = r'"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[^\x00-\x1f\x7f])*"'
# Each space has one place in it only, so that no text takes long to be refused.
_FORM = re.compile(rf"({_WORD}/{_WORD})[ \t]*(?:;[ \t]*(?:{_WORD}=(?:{_WORD}|{_QUOTED})[ \t]*)?)*")


def essence(text: str) -> str | None:
    """Type and subtype in lower case, without parameters: ``text/csv`` for ``Text/CSV; charset=utf-8``.

    None for what isn't one media type: other text, and ranges.
    """
    found = _FORM.fullmatch(text)
    return None if found is None or "*" in found[1] else found[1].lower()


def media_range(text: str) -> str | None:
    """As ``essence``, and for ``image/*`` and ``*/*`` as well."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    kind, _, subtype = found[1].lower().partition("/")
    if "*" in kind + subtype and (subtype != "*" or ("*" in kind and kind != "*")):
        return None
    return f"{kind}/{subtype}"


def is_within(media_type: str, ranges: Collection[str]) -> bool:
    """Whether one of some ranges holds a media type; all of them as ``essence`` and ``media_range`` give them."""
    kind = media_type.partition("/")[0]
    return media_type in ranges or f"{kind}/*" in ranges or "*/*" in ranges
