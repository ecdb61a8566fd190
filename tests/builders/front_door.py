"""API Gateway in one process: what a client sends becomes an event, what the function answers a response.

``Transport`` is for httpx, ``Session`` for requests.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl

import httpx
import requests
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPResponse

from builders.events import rest_event

Json = dict[str, Any]
Handle = Callable[[Json], Json]
Pairs = Iterable[tuple[str, str]]


def event(method: str, target: str, headers: Pairs = (), body: bytes = b"", **more: Any) -> Json:
    """The event of a request as it stands on the wire.

    Args:
        target: path and query, percent-encoded, below the stage.
        more: as in ``rest_event``.
    """
    path, _, search = target.partition("?")
    made = rest_event(method, path or "/", body or None, base64_body=bool(body), **more)
    many: dict[str, list[str]] = {}
    for name, value in headers:
        many.setdefault(name, []).append(value)
    query: dict[str, list[str]] = {}
    for name, value in parse_qsl(search, keep_blank_values=True):
        query.setdefault(name, []).append(value)
    made["headers"] = {name: values[-1] for name, values in many.items()}
    made["multiValueHeaders"] = many
    made["queryStringParameters"] = {name: values[-1] for name, values in query.items()} or None
    made["multiValueQueryStringParameters"] = query or None
    return made


class Transport(httpx.AsyncBaseTransport):
    """For a client of httpx whose base address ends in ``prefix``."""

    def __init__(self, handle: Handle, prefix: str = "/prod", **more: Any) -> None:
        self._handle = handle
        self._prefix = prefix
        self._more = more
        self.answers: list[Json] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        target = request.url.raw_path.decode().removeprefix(self._prefix)
        headers = [(name.decode(), value.decode()) for name, value in request.headers.raw]
        sent = event(request.method, target, headers, await request.aread(), **self._more)
        # A thread of its own: Lambda's has no running event loop either.
        answer = await asyncio.to_thread(self._handle, sent)
        assert answer["isBase64Encoded"] is False
        self.answers.append(answer)
        return httpx.Response(answer["statusCode"], headers=_headers(answer), content=answer["body"].encode())


class Session(requests.Session):
    """For whatever takes a session of requests."""

    def __init__(self, handle: Handle, **more: Any) -> None:
        super().__init__()
        self.headers.clear()
        self.trust_env = False
        for scheme in ("http://", "https://"):
            self.mount(scheme, _Adapter(handle, more))


class _Adapter(BaseAdapter):
    def __init__(self, handle: Handle, more: Json) -> None:
        super().__init__()
        self._handle = handle
        self._more = more

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        body = request.body or b""
        raw = body.encode() if isinstance(body, str) else body
        assert isinstance(raw, bytes)
        headers = [(name, _text(value)) for name, value in request.headers.items()]
        answer = self._handle(event(request.method or "", request.path_url, headers, raw, **self._more))
        assert answer["isBase64Encoded"] is False
        found = _headers(answer)
        response = requests.Response()
        response.status_code = answer["statusCode"]
        response.headers = CaseInsensitiveDict(found)
        response.raw = HTTPResponse(
            io.BytesIO(answer["body"].encode()), found, answer["statusCode"], preload_content=False
        )
        response.encoding = "utf-8"
        response.url = request.url or ""
        response.request = request
        return response

    def close(self) -> None:
        pass


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _headers(answer: Json) -> dict[str, str]:
    joined = {name: ", ".join(values) for name, values in (answer.get("multiValueHeaders") or {}).items()}
    return {**answer["headers"], **joined}
