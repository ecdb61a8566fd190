"""publish_keys: the public keys of a tenant's signatures, as a JWKS (RFC 7517, RFC 8037) for whoever asks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from aws_lambda_powertools.utilities.typing import LambdaContext

from herald.delivery.signing import SigningKeys
from herald.entrypoints.logs import json_logger

logger = json_logger()

MAX_AGE = 300  # seconds; a new key is published long before it signs
MAX_TENANT = 256  # characters: what is derived is kept, so names have an end

Response = dict[str, Any]


def handler_for(keys: SigningKeys) -> Callable[[dict[str, Any], LambdaContext], Response]:
    """The function's handler, for ``/.well-known/jwks.json`` and ``/{tenant}/.well-known/jwks.json`` of a REST API.

    Any tenant's name has keys, so that the answer tells nobody which tenants there are.
    """

    @logger.inject_lambda_context(log_event=False, clear_state=True)
    def handler(event: dict[str, Any], context: LambdaContext) -> Response:  # noqa: ARG001
        if event.get("httpMethod") not in ("GET", "HEAD"):
            return _error(405, "UNIMPLEMENTED", "Use GET at this path.", {"Allow": "GET, HEAD"})
        tenant = unquote((event.get("pathParameters") or {}).get("tenant") or "")
        if len(tenant) > MAX_TENANT:
            return _error(404, "NOT_FOUND", "There is nothing at this path.")
        try:
            body = json.dumps({"keys": [key.jwk for key in keys.public(tenant)]}, separators=(",", ":"))
        except Exception:
            logger.exception("keys can't be read")
            return _error(503, "UNAVAILABLE", "The keys can't be read at the moment. Try again.", {"Retry-After": "5"})
        etag = f'"{hashlib.sha256(body.encode()).hexdigest()[:32]}"'
        headers = {
            "Cache-Control": f"public, max-age={MAX_AGE}",
            "ETag": etag,
            "Access-Control-Allow-Origin": "*",
        }
        if _matches(_header(event, "if-none-match"), etag):
            return _response(304, "", headers)
        return _response(200, body, {"Content-Type": "application/jwk-set+json", **headers})

    return handler


def _header(event: Mapping[str, Any], name: str) -> str:
    headers: Mapping[str, str] = event.get("headers") or {}
    return next((value for key, value in headers.items() if key.lower() == name), "")


def _matches(known: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in known.split(",")]
    return etag in tags or "*" in tags


def _response(status: int, body: str, headers: Mapping[str, str]) -> Response:
    return {"statusCode": status, "headers": dict(headers), "body": body, "isBase64Encoded": False}


def _error(status: int, name: str, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    body = json.dumps({"error": {"code": status, "status": name, "message": sentence}})
    return _response(status, body, {"Content-Type": "application/json", "Cache-Control": "no-store", **(headers or {})})
