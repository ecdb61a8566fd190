"""The settlement: what was owed to each webhook against what arrived, and whether the stack is as it was before.

Pure: facts in, figures and faults out. Whatever the soak is to prove can fail here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

OK = "ok"  # answered 2xx, in time
GROWTH_BYTES = 24 * 2**20  # of one process from the middle of a run to its end; less is the allocator's
GROWTH_SHARE = 0.25
GROWTH_FILES = 8
GROWN_UP = 10.0  # seconds; a younger process is still loading its code


@dataclass(frozen=True, slots=True)
class Arrival:
    """A POST as a receiver took it.

    ``answer`` is OK, or the name of the fault that the receiver made of it.
    """

    hook: str  # path of the webhook's URL
    key: str  # of the webhook, from webhook-id
    number: int  # of the log entry
    at: float  # seconds since 1970
    digest: str  # SHA-256 of the body
    unverified: str  # what is wrong with its signatures; "" when both hold
    answer: str = OK


@dataclass(frozen=True, slots=True)
class Owed:
    """A webhook as the table has it in the end, and what its receiver should have had."""

    hook: str
    key: str
    created_at: int  # ms since 1970
    snapshot: int  # number of the first notification, a fold of the log
    stored_at: Mapping[int, int]  # number -> ms since 1970, in the log's order: all that is owed
    digests: Mapping[int, str]  # number -> SHA-256 of the stored text; a snapshot has none
    state: str  # of the webhook
    cursor: int
    failures: int  # in a row
    next_attempt_at: int  # ms since 1970; 0 when none is planned
    at_rest: bool  # nothing is due for it any more


@dataclass(frozen=True, slots=True)
class Left:
    """What is left behind when all is delivered."""

    doorbells: int  # waiting, in flight or hidden
    dead_letters: int
    open_tasks: int
    failed_tasks: int


@dataclass(frozen=True, slots=True)
class Process:
    """A process at one moment."""

    pid: int
    name: str
    memory: int  # resident bytes
    files: int  # open file descriptors, sockets among them
    sockets: int
    age: float  # seconds since it was started


@dataclass(frozen=True, slots=True)
class Fault:
    """What must not be: a kind, and where it was seen."""

    kind: str
    what: str


@dataclass(slots=True)
class Settlement:
    """Figures and faults of a run."""

    figures: dict[str, int] = field(default_factory=dict)
    repeats: Counter[str] = field(default_factory=Counter)  # explained by which fault of the receiver's -> how often
    faults: list[Fault] = field(default_factory=list)

    @property
    def verdict(self) -> Literal["passed", "failed"]:
        return "failed" if self.faults else "passed"


def settle(owed: Sequence[Owed], arrivals: Iterable[Arrival], hooks: Iterable[str], left: Left) -> Settlement:
    """Hold the arrivals against what was owed.

    Args:
        owed: the webhooks that are stored.
        arrivals: in the order in which they came.
        hooks: the webhooks whose registration was answered with success; each must be stored.
    """
    found = Settlement()
    of: dict[str, list[Arrival]] = {}
    for arrival in arrivals:
        of.setdefault(arrival.hook, []).append(arrival)
    stored = {webhook.hook for webhook in owed}
    found.faults += [Fault("webhook missing", hook) for hook in sorted(set(hooks) - stored)]
    found.faults += [Fault("unknown webhook", hook) for hook in sorted(set(of) - stored)]
    for webhook in owed:
        found.faults += _of_one(webhook, of.get(webhook.hook, []), found.repeats)
    found.faults += list(_left(left))
    everything = [arrival for those in of.values() for arrival in those]
    found.figures.update(
        webhooks=len(owed),
        owed=sum(len(webhook.stored_at) for webhook in owed),
        delivered=len({(arrival.hook, arrival.key, arrival.number) for arrival in everything if arrival.answer == OK}),
        posts=len(everything),
        verified=sum(not arrival.unverified for arrival in everything),
        refused=sum(arrival.answer != OK for arrival in everything),
        repeats=found.repeats.total(),
        longest_row_of_failures=max(map(_longest_row, of.values()), default=0),
    )
    return found


def _of_one(webhook: Owed, arrivals: Sequence[Arrival], repeats: Counter[str]) -> Iterator[Fault]:
    taken = {arrival.number for arrival in arrivals if arrival.answer == OK}
    lost = [number for number in webhook.stored_at if number not in taken]
    if lost:
        yield Fault("lost", f"{webhook.hook}: {_numbers(lost)}{_why(webhook)}")
    if not webhook.at_rest:
        yield Fault("not at rest", f"{webhook.hook}: {webhook.state}, cursor {webhook.cursor}{_why(webhook)}")
    last: Arrival | None = None
    highest = -1
    for arrival in arrivals:
        place = f"{webhook.hook}: {arrival.number}"
        if arrival.unverified:
            yield Fault("unverified", f"{place}: {arrival.unverified}")
        if arrival.key != webhook.key or arrival.number not in webhook.stored_at:
            yield Fault("never owed", place)
        elif webhook.digests.get(arrival.number, arrival.digest) != arrival.digest:
            yield Fault("changed", f"{place}: its body isn't what is stored")
        if arrival.number < highest:
            yield Fault("reordered", f"{place} after {highest}")
        if last is not None and last.number == arrival.number:
            if last.answer == OK:
                yield Fault("unexplained repeat", f"{place}: it had been answered with success")
            else:
                repeats[last.answer] += 1
            if last.digest != arrival.digest:
                yield Fault("changed", f"{place}: an earlier attempt had another body")
        elif last is not None and last.answer != OK and arrival.number > last.number:
            yield Fault("reordered", f"{place} came though {last.number} hadn't been taken")
        highest = max(highest, arrival.number)
        last = arrival


def _why(webhook: Owed) -> str:
    if webhook.next_attempt_at:
        return (
            f" ({webhook.state}, {webhook.failures} failures in a row, the next attempt is planned: drain for longer)"
        )
    return f" ({webhook.state})"


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:5]))
    return f"{shown} …, {len(numbers)} in all" if len(numbers) > 5 else shown


def _longest_row(arrivals: Sequence[Arrival]) -> int:
    longest = row = 0
    for arrival in arrivals:
        row = 0 if arrival.answer == OK else row + 1
        longest = max(longest, row)
    return longest


def _left(left: Left) -> Iterator[Fault]:
    for count, kind in (
        (left.doorbells, "doorbells left in the queue"),
        (left.dead_letters, "dead letters"),
        (left.open_tasks, "tasks that haven't ended"),
        (left.failed_tasks, "tasks that haven't ended well"),
    ):
        if count:
            yield Fault(kind, str(count))


def growth(middle: Sequence[Process], end: Sequence[Process], stores: str) -> Iterator[Fault]:
    """Processes that live from the middle of a run to its end, and hold much more then.

    Args:
        stores: name of the one that keeps all data in memory, and three pipes for each function's process: only its
            sockets are judged.
    """
    before = {process.pid: process for process in middle}
    for after in end:
        then = before.get(after.pid)
        if then is None or then.age < GROWN_UP:
            continue
        grown = after.memory - then.memory
        judged = after.name != stores
        if judged and grown > GROWTH_BYTES and grown > then.memory * GROWTH_SHARE:
            yield Fault("memory grew", f"{after.name}: {then.memory >> 20} MB, then {after.memory >> 20} MB")
        if judged and after.files - then.files > GROWTH_FILES:
            yield Fault("open files grew", f"{after.name}: {then.files}, then {after.files}")
        elif after.sockets - then.sockets > GROWTH_FILES:
            yield Fault("sockets grew", f"{after.name}: {then.sockets}, then {after.sockets}")


def latencies(owed: Sequence[Owed], arrivals: Iterable[Arrival]) -> list[float]:
    """Seconds from storing an entry, or from making the webhook if that came later, to the first arrival; sorted."""
    stored = {
        (webhook.hook, number): max(at, webhook.created_at) / 1000
        for webhook in owed
        for number, at in webhook.stored_at.items()
    }
    first: dict[tuple[str, int], float] = {}
    for arrival in arrivals:
        first.setdefault((arrival.hook, arrival.number), arrival.at)
    return sorted(max(0.0, at - stored[place]) for place, at in first.items() if place in stored)


def quantile(sorted_values: Sequence[float], share: float) -> float:
    """The value below which this share lies; 0 of nothing."""
    if not sorted_values:
        return 0.0
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * share))]
