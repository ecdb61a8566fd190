"""A deployment's public keys, as JWKS (RFC 7517, RFC 8037) for whoever asks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from herald.bindings import caching, errors
from herald.bindings.http import JSON, Request, Response
from herald.protocol import codec
from herald.protocol.errors import A2AError, MethodNotAllowedError, MethodNotFoundError

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/jwk-set+json"
MAX_TENANT = 256  # characters: what is derived is kept, so names have an end


@dataclass(frozen=True, slots=True)
class KeysPage:
    """Serves a tenant's keys, in any version of A2A.

    Any tenant's name has keys, so that the answer tells nobody which tenants there are. ``keys`` gives them as JSON Web
    Keys; whatever it raises is answered as unavailable.
    """

    keys: Callable[[str], Sequence[Mapping[str, Any]]]

    def __call__(self, request: Request, tenant: str) -> Response:
        if request.method not in ("GET", "HEAD"):
            return _refusal(MethodNotAllowedError("Use GET, HEAD at this path.", metadata={"allow": "GET, HEAD"}))
        if len(tenant) > MAX_TENANT:
            return _refusal(MethodNotFoundError("There is nothing at this path."))
        try:
            body = codec.dumps({"keys": [*self.keys(tenant)]}).encode()
        except Exception:
            logger.exception("keys can't be read")
            return _refusal(errors.unavailable("The keys can't be read at the moment. Try again."))
        tag = caching.etag(body)
        if caching.is_known(tag, request.headers.get("if-none-match", "")):
            return Response(304, MEDIA_TYPE, b"", caching.headers(tag))
        if request.method == "HEAD":
            return Response(200, MEDIA_TYPE, b"", {**caching.headers(tag), "content-length": str(len(body))})
        return Response(200, MEDIA_TYPE, body, caching.headers(tag))


def _refusal(error: A2AError) -> Response:
    kept = {"cache-control": "no-store", **errors.headers(error)}
    return Response(error.row.status, JSON, codec.dumps(errors.rest(error)).encode(), kept)
