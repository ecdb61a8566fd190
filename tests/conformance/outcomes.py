"""How the kit's tests went, and what of it was expected."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# What the kit calls a transport, in the order of the summary; "" for what is one for all: the Agent Card and the data
# model. gRPC is no binding of Herald's.
BINDINGS = {"jsonrpc": "JSON-RPC", "http_json": "HTTP+JSON", "": "Card, model"}

OUTCOMES = ("passed", "failed", "skipped")


@dataclass(frozen=True)
class Outcome:
    """One test of the kit's.

    Attributes:
        test: its id below the kit's tests/compatibility/.
        binding: one of BINDINGS.
        level: must, should or may; "" where the kit doesn't say.
        outcome: one of OUTCOMES. A SHOULD or MAY that isn't met has failed, too, although the kit lets it pass.
        reason: what the kit says of a failure or a skip.
    """

    test: str
    binding: str
    level: str
    outcome: str
    reason: str


def read(file: Path) -> list[Outcome]:
    """What the plugin wrote, without the tests of transports that Herald doesn't have."""
    told = [Outcome(**row) for row in json.loads(file.read_text(encoding="utf-8"))]
    return [outcome for outcome in told if outcome.binding in BINDINGS]


@dataclass(frozen=True)
class Verdict:
    """A run, held against the failures that are known.

    Attributes:
        known: for each test of ``outcomes`` that may fail, why.
    """

    outcomes: Sequence[Outcome]
    known: Mapping[str, str]

    def failed(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.outcome == "failed"]

    def unexpected(self) -> list[Outcome]:
        """The failures that nobody has named."""
        return [outcome for outcome in self.failed() if outcome.test not in self.known]

    def silent(self) -> list[str]:
        """The bindings of which nothing passed, as if nothing had been asked."""
        passed = {outcome.binding for outcome in self.outcomes if outcome.outcome == "passed"}
        return [name for binding, name in BINDINGS.items() if binding not in passed]

    def outlived(self) -> list[str]:
        """The tests that are known to fail and pass."""
        return [outcome.test for outcome in self.outcomes if outcome.test in self.known and outcome.outcome == "passed"]

    @property
    def good(self) -> bool:
        return not self.unexpected() and not self.silent()

    def lines(self) -> list[str]:
        """The summary for a person."""
        return [*self._figures(), *self._failures(), *self._skips(), *self._surprises()]

    def _figures(self) -> list[str]:
        counted = Counter((outcome.binding, outcome.outcome) for outcome in self.outcomes)
        rows = [
            f"{name:12}" + "".join(f"{counted[binding, outcome]:9}" for outcome in OUTCOMES)
            for binding, name in BINDINGS.items()
        ]
        return [" " * 12 + "".join(f"{outcome:>9}" for outcome in OUTCOMES), *rows]

    def _failures(self) -> list[str]:
        found = []
        for outcome in self.failed():
            why = self.known.get(outcome.test)
            said = f"known: {why}" if why else f"NOT EXPECTED: {outcome.reason}"
            found += [f"  {BINDINGS[outcome.binding]}, {outcome.level.upper()}: {outcome.test}", f"    {said}"]
        return ["", "Failed", *found] if found else []

    def _skips(self) -> list[str]:
        reasons = Counter(outcome.reason for outcome in self.outcomes if outcome.outcome == "skipped")
        return (
            ["", "Skipped", *(f"  {count:3}  {reason}" for reason, count in reasons.most_common())] if reasons else []
        )

    def _surprises(self) -> list[str]:
        said = [f"Nothing passed for {name}: something stands in the way of the whole run." for name in self.silent()]
        said += [f"Passes, although it is known to fail: {test}" for test in self.outlived()]
        return ["", *said] if said else []
