"""A request and a response as the bindings see them, whatever server is in front."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from herald.protocol.errors import RequestTooLargeError, UnsupportedMediaTypeError

JSON = "application/json"
A2A_JSON = "application/a2a+json"
MAX_BODY = 4 * 1024 * 1024  # bytes; Lambda takes 6 MB at most


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request.

    Attributes:
        path: below stage and base path, percent-decoded; at least "/".
        query: the last value of each parameter.
        headers: by lower-case name; a header that came twice is joined by commas.
        context: API Gateway's requestContext; empty in front of another server.
        id: names this request in logs and in the error for a fault of ours.
        traceparent: the trace that it belongs to, as the bindings found it or made it.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    context: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    traceparent: str = ""

    @property
    def media_type(self) -> str:
        """Of the body: lower-case, without parameters; "" when the client named none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def json_bytes(self) -> bytes:
        """The body, to be read as JSON.

        Raises:
            UnsupportedMediaTypeError: it is something else by its Content-Type or Content-Encoding. A body without a
                Content-Type is taken for JSON.
            RequestTooLargeError: it is above 4 MiB.
        """
        if self.body and self.media_type not in ("", JSON, A2A_JSON):
            raise UnsupportedMediaTypeError(f"Content-Type must be {JSON} or {A2A_JSON}.")
        if self.headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
            raise UnsupportedMediaTypeError("Content-Encoding isn't supported: send the JSON as it is.")
        if len(self.body) > MAX_BODY:
            raise RequestTooLargeError(
                "The request is larger than 4 MiB: put large content behind a URL and send a url part."
            )
        return self.body


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP response. ``note`` is what is logged about it: names and codes, never content."""

    status: int
    media_type: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    note: Mapping[str, str | int] = field(default_factory=dict)
