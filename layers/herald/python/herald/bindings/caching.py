"""What HTTP caches need of a document that changes rarely (RFC 9110 section 8.8.3, RFC 9111)."""

from __future__ import annotations

import hashlib

MAX_AGE = 300  # seconds

NOT_KEPT = {"cache-control": "no-store"}
"""For a public document that isn't what it should be."""

OF_CALLERS = {"GetExtendedAgentCard": {"cache-control": f"private, max-age={MAX_AGE}", "vary": "authorization"}}
"""Of the operations whose answer a client may keep for itself: the headers."""


def etag(body: bytes) -> str:
    """A strong ETag: equal bytes have equal ones."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def headers(tag: str, max_age: int = MAX_AGE) -> dict[str, str]:
    """For a public document, kept for ``max_age`` seconds."""
    return {"etag": tag, "cache-control": f"public, max-age={max_age}"}


def is_known(tag: str, if_none_match: str) -> bool:
    """Whether a client that sent this If-None-Match has the document already, by the weak comparison."""
    tags = [_opaque(each) for each in if_none_match.split(",")]
    return _opaque(tag) in tags or "*" in tags


def _opaque(tag: str) -> str:
    return tag.strip().removeprefix("W/")
