"""The ASGI application: one table of addresses in FastAPI, and Mangum between it and Lambda.

FastAPI routes nothing by itself here: each binding has its own table, because a path like ``/tasks/{id}:cancel`` under
an optional tenant is none that a router knows, and an unknown one must be answered in the protocol's shape.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI
from mangum import Mangum

from herald.bindings import errors, gateway
from herald.bindings.http import A2A_JSON, JSON, Request, Response
from herald.bindings.jsonrpc import JsonRpc
from herald.bindings.rest import Rest, refusal
from herald.bindings.service import Service
from herald.protocol import codec
from herald.protocol.errors import InternalError, MethodNotAllowedError
from herald.protocol.version import EXTENSIONS_HEADER

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Page = Callable[[Request], Response]
LambdaHandler = Callable[[dict[str, Any], Any], dict[str, Any]]

# Lambda takes 6 MB of JSON, in which the body is a string; its runtimes up to 3.11 escape all but ASCII.
MAX_ANSWER = 6_000_000
ESCAPED = sys.version_info < (3, 12)

_EXTENSIONS = EXTENSIONS_HEADER.lower().encode()


class Front:
    """The ASGI endpoint in front of both bindings and the documents that anyone may read."""

    def __init__(self, service: Service, documents: Mapping[str, Page]) -> None:
        self._service = service
        self._jsonrpc = JsonRpc(service)
        self._rest = Rest(service)
        self._documents = documents

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        request = _request(scope, await _body(receive))
        try:
            response = await self._answer(request)
        except Exception:
            logger.exception("a request failed")
            response = refusal(errors.internal(request.id), request)
        if _weight(response.body) > MAX_ANSWER:
            response = _too_large(response, request)
        milliseconds = round((time.perf_counter() - began) * 1000)
        logger.info("answered", extra={**response.note, "status": response.status, "milliseconds": milliseconds})
        headers = [(b"content-type", response.media_type.encode())]
        if in_use := self._service.in_use(request):
            headers.append((_EXTENSIONS, ", ".join(in_use).encode()))
        headers += [(name.encode(), value.encode()) for name, value in response.headers.items()]
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": response.body})

    async def _answer(self, request: Request) -> Response:
        if request.path == "/":
            if request.method == "POST":
                return await self._jsonrpc(request)
            return refusal(MethodNotAllowedError("Use POST at this path.", metadata={"allow": "POST"}), request)
        if page := self._documents.get(request.path):
            return page(request)
        return await self._rest(request)


def application(service: Service, documents: Mapping[str, Page]) -> FastAPI:
    """The application, without FastAPI's own pages. ``documents`` are pages by path."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.add_route("/{path:path}", Front(service, documents))  # type: ignore[arg-type]  # an ASGI endpoint: any method
    return app


def handler(app: FastAPI) -> LambdaHandler:
    """The function's handler for REST API events. It never raises: an event that Mangum can't read is answered."""
    # A REST API without binary media types would hand base64 to the client, so what isn't text to Mangum is named here.
    logging.getLogger("mangum").setLevel(logging.WARNING)  # it logs each request too
    asyncio.set_event_loop(_loop())
    mangum = Mangum(app, lifespan="off", text_mime_types=[JSON, A2A_JSON])

    def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
        asyncio.set_event_loop(_loop())  # where Mangum looks for one
        try:
            answer: dict[str, Any] = mangum(event, context)
        except Exception:
            logger.exception("an event could not be read")
            request = Request("", "/")
            response = refusal(errors.internal(request_id(event)), request)
            return {
                "statusCode": response.status,
                "headers": {"content-type": response.media_type},
                "multiValueHeaders": {},
                "body": response.body.decode(),
                "isBase64Encoded": False,
            }
        return answer

    return handle


def request_id(event: Any) -> str:
    """The name that API Gateway gave a request; "" where there is none."""
    context = event.get("requestContext") if isinstance(event, dict) else None
    return str(context.get("requestId") or "") if isinstance(context, dict) else ""


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """One event loop for the life of the process, made with its first request."""
    return asyncio.new_event_loop()


async def _body(receive: Receive) -> bytes:
    message = await receive()
    body: bytes = message.get("body", b"")
    while message.get("more_body"):
        message = await receive()
        body += message.get("body", b"")
    return body


def _request(scope: Scope, body: bytes) -> Request:
    event = scope.get("aws.event") or {}
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Request(
        method=scope["method"],
        path=gateway.path(event) if event else scope["path"] or "/",
        query=dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)),
        headers=headers,
        body=body,
        context=event.get("requestContext") or {},
        id=request_id(event),
    )


def _weight(body: bytes) -> int:
    """Bytes of a body as Lambda passes it on."""
    return len(body) if len(body) * 6 < MAX_ANSWER else len(json.dumps(body.decode(), ensure_ascii=ESCAPED).encode())


def _too_large(response: Response, request: Request) -> Response:
    error = InternalError(
        "The task is larger than the 6 MB that one answer can carry: ask with a smaller historyLength, or take its "
        "artifacts from notifications."
    )
    if response.media_type == JSON and request.path == "/":
        body = {"jsonrpc": "2.0", "id": codec.loads(request.body)["id"], "error": errors.jsonrpc(error)}
        return Response(200, JSON, codec.dumps(body).encode(), note={**response.note, "error": error.row.reason})
    return refusal(error, request, str(response.note.get("operation", "")))
