"""The matrix's figures: how many cells were run, and what came of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Figures:
    """Counts cells by where they ran, by the receiver's kind, and by how often a notification came twice."""

    cells: Counter[tuple[str, str, int]] = field(default_factory=Counter)

    def count(self, place: str, kind: str, duplicates: int) -> None:
        self.cells[place, kind, duplicates] += 1

    def lines(self) -> list[str]:
        """A table: a line for each place and kind, and one for each place in all."""
        found = [f"{'where':14} {'the receiver':14} {'cells':>6} {'no duplicate':>13} {'one':>6} {'two':>6}"]
        for place in sorted({place for place, _, _ in self.cells}):
            kinds = sorted({kind for where, kind, _ in self.cells if where == place})
            found += [self._line(place, kind, {kind}) for kind in kinds]
            found.append(self._line(place, "all of them", set(kinds)))
        return found

    def _line(self, place: str, title: str, kinds: set[str]) -> str:
        by_count = [sum(self.cells[place, kind, times] for kind in kinds) for times in (0, 1, 2)]
        return f"{place:14} {title:14} {sum(by_count):6} {by_count[0]:13} {by_count[1]:6} {by_count[2]:6}"
