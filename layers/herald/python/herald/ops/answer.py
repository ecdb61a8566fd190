"""What a command answers: data for programs, lines for a person, and the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

DONE, FAILED, WRONG, NOT_YET = 0, 1, 2, 3
"""Exit codes: done; AWS failed or refused; wrong arguments or nothing of that name; something is left to be done."""


@dataclass(frozen=True, slots=True)
class Answer:
    """``data`` is what ``--json`` prints, ``lines`` what a person reads."""

    data: Any
    lines: Sequence[str]
    code: int = DONE
    notes: Sequence[str] = field(default=())  # for a person only, on stderr


class Wrong(Exception):
    """The command can't be carried out as it was given; one line that names the way out."""
