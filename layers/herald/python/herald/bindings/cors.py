"""CORS (the Fetch standard, section 3.3): which scripts of other sites may call this agent and read its answers.

Nobody's, unless the operator says so. No cookies and no other ambient credentials are ever taken (Herald reads
``Authorization`` only, which a script must have), so ``*`` gives nothing away that its sender didn't bring.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from herald.bindings.http import JSON, Request, Response
from herald.protocol.version import EXTENSIONS_HEADER, VERSION_HEADER

ANY = "*"
METHODS = "GET, HEAD, POST, DELETE, OPTIONS"
REQUEST_HEADERS = ", ".join(
    (
        VERSION_HEADER,
        EXTENSIONS_HEADER,
        "Authorization",
        "Content-Type",
        "If-None-Match",
        "traceparent",
        # What a SigV4 signature brings along.
        "X-Amz-Content-Sha256",
        "X-Amz-Date",
        "X-Amz-Security-Token",
    )
)
RESPONSE_HEADERS = ", ".join((EXTENSIONS_HEADER, "ETag", "Retry-After", "WWW-Authenticate"))
MAX_AGE = 3_600  # seconds for which a browser needn't ask again

_ORIGIN = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Cors:
    """The origins whose scripts may read answers: ``{"*"}`` is all of them, none turns CORS off."""

    origins: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``*``, or origins like ``https://app.example.com`` separated by commas; nothing for none.

        Raises:
            ValueError: names the part that is no origin.
        """
        parts = [part.strip().lower() for part in text.split(",") if part.strip()]
        for part in parts:
            if not _ORIGIN.fullmatch(part) and parts != [ANY]:
                raise ValueError(f"{part!r} isn't an origin such as https://app.example.com, nor is it * by itself")
        return cls(frozenset(parts))

    def headers(self, request: Request) -> dict[str, str]:
        """What an answer carries, whatever it is; nothing while CORS is off."""
        if not self.origins:
            return {}
        if ANY in self.origins:
            return {"access-control-allow-origin": ANY, "access-control-expose-headers": RESPONSE_HEADERS}
        varies = {"vary": "Origin"}  # for caches, also where this answer has nothing for its origin
        if not self._allows(request):
            return varies
        return {
            "access-control-allow-origin": request.headers["origin"],
            "access-control-expose-headers": RESPONSE_HEADERS,
            **varies,
        }

    def added_to(self, headers: Mapping[str, str], request: Request) -> dict[str, str]:
        """An answer's own headers with these beside them; it varies by what either says."""
        added = self.headers(request)
        varies = ", ".join(told["vary"] for told in (headers, added) if "vary" in told)
        return {**headers, **added, **({"vary": varies} if varies else {})}

    def preflight(self, request: Request) -> Response | None:
        """The answer to a browser that asks before it calls, which it does without credentials; None for all else."""
        asks = request.method == "OPTIONS" and "access-control-request-method" in request.headers
        if not (asks and self._allows(request)):
            return None
        headers = {
            "access-control-allow-methods": METHODS,
            "access-control-allow-headers": REQUEST_HEADERS,
            "access-control-max-age": str(MAX_AGE),
        }
        return Response(204, JSON, b"", headers, {"operation": "preflight"})

    def _allows(self, request: Request) -> bool:
        origin = request.headers.get("origin", "")
        return bool(origin) and (ANY in self.origins or origin.lower() in self.origins)


OFF = Cors()
