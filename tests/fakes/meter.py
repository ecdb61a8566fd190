"""What was counted, as it was told."""

from __future__ import annotations

from dataclasses import dataclass, field

from herald.metrics import Metric


@dataclass
class FakeMeter:
    """Counts by name. ``written`` is what a flush has let through."""

    told: list[tuple[str, float]] = field(default_factory=list)
    written: list[tuple[str, float]] = field(default_factory=list)

    def add(self, metric: Metric, value: float = 1, outcome: str = "") -> None:
        self.told.append((f"{metric.name}:{outcome}" if outcome else metric.name, value))

    def flush(self) -> None:
        self.written += self.told
        self.told.clear()
