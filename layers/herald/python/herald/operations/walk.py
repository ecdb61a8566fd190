"""Where a client is in its walk through a list: what a page token says, sealed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from herald.ports import Listing, Sealer
from herald.protocol import codec
from herald.protocol.errors import InvalidParamsError, invalid
from herald.records import Position

_TOKEN = re.compile(r"[A-Za-z0-9._-]{1,4096}")


@dataclass(frozen=True, slots=True)
class Walk:
    """A place between two tasks of a list.

    Attributes:
        after: the position that the next page begins after. It needn't be a task's.
        total: the list's totalSize, counted when the walk began.
    """

    after: Position
    total: int

    def token(self, sealer: Sealer, listing: Listing) -> str:
        """A page token: fit for a query string as it is, and good for this caller and these filters only."""
        return sealer.seal(codec.dumps([self.after.status_at, self.after.task_id, self.total]), _place(listing))

    @classmethod
    def resume(cls, token: str, sealer: Sealer, listing: Listing) -> Self:
        """What a page token says.

        Raises:
            InvalidParamsError: it isn't one of this caller's and these filters'. A token of somebody else's, of another
                list and one that never was can't be told apart.
        """
        if not _TOKEN.fullmatch(token):
            raise _foreign()
        try:
            status_at, task_id, total = codec.loads(sealer.open(token, _place(listing)))
        except ValueError:
            raise _foreign() from None
        return cls(Position(status_at, task_id), total)


def _place(listing: Listing) -> str:
    """What a token is bound to. An object, so that it is no place of a webhook's secrets, which is an array."""
    return codec.dumps(
        {
            "list": [listing.caller.tenant, listing.caller.owner],
            "contextId": listing.context_id,
            "states": sorted(listing.states),
            "since": listing.since,
        }
    )


def _foreign() -> InvalidParamsError:
    return invalid(
        "pageToken", "isn't one of this list's: begin again without it, or send the filters that it came with"
    )
