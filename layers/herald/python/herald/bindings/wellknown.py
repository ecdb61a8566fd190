"""The Agent Card's address, with what HTTP caches need (A2A specification sections 8.2 and 8.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from email.utils import formatdate, parsedate_to_datetime
from typing import Any

from herald.bindings import caching
from herald.bindings.card_signature import SignedCard
from herald.bindings.http import JSON, Request, Response
from herald.bindings.rest import refusal
from herald.protocol import codec
from herald.protocol.errors import MethodNotAllowedError

CARD_PATH = "/.well-known/agent-card.json"


class CardPage:
    """Serves the card to anyone, in any version of A2A.

    Args:
        card: as it is at each base address.
        modified: when the card was written, whole seconds since 1970.
        max_age: how long caches may keep it, seconds.
        base_url: the API's base address for a requestContext; never made from the Host header.
    """

    def __init__(
        self, card: SignedCard, modified: int, max_age: int, base_url: Callable[[Mapping[str, Any]], str]
    ) -> None:
        self._card = card
        self._modified = modified
        self._max_age = max_age
        self._base_url = base_url

    def __call__(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            error = MethodNotAllowedError("Use GET, HEAD at this path.", metadata={"allow": "GET, HEAD"})
            return refusal(error, request, "GetAgentCard")
        base_url = self._base_url(request.context)
        tag = self._card.tag(base_url)
        headers = {**caching.headers(tag, self._max_age), "last-modified": formatdate(self._modified, usegmt=True)}
        note = {"operation": "GetAgentCard"}
        if self._unchanged(request.headers, tag):
            return Response(304, JSON, b"", headers, note)
        page = self._card.page(base_url)
        if not page.signed:
            headers = caching.NOT_KEPT  # or it would stand in for the signed one when that is back
        body = codec.dumps(page.card).encode()
        if request.method == "HEAD":
            return Response(200, JSON, b"", {**headers, "content-length": str(len(body))}, note)
        return Response(200, JSON, body, headers, note)

    def _unchanged(self, headers: Mapping[str, str], tag: str) -> bool:
        """Whether the client's copy is the one that stands (RFC 9110 section 13.2.2: an ETag counts before a date)."""
        if known := headers.get("if-none-match"):
            return caching.is_known(tag, known)
        try:
            since = parsedate_to_datetime(headers.get("if-modified-since", ""))
            return self._modified <= since.timestamp()
        except (ValueError, TypeError, OverflowError):
            return False
