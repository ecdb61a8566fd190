"""What HTTP caches need of a document that changes rarely (RFC 9110 section 8.8.3, RFC 9111)."""

from __future__ import annotations

import hashlib

MAX_AGE = 300  # seconds


def etag(body: bytes) -> str:
    """A strong ETag: equal bytes have equal ones."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def headers(tag: str) -> dict[str, str]:
    """For a public document that anyone may read, scripts of other sites included."""
    return {"etag": tag, "cache-control": f"public, max-age={MAX_AGE}", "access-control-allow-origin": "*"}


def is_known(tag: str, if_none_match: str) -> bool:
    """Whether a client that sent this If-None-Match has the document already."""
    tags = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return tag in tags or "*" in tags
