"""publish_keys: an API Gateway request for a JWKS in, the tenant's public keys out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from aws_lambda_powertools.utilities.typing import LambdaContext

from herald.bindings.cors import OFF, Cors
from herald.bindings.http import Request
from herald.bindings.jwks import KeysPage
from herald.delivery.published_keys import PublishedKeys
from herald.entrypoints.logs import json_logger

logger = json_logger()


def handler_for(keys: PublishedKeys, allowed: Cors = OFF) -> Callable[[dict[str, Any], LambdaContext], dict[str, Any]]:
    """The function's handler, for ``/.well-known/jwks.json`` and ``/{tenant}/.well-known/jwks.json`` of a REST API.

    Args:
        allowed: the sites whose scripts may read the keys.
    """
    page = KeysPage(keys.of)

    @logger.inject_lambda_context(log_event=False, clear_state=True)
    def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001
        sent: Mapping[str, str] = event.get("headers") or {}
        request = Request(
            event.get("httpMethod", ""),
            event.get("path") or "/",
            headers={name.lower(): value for name, value in sent.items()},
        )
        tenant = unquote((event.get("pathParameters") or {}).get("tenant") or "")
        response = allowed.preflight(request) or page(request, tenant)
        return {
            "statusCode": response.status,
            "headers": {"content-type": response.media_type, **allowed.added_to(response.headers, request)},
            "body": response.body.decode(),
            "isBase64Encoded": False,
        }

    return handler
