"""The other two axes of the matrix, and what must stand in the table after a cell's faults: first match wins.

The expectations are literals. Nothing here is computed by the code under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from faults.receivers import Kind
from herald.records import WebhookState

# ------------------------------------------------------------------------------------------------ our own death ----

BEFORE_POST: Final = "before the POST"
AFTER_POST: Final = "after the POST"
BEFORE_RECORD: Final = "before the attempt record"
BEFORE_CURSOR: Final = "before the cursor"
BEFORE_ACKNOWLEDGEMENT: Final = "before the acknowledgement"
NO_DEATH: Final = "alive"

DEATHS = (NO_DEATH, BEFORE_RECORD, BEFORE_POST, AFTER_POST, BEFORE_CURSOR, BEFORE_ACKNOWLEDGEMENT)

# --------------------------------------------------------------------------------------------------- AWS errors ----

# The sender's calls in their order: the webhook and its log are read, a failure is recorded, the result is stored, and
# the doorbell is hidden.
WEBHOOK, LOG, RECORD, RESULT, HIDE = "read webhook", "read log", "record attempt", "store result", "hide doorbell"

THROTTLED, SILENT, UNHEARD = "throttled", "timeout without effect", "timeout with effect"

NO_ERROR: Final = "no AWS error"
# botocore tries again after a timeout; where the first try had its effect, the second meets its condition.
RETRIED: Final = "timeout with effect, tried again: store result"
# Another sender, woken by a doubled doorbell, delivers and stores first: the condition of our update fails.
OVERTAKEN: Final = "conditional check: store result"


def at(what: str, *calls: str) -> frozenset[str]:
    return frozenset(f"{what}: {call}" for call in calls)


ERRORS = (
    NO_ERROR,
    *(f"{what}: {call}" for call in (WEBHOOK, LOG, RECORD, RESULT, HIDE) for what in (THROTTLED, SILENT)),
    *(f"{UNHEARD}: {call}" for call in (RECORD, RESULT, HIDE)),
    RETRIED,
    OVERTAKEN,
)

# -------------------------------------------------------------------------------------------------- what stands ----


@dataclass(frozen=True)
class Standing:
    """The webhook right after its first doorbell was answered (or its sender died of it)."""

    state: WebhookState
    cursor: int
    recorded: int  # attempt records
    failures: int  # counted in the webhook
    waits: bool = False  # the next attempt lies within the row's bounds


UNTOUCHED = Standing(WebhookState.ACTIVE, 0, 0, 0)
RECORDED = Standing(WebhookState.ACTIVE, 0, 1, 0)
FAILING = Standing(WebhookState.FAILING, 0, 1, 1, waits=True)
DISABLED = Standing(WebhookState.DISABLED, 0, 1, 1)
BY_ANOTHER_AFTER_A_FAILURE = Standing(WebhookState.ACTIVE, 3, 1, 0)
MOVED = Standing(WebhookState.ACTIVE, 1, 0, 0)
HUSHED = Standing(WebhookState.DISABLED, 1, 0, 0)
DONE = Standing(WebhookState.ACTIVE, 3, 0, 0)

ANY_DEATH = frozenset(DEATHS)
ANY_ERROR = frozenset(ERRORS)
ANY_KIND: frozenset[Kind] = frozenset({"delivered", "hushed", "fails", "gives up", "blocked", "own fault"})
BAD: frozenset[Kind] = frozenset({"fails", "gives up", "blocked"})
GOOD: frozenset[Kind] = frozenset({"delivered", "hushed"})

NO_EFFECT = at(THROTTLED, RECORD) | at(SILENT, RECORD)
NOT_STORED = at(THROTTLED, RESULT) | at(SILENT, RESULT)

RULES: list[tuple[frozenset[Kind], frozenset[str], frozenset[str], Standing]] = [
    # What dies or fails before anything was written leaves everything as it was.
    (ANY_KIND, ANY_DEATH, at(THROTTLED, WEBHOOK, LOG) | at(SILENT, WEBHOOK, LOG), UNTOUCHED),
    (ANY_KIND, frozenset({BEFORE_POST}), ANY_ERROR, UNTOUCHED),
    # Our own fault counts against nobody, and nothing after it is reached.
    (frozenset({"own fault"}), ANY_DEATH, ANY_ERROR, UNTOUCHED),
    (ANY_KIND, frozenset({AFTER_POST}), ANY_ERROR, UNTOUCHED),
    # A failure: record, then result.
    (BAD, frozenset({BEFORE_RECORD}), ANY_ERROR, UNTOUCHED),
    (BAD, ANY_DEATH, NO_EFFECT, UNTOUCHED),
    (BAD, ANY_DEATH, at(UNHEARD, RECORD), RECORDED),
    (BAD, frozenset({BEFORE_CURSOR}), ANY_ERROR, RECORDED),
    (BAD, ANY_DEATH, NOT_STORED, RECORDED),
    (BAD, ANY_DEATH, frozenset({OVERTAKEN}), BY_ANOTHER_AFTER_A_FAILURE),
    (frozenset({"gives up"}), ANY_DEATH, ANY_ERROR, DISABLED),
    (frozenset({"fails", "blocked"}), ANY_DEATH, ANY_ERROR, FAILING),
    # A success: the result alone.
    (GOOD, frozenset({BEFORE_CURSOR}), ANY_ERROR, UNTOUCHED),
    (GOOD, ANY_DEATH, NOT_STORED, UNTOUCHED),
    (GOOD, ANY_DEATH, frozenset({OVERTAKEN}), DONE),
    (frozenset({"hushed"}), ANY_DEATH, ANY_ERROR, HUSHED),
    (frozenset({"delivered"}), ANY_DEATH, at(UNHEARD, RESULT), MOVED),
    (frozenset({"delivered"}), ANY_DEATH, ANY_ERROR, DONE),
]


def standing(kind: Kind, death: str, error: str) -> Standing:
    return next(
        stands for kinds, deaths, errors, stands in RULES if kind in kinds and death in deaths and error in errors
    )


# ------------------------------------------------------------------------------------------- what comes of it ----

# Faults after which a notification that the receiver has taken comes once more: its being taken isn't stored.
REPEATING_DEATHS = frozenset({AFTER_POST, BEFORE_CURSOR})
REPEATING_ERRORS = NOT_STORED | {OVERTAKEN}

# Faults after which nothing tells of a failed attempt: it is as if it hadn't been made.
FORGETTING = frozenset({AFTER_POST, BEFORE_RECORD}) | NO_EFFECT


def most_duplicates(death: str, error: str) -> int:
    """Of one notification, as the receiver sees it: one for each fault that strikes between POST and cursor."""
    return (death in REPEATING_DEATHS) + (error in REPEATING_ERRORS)


def duplicates(kind: Kind, death: str, error: str) -> int | None:
    """Exactly, where a single fault strikes; None where there are two."""
    if death != NO_DEATH and error != NO_ERROR:
        return None
    # A failure is sent again anyway, and the fault is spent by then.
    return 0 if kind in BAD else most_duplicates(death, error)


def recorded_in_the_end(kind: Kind, death: str, error: str) -> int:
    """Attempt records when all is delivered."""
    return int(kind in BAD and death not in FORGETTING and error not in FORGETTING)
