"""Notifications that many receivers would refuse for their size: one ``url`` part tells where the parts are.

What is sent must be equal on every attempt, for two days, while an address that S3 presigns is good for hours. So the
address is one of ours, sealed, and leads on to one that is presigned when somebody asks for it. It is made once: the
notification as it would have been, and the one that is sent, are kept beside the task, and whoever comes second sends
what the first one kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from herald.delivery.message import MAX_BODY, Notification
from herald.ports import KeptBodies, Sealer
from herald.protocol import codec
from herald.records import Webhook

PATH = "/notification"  # of the API; the sealed name follows in its query
PLACE = "notification"  # what a sealed name is bound to
MEDIA_TYPE = "application/a2a+json"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shortening:
    """Makes large notifications short. ``base_url`` is the API's address, as receivers reach it."""

    kept: KeptBodies
    sealer: Sealer
    base_url: str

    def short(self, webhook: Webhook, notification: Notification) -> Notification:
        """The notification itself up to 1 MiB; above, the same with an address in the place of its parts.

        Raises:
            Unavailable: the bucket or the sealing secret doesn't answer.
        """
        if len(notification.body) <= MAX_BODY:
            return notification
        event = codec.loads(notification.body.decode())
        kind = next(iter(event))
        name, expires = f"{notification.number:012d}-{kind}", webhook.expires_second
        whole = self.kept.keep(webhook.ref, f"{name}-whole", notification.body, expires)
        part = {
            "url": f"{self.base_url}{PATH}?of={self.sealer.seal(whole, PLACE)}",
            "mediaType": MEDIA_TYPE,
            "metadata": {"sha256": hashlib.sha256(notification.body).hexdigest(), "bytes": len(notification.body)},
        }
        for put_away in _largest_first(event):
            put_away(part)
            body = codec.dumps(event).encode()
            if len(body) <= MAX_BODY:
                break
        else:
            return notification  # it is large for something that isn't parts
        return replace(notification, body=self.kept.get(self.kept.keep(webhook.ref, f"{name}-sent", body, expires)))


def _largest_first(event: Json) -> Iterator[Callable[[Json], None]]:
    """What puts a part in the place of parts, for each list of parts in an event, the largest list first."""
    found = sorted(_with_parts(event), key=lambda holder: len(codec.dumps(holder["parts"])), reverse=True)
    for holder in found:
        yield lambda part, holder=holder: holder.__setitem__("parts", [part])  # type: ignore[misc]


def _with_parts(event: Json) -> Iterator[Json]:
    """The artifacts and the message of an event: whatever has parts."""
    for content in event.values():
        yield from content.get("artifacts", ())
        if "artifact" in content:
            yield content["artifact"]
        if "message" in content.get("status", {}):
            yield content["status"]["message"]
