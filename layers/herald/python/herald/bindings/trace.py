"""The W3C traceparent of a request: the client's, else X-Ray's, else one of our own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from herald.ports import Ids

_W3C = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")
_ROOT = re.compile(r"(?:^|;)\s*Root=1-([0-9a-f]{8})-([0-9a-f]{24})")
_PARENT = re.compile(r"(?:^|;)\s*Parent=([0-9a-f]{16})")
_SAMPLED = re.compile(r"(?:^|;)\s*Sampled=1")


def traceparent(headers: Mapping[str, str], ids: Ids) -> str:
    """``00-<trace>-<parent>-<flags>`` for what a request leads to."""
    if given := _W3C.fullmatch(headers.get("traceparent", "").strip()):
        return f"00-{given[1]}-{given[2]}-{given[3]}"
    xray = headers.get("x-amzn-trace-id", "")
    if root := _ROOT.search(xray):
        parent = _PARENT.search(xray)
        span = parent[1] if parent else root[2][:16]
        return f"00-{root[1]}{root[2]}-{span}-0{int(bool(_SAMPLED.search(xray)))}"
    made = hashlib.sha256(ids.token().encode()).hexdigest()
    return f"00-{made[:32]}-{made[32:48]}-00"
