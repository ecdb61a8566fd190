"""The address of the OpenAPI document, which is made when somebody first asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from herald.bindings import caching
from herald.bindings.http import JSON, Request, Response
from herald.bindings.rest import refusal
from herald.protocol import codec
from herald.protocol.errors import MethodNotAllowedError

PATH = "/openapi.json"


class OpenApiPage:
    """Serves the document to anyone, with what HTTP caches need.

    Args:
        card: the completed Agent Card at a base address.
        base_url: the API's base address for a requestContext; never made from the Host header.
    """

    def __init__(self, card: Callable[[str], Mapping[str, Any]], base_url: Callable[[Mapping[str, Any]], str]) -> None:
        self._card = card
        self._base_url = base_url
        self._made: dict[str, tuple[bytes, str]] = {}  # of a base address: body and ETag

    def __call__(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            error = MethodNotAllowedError("Use GET, HEAD at this path.", metadata={"allow": "GET, HEAD"})
            return refusal(error, request, "GetOpenApi")
        body, etag = self._page(self._base_url(request.context))
        headers, note = caching.headers(etag), {"operation": "GetOpenApi"}
        if caching.is_known(etag, request.headers.get("if-none-match", "")):
            return Response(304, JSON, b"", headers, note)
        if request.method == "HEAD":
            return Response(200, JSON, b"", {**headers, "content-length": str(len(body))}, note)
        return Response(200, JSON, body, headers, note)

    def _page(self, base_url: str) -> tuple[bytes, str]:
        if base_url not in self._made:
            from herald.bindings.openapi import document  # few ask, and everybody would wait for it at a cold start

            body = codec.dumps(document(self._card(base_url))).encode()
            self._made[base_url] = body, caching.etag(body)
        return self._made[base_url]
