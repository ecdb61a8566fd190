"""When a failed notification is sent again, and when a webhook is given up: tables and one pure decision.

What the receiver can't help, our own faults, never comes here: it counts against nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus

DNS_ERROR = "dns_error"
NO_ROUTE = "no_route"
CONNECTION_REFUSED = "connection_refused"  # refused, reset, or closed without an answer
CONNECT_TIMEOUT = "connect_timeout"
TLS_ERROR = "tls_error"
READ_TIMEOUT = "read_timeout"
BAD_ANSWER = "bad_answer"  # an answer that isn't HTTP, or whose headers don't end
SSRF_BLOCKED = "ssrf_blocked"
HTTP_3XX = "http_3xx"
HTTP_4XX = "http_4xx"
HTTP_5XX = "http_5xx"
GONE = "gone"
OWN_FAULT = "own_fault"
DELIVERED = "delivered"

# Seconds to wait after the nth failure in a row: 12 attempts within 47 h 43 min.
DELAYS = (5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 36_000, 36_000, 36_000)
JITTER = 0.2  # a delay is multiplied by 0.8 to 1.2
MAX_ATTEMPTS = len(DELAYS) + 1
LONGEST_HIDE = 600  # seconds; a longer wait is left to the due index

BLOCKED_DELAYS = (60, 300)  # after a refusal by the SSRF guard: three attempts within 10 minutes
MAX_BLOCKED = len(BLOCKED_DELAYS) + 1

DISABLED_BY_RECEIVER = "disabled by the receiver: it answered webhook-delivery: disable"

MAX_RETRY_AFTER = 6 * 3_600
OVERLOAD_SECONDS = 60  # the least to wait when a receiver shows that it is overloaded
_OVERLOADED_STATUS = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT})
_OVERLOADED_OUTCOME = frozenset({CONNECT_TIMEOUT, READ_TIMEOUT})


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one attempt ended: ``delivered`` or a failure class."""

    name: str
    status: int = 0  # HTTP status; 0 when there was no answer
    milliseconds: int = 0
    head: str = field(default="", repr=False)  # head of the response, at most 4 KiB
    retry_after: float | None = None  # seconds, as the receiver asked
    disable: bool = False  # the receiver asked for silence

    @property
    def delivered(self) -> bool:
        return self.name == DELIVERED


@dataclass(frozen=True, slots=True)
class Wait:
    """Try again after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Disable the webhook, for this reason."""

    reason: str


def outcome_of_status(status: int) -> str:
    """The class of an answer. Only 200 to 299 is a success; a redirect is never followed."""
    if status == HTTPStatus.GONE:
        return GONE
    return {2: DELIVERED, 3: HTTP_3XX, 4: HTTP_4XX, 5: HTTP_5XX}.get(status // 100, BAD_ANSWER)


def decide(outcome: Outcome, failures: int, blocked: int, random: Callable[[], float]) -> Wait | GiveUp:
    """What follows a failure.

    Args:
        failures: failures in a row, this one included.
        blocked: refusals by the SSRF guard in a row, this one included.
        random: a number from 0 to 1.
    """
    if outcome.name == GONE:
        return GiveUp("gone: the receiver answered 410")
    if outcome.disable:
        return GiveUp(DISABLED_BY_RECEIVER)
    if outcome.name == SSRF_BLOCKED and blocked >= MAX_BLOCKED:
        return GiveUp(f"ssrf_blocked: its URL was refused {MAX_BLOCKED} times")
    if failures >= MAX_ATTEMPTS:
        return GiveUp(f"exhausted: {failures} attempts in a row failed, the last one with {outcome.name}")
    delays = BLOCKED_DELAYS if outcome.name == SSRF_BLOCKED else DELAYS
    step = blocked if outcome.name == SSRF_BLOCKED else failures
    seconds = delays[step - 1] * (1 + JITTER * (2 * random() - 1))
    if outcome.name in _OVERLOADED_OUTCOME or outcome.status in _OVERLOADED_STATUS:
        seconds = max(seconds, OVERLOAD_SECONDS)
    if outcome.retry_after is not None:
        seconds = max(seconds, min(outcome.retry_after, MAX_RETRY_AFTER))
    return Wait(seconds)


def retry_after(text: str | None, now: int) -> float | None:
    """Seconds that a Retry-After header asks for, in either of its forms (RFC 9110 section 10.2.3); None if unreadable.

    Args:
        now: milliseconds since 1970.
    """
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
        at = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, at - now / 1000)
