"""Did everything arrive, once each, in order, and genuine? The arithmetic behind the demo's last line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

_MESSAGE_ID = re.compile(r"msg_(?P<key>[A-Za-z0-9_-]+)_(?P<number>\d{12})")


@dataclass(frozen=True, slots=True)
class Seen:
    """A notification as it arrived.

    Attributes:
        message_id: its ``webhook-id``.
        event: the StreamResponse; {} when the body isn't one.
        faults: what the signature checks found wrong, by check ("v1", "v1a"); "" where one holds.
        arrived_at: milliseconds since 1970.
    """

    message_id: str
    event: dict[str, Any]
    faults: dict[str, str]
    arrived_at: int

    @property
    def number(self) -> int:
        """The number of the log entry that it tells of; -1 when the id holds none."""
        found = _MESSAGE_ID.fullmatch(self.message_id)
        return int(found["number"]) if found else -1

    @property
    def key(self) -> str:
        """The webhook that it was sent for."""
        found = _MESSAGE_ID.fullmatch(self.message_id)
        return found["key"] if found else ""

    @property
    def verified(self) -> bool:
        return bool(self.faults) and not any(self.faults.values())

    @property
    def state(self) -> str:
        """The state that it tells, "" when it tells none."""
        for kind in ("task", "statusUpdate"):
            if kind in self.event:
                return str(self.event[kind].get("status", {}).get("state", ""))
        return ""


@dataclass(frozen=True, slots=True)
class Balance:
    """What arrived against what should have.

    Attributes:
        notifications: how many arrived; one that came twice counts once, as "at least once" allows.
        verified: how many of them hold every signature check, on every arrival.
        repeats: arrivals beyond the first of a notification.
        disordered: numbers that arrived after a higher one.
        missing: numbers that the log has to send and that didn't arrive.
        unexpected: numbers that arrived and that the log doesn't send.
        webhooks: how many webhooks the ids name; more than one is a fault.
    """

    notifications: int
    verified: int
    repeats: int
    disordered: Sequence[int]
    missing: Sequence[int]
    unexpected: Sequence[int]
    webhooks: int

    @property
    def good(self) -> bool:
        clean = not (self.disordered or self.missing or self.unexpected)
        return clean and self.notifications == self.verified > 0 and self.webhooks == 1

    @property
    def line(self) -> str:
        """The demo's last line."""
        order = "out of order" if self.disordered else "in order"
        return (
            f"demo: {self.notifications} notifications, {self.verified} verified, {order}, {len(self.missing)} missing"
        )


def settle(seen: Sequence[Seen], to_send: Iterable[int]) -> Balance:
    """Weigh what arrived, in the order of arrival, against the numbers that the task's log has to send."""
    expected = set(to_send)
    first: dict[str, Seen] = {}
    genuine: dict[str, bool] = {}
    disordered: list[int] = []
    highest = -1
    for one in seen:
        if one.number < highest:
            disordered.append(one.number)
        highest = max(highest, one.number)
        first.setdefault(one.message_id, one)
        genuine[one.message_id] = genuine.get(one.message_id, True) and one.verified
    numbers = {one.number for one in first.values()}
    return Balance(
        notifications=len(first),
        verified=sum(genuine.values()),
        repeats=len(seen) - len(first),
        disordered=disordered,
        missing=sorted(expected - numbers),
        unexpected=sorted(numbers - expected),
        webhooks=len({one.key for one in first.values()}),
    )
