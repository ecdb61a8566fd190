"""Where a receiver finds the whole of a notification that was sent with an address in the place of its parts."""

from __future__ import annotations

from herald.bindings import caching
from herald.bindings.http import JSON, Request, Response
from herald.bindings.rest import refusal
from herald.delivery.large import PLACE
from herald.ports import KeptBodies, Sealer, Unavailable
from herald.protocol.errors import MethodNotAllowedError, MethodNotFoundError, UnavailableError

LINK_SECONDS = 300


class NotificationPage:
    """Leads whoever has the sealed name on to the bucket: nobody else can make one.

    The address that is presigned here is good for five minutes; the one that leads here for as long as the task is
    retained, or until the key that sealed it is gone.
    """

    def __init__(self, kept: KeptBodies, sealer: Sealer) -> None:
        self._kept = kept
        self._sealer = sealer

    def __call__(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            error = MethodNotAllowedError("Use GET, HEAD at this path.", metadata={"allow": "GET, HEAD"})
            return refusal(error, request, "GetNotification")
        try:
            key = self._sealer.open(request.query.get("of", ""), PLACE)
        except ValueError:
            return refusal(MethodNotFoundError("There is no such notification."), request, "GetNotification")
        except Unavailable:
            return refusal(UnavailableError("Send the same request again."), request, "GetNotification")
        headers = {"location": self._kept.link(key, LINK_SECONDS), **caching.NOT_KEPT}
        return Response(303, JSON, b"", headers, {"operation": "GetNotification"})
