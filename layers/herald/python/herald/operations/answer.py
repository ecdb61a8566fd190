"""How much one answer can carry: Lambda takes 6 MB of JSON, in which the body is a string."""

from __future__ import annotations

import json
import sys

MAX_BYTES = 6_000_000
ESCAPED = sys.version_info < (3, 12)  # Lambda's runtimes up to 3.11 escape all but ASCII


def weight(body: str) -> int:
    """Bytes of a body, or of a part of one, as Lambda passes it on."""
    return len(json.dumps(body, ensure_ascii=ESCAPED).encode())
