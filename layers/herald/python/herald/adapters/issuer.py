"""The documents of an access token's issuer, over HTTPS: small, soon or not at all, and from no other address."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property

import urllib3
from urllib3.exceptions import HTTPError

from herald.ports import Unavailable

MAX_BYTES = 262_144
CONNECT_SECONDS = 2.0
SECONDS = 4.0  # for all of it; the function has ten, and may ask for two documents


class HttpIssuerDocuments:
    """IssuerDocuments over urllib3.

    A redirect isn't followed: keys come from the address that the operator has set, or that the issuer's own discovery
    document names, or not at all.

    Args:
        plain: take http, too; an emulator on this machine speaks nothing else.
    """

    def __init__(self, *, plain: bool = False, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._schemes = ("https://", "http://") if plain else ("https://",)
        self._monotonic = monotonic

    @cached_property
    def _pool(self) -> urllib3.PoolManager:
        return urllib3.PoolManager(maxsize=1, retries=False)

    def read(self, url: str) -> bytes:
        if not url.startswith(self._schemes):
            raise Unavailable("its address doesn't begin with https://")
        end = self._monotonic() + SECONDS
        limits = urllib3.Timeout(connect=CONNECT_SECONDS, read=CONNECT_SECONDS)
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        try:
            answer = self._pool.request(
                "GET", url, headers=headers, timeout=limits, redirect=False, preload_content=False
            )
            try:
                return self._body(answer, end)
            finally:
                answer.close()
        except HTTPError as error:
            raise Unavailable(type(error).__name__) from None

    def _body(self, answer: urllib3.BaseHTTPResponse, end: float) -> bytes:
        if answer.status != 200:
            raise Unavailable(f"status {answer.status}")
        body = b""
        while chunk := answer.read1(MAX_BYTES):
            body += chunk
            if len(body) > MAX_BYTES:
                raise Unavailable(f"more than {MAX_BYTES} bytes")
            if self._monotonic() > end:
                raise Unavailable("too slow")
        return body
