"""What is kept of a receiver's answer, for whoever must find out why it failed: never a secret that it echoes."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from urllib.parse import quote, unquote

KEPT_BYTES = 4_096
LEAST_PIECE = 4  # characters of a secret at the end of a text that are taken for its beginning
HIDDEN = "[hidden]"


def kept(head: bytes, secrets: Iterable[str]) -> str:
    """The head of an answer as text of at most 4 KiB, its secrets hidden, the piece of one at its end included."""
    text = head.decode(errors="replace")
    hidden = _spellings(secrets)
    end = min((_last(text, secret) for secret in hidden), default=len(text))
    if end < len(text):
        text = text[:end] + HIDDEN
    for secret in hidden:
        text = text.replace(secret, HIDDEN)
    return text.encode()[:KEPT_BYTES].decode(errors="ignore")


def _spellings(secrets: Iterable[str]) -> list[str]:
    """Secrets as a receiver may write them: as they are, in JSON, in HTML, in a URL.

    The longest first, for one may be a part of another.
    """
    found = {
        spelling
        for secret in secrets
        if secret
        for spelling in (secret, json.dumps(secret)[1:-1], html.escape(secret), quote(secret), unquote(secret))
    }
    return sorted(found, key=len, reverse=True)


def _last(text: str, secret: str) -> int:
    """Where a secret begins with which the text ends or is cut off; the text's length when there is none."""
    lengths = range(min(len(secret), len(text)), LEAST_PIECE - 1, -1)
    return len(text) - next((length for length in lengths if text.endswith(secret[:length])), 0)
