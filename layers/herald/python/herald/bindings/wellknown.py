"""The Agent Card's address, with what HTTP caches need (A2A specification sections 8.2 and 8.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from email.utils import formatdate, parsedate_to_datetime
from typing import Any

from herald.bindings import caching
from herald.bindings.card import Deployment, WrittenCard, complete
from herald.bindings.http import JSON, Request, Response
from herald.bindings.rest import refusal
from herald.protocol import codec
from herald.protocol.errors import MethodNotAllowedError

CARD_PATH = "/.well-known/agent-card.json"


class CardPage:
    """Serves the card to anyone, in any version of A2A.

    Args:
        base_url: the API's base address for a requestContext; never made from the Host header.
    """

    def __init__(
        self, written: WrittenCard, deployment: Deployment, base_url: Callable[[Mapping[str, Any]], str]
    ) -> None:
        self._written = written
        self._deployment = deployment
        self._base_url = base_url
        self._modified = formatdate(written.modified, usegmt=True)
        # Base address to body and ETag: there is one address, or a custom domain's too.
        self._made: dict[str, tuple[bytes, str]] = {}

    def __call__(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            error = MethodNotAllowedError("Use GET, HEAD at this path.", metadata={"allow": "GET, HEAD"})
            return refusal(error, request, "GetAgentCard")
        body, etag = self._page(self._base_url(request.context))
        headers = {**caching.headers(etag), "last-modified": self._modified}
        note = {"operation": "GetAgentCard"}
        if self._unchanged(request.headers, etag):
            return Response(304, JSON, b"", headers, note)
        if request.method == "HEAD":
            return Response(200, JSON, b"", {**headers, "content-length": str(len(body))}, note)
        return Response(200, JSON, body, headers, note)

    def _page(self, base_url: str) -> tuple[bytes, str]:
        if base_url not in self._made:
            body = codec.dumps(complete(self._written, base_url, self._deployment)).encode()
            self._made[base_url] = body, caching.etag(body)
        return self._made[base_url]

    def _unchanged(self, headers: Mapping[str, str], etag: str) -> bool:
        """Whether the client's copy is the one that stands (RFC 9110 section 13.2.2: an ETag counts before a date)."""
        if known := headers.get("if-none-match"):
            return caching.is_known(etag, known)
        try:
            since = parsedate_to_datetime(headers.get("if-modified-since", ""))
            return self._written.modified <= since.timestamp()
        except (ValueError, TypeError, OverflowError):
            return False
