"""The ASGI application: FastAPI, and Mangum between it and Lambda.

FastAPI routes nothing by itself here: each binding has its own table, because a path like ``/tasks/{id}:cancel`` under
an optional tenant is none that a router knows, and an unknown one must be answered in the protocol's shape. So is
whatever else goes wrong: at the base address in JSON-RPC's, elsewhere in HTTP+JSON's.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI
from mangum import Mangum

from herald import correlation
from herald.bindings import cors, errors, gateway, jsonrpc, rest, trace
from herald.bindings.cors import Cors
from herald.bindings.http import Request, Response
from herald.bindings.jsonrpc import JsonRpc
from herald.bindings.proxy import RestApi
from herald.bindings.rest import Rest
from herald.bindings.service import Service
from herald.operations.answer import MAX_BYTES, weight
from herald.protocol import codec
from herald.protocol.errors import A2AError, InternalError, MethodNotAllowedError, ParseError
from herald.protocol.version import EXTENSIONS_HEADER

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Page = Callable[[Request], Response]
LambdaHandler = Callable[[dict[str, Any], Any], dict[str, Any]]

_EXTENSIONS = EXTENSIONS_HEADER.lower().encode()


class Front:
    """The ASGI endpoint in front of both bindings and the documents that anyone may read."""

    def __init__(self, service: Service, documents: Mapping[str, Page], allowed: Cors) -> None:
        self._service = service
        self._jsonrpc = JsonRpc(service)
        self._rest = Rest(service)
        self._documents = documents
        self._cors = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        request = Request(scope["method"], scope["path"])
        try:
            request = _request(scope, await _body(receive))
            request = replace(request, traceparent=trace.traceparent(request.headers, self._service.ids))
            correlation.note(traceparent=request.traceparent)
            response = await self._answer(request)
            if _weight(response.body) > MAX_BYTES:
                response = _too_large(response, request)
        except Exception:
            logger.exception("a request failed")
            response = _refusal(errors.internal(request.id), request)
        milliseconds = round((time.perf_counter() - began) * 1000)
        logger.info("answered", extra={**response.note, "status": response.status, "milliseconds": milliseconds})
        headers = [(b"content-type", response.media_type.encode())]
        if request.path not in self._documents and (in_use := self._service.in_use(request)):
            headers.append((_EXTENSIONS, ", ".join(in_use).encode()))
        told = self._cors.added_to(response.headers, request)
        headers += [(name.encode(), value.encode()) for name, value in told.items()]
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if request.method == "HEAD" else response.body})

    async def _answer(self, request: Request) -> Response:
        if answer := self._cors.preflight(request):
            return answer
        if request.path == "/":
            if request.method == "POST":
                return await self._jsonrpc(request)
            return _refusal(MethodNotAllowedError("Use POST at this path.", metadata={"allow": "POST"}), request)
        if page := self._documents.get(request.path):
            return page(request)
        return await self._rest(request)


def application(service: Service, documents: Mapping[str, Page], allowed: Cors = cors.OFF) -> FastAPI:
    """The application, without FastAPI's own pages. ``documents`` are pages by path."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    # A route's pattern would leave some paths to Starlette's own 404 and redirects, a line break in one for instance.
    app.router.default = Front(service, documents, allowed)
    return app


def handler(app: FastAPI) -> LambdaHandler:
    """The function's handler for REST API events. It never raises: an event that Mangum can't read is answered."""
    logging.getLogger("mangum").setLevel(logging.WARNING)  # it logs each request too
    asyncio.set_event_loop(_loop())
    # A REST API without binary media types would hand base64 to the client. All that we answer is text, so the media
    # types that Mangum may take for text are those with a slash.
    mangum = Mangum(app, lifespan="off", custom_handlers=[RestApi], text_mime_types=["/"])

    def handle(event: dict[str, Any], context: Any) -> dict[str, Any]:
        asyncio.set_event_loop(_loop())  # where Mangum looks for one
        try:
            answer: dict[str, Any] = mangum(event, context)
        except ParseError as error:
            return _as_lambda(_refusal(error, Request(event["httpMethod"], gateway.path(event))))
        except Exception:
            logger.exception("an event could not be read")
            return _as_lambda(rest.refusal(errors.internal(request_id(event)), Request("", "")))
        return answer

    return handle


def _as_lambda(response: Response) -> dict[str, Any]:
    return {
        "statusCode": response.status,
        "headers": {"content-type": response.media_type},
        "multiValueHeaders": {},
        "body": response.body.decode(),
        "isBase64Encoded": False,
    }


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
        headers[name] = f"{headers[name]}, {value}" if value and headers.get(name) else value or headers.get(name, "")
    return Request(
        method=scope["method"],
        path=scope["path"] or "/",
        query=dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)),
        headers=headers,
        body=body,
        context=event.get("requestContext") or {},
        id=request_id(event),
    )


def _refusal(error: A2AError, request: Request) -> Response:
    """An error in the shape of the binding that is served at a request's path."""
    return jsonrpc.refusal(error) if request.path == "/" else rest.refusal(error, request)


def _weight(body: bytes) -> int:
    """Bytes of a body as Lambda passes it on, as far as they may matter."""
    return len(body) if len(body) * 6 < MAX_BYTES else weight(body.decode())


def _too_large(response: Response, request: Request) -> Response:
    error = InternalError(
        "The task is larger than the 6 MB that one answer can carry: ask with a smaller historyLength, list it without "
        "includeArtifacts, or take its artifacts from notifications."
    )
    operation = str(response.note.get("operation", ""))
    if request.path == "/":
        return jsonrpc.refusal(error, codec.loads(request.body)["id"], operation)
    return rest.refusal(error, request, operation)
