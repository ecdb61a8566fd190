"""What goes wrong in the demo, and the way out."""

from __future__ import annotations

from local import terminal

LOGS = "The functions' log lines may tell more. Bring the stack up (make up), run make demo again, then: make logs"


class DemoError(terminal.LocalError):
    """Something that ends the demo: what it is, and what to do."""

    def __init__(self, what: str, way_out: str = LOGS) -> None:
        super().__init__(what)
        self.way_out = way_out
