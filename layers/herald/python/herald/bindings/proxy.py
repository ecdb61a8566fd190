"""A REST API's proxy event (payload 1.0) as Mangum hands it to the application.

Mangum's own handler fails on what clients and gateways do send: a port in Host or X-Forwarded-Port that is no number, a
header without a value, a body that isn't base64 or Unicode. This one fails on a body alone, and says so.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from mangum.handlers import APIGateway

from herald.bindings import gateway
from herald.protocol.errors import ParseError

Scope = dict[str, Any]


class RestApi(APIGateway):
    """One event. ``scope`` holds it whole as ``aws.event``."""

    @property
    def body(self) -> bytes:
        """The bytes that the client sent.

        Raises:
            ParseError: the event's body isn't the base64 that it says it is.
        """
        text: str = self.event.get("body") or ""
        if not self.event.get("isBase64Encoded"):
            return text.encode(errors="surrogatepass")  # half a pair is no UTF-8 then, as it must be told
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise ParseError("The body can't be read: it isn't the base64 that API Gateway says it is.") from None

    @property
    def scope(self) -> Scope:
        event = self.event
        query = _pairs(event.get("multiValueQueryStringParameters"), event.get("queryStringParameters"))
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.0"},
            "http_version": "1.1",
            "method": event["httpMethod"],
            "scheme": "https",
            "path": gateway.path(event),
            "raw_path": None,
            "root_path": "",
            "query_string": urlencode(list(query), errors="replace").encode(),
            "headers": [
                (name.lower().encode(errors="replace"), value.encode(errors="replace"))
                for name, value in _pairs(event.get("multiValueHeaders"), event.get("headers"))
            ],
            "client": ((event["requestContext"].get("identity") or {}).get("sourceIp"), 0),
            "server": None,
            "aws.event": event,
            "aws.context": self.context,
        }


def _pairs(many: Mapping[str, list[str]] | None, one: Mapping[str, str] | None) -> Iterator[tuple[str, str]]:
    """Names and values; what stands in both is in ``many`` with all of its values."""
    many = many or {}
    for name, values in many.items():
        for value in values or ():
            yield name, value or ""
    for name, single in (one or {}).items():
        if name not in many:
            yield name, single or ""
