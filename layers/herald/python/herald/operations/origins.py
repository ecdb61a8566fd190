"""How many origins the webhooks of one owner may point at, so that nobody makes Herald knock at the doors of many.

An origin (scheme, host and port) is reserved before a webhook is stored, until the webhook's task expires and a week
more: so an origin in steady use is written once a week, and one that nobody uses any more falls away by itself. All
origins of an owner are one item, changed on the condition that it hasn't changed since it was read: of any number of
registrations at once, as many get through as there is room for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from herald.ports import Clock, Unavailable, Usage
from herald.protocol.errors import invalid
from herald.records import Caller, OriginsInUse

WEEK = 7 * 86_400  # seconds
KNOWN_SECONDS = 600  # for which this process relies on what it has read
MOST_KNOWN = 10_000  # origins that one process remembers
TRIES = 5  # of a change that others were quicker with

_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Origins:
    """The limit on an owner's webhook origins, and what this process knows to be reserved."""

    usage: Usage
    clock: Clock
    limit: int
    _known: dict[tuple[Caller, str], tuple[int, int]] = field(default_factory=dict, init=False, repr=False)

    def reserve(self, owner: Caller, url: str, expires_second: int, path: str) -> None:
        """Let webhooks of this owner point at the URL's origin until ``expires_second`` at least.

        Args:
            path: of the config in the request, for the field's name in an error.

        Raises:
            InvalidParamsError: the owner's webhooks point at as many other origins as they may.
            Unavailable: the table didn't answer, or the owner's origins are being changed too often.
        """
        origin, now = origin_of(url), self.clock.now() // 1000
        until, relied_on = self._known.get((owner, origin), (0, 0))
        if until >= expires_second and relied_on > now:
            return None
        for _ in range(TRIES):
            before = self.usage.origins(owner)
            living = {name: until for name, until in before.until.items() if until > now}
            if origin not in living and len(living) >= self.limit:
                raise invalid(
                    f"{path}url",
                    f"is of another origin than the {self.limit:,} that your webhooks point at, which is the most that "
                    "an owner's may: use one of those, or wait until no task of one of them is left",
                )
            if living.get(origin, 0) >= expires_second:
                return self._remember(owner, origin, living[origin])
            living[origin] = expires_second + WEEK
            if self.usage.replace_origins(before, OriginsInUse(owner, living, before.revision + 1)):
                return self._remember(owner, origin, living[origin])
        raise Unavailable("the origins of an owner's webhooks are being changed too often")

    def _remember(self, owner: Caller, origin: str, until: int) -> None:
        if len(self._known) >= MOST_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[owner, origin] = until, self.clock.now() // 1000 + KNOWN_SECONDS


def origin_of(url: str) -> str:
    """``https://hooks.example.com`` of a URL that was checked: its scheme, host and port, but not the scheme's own."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = "" if parts.port in (None, _PORTS[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"
