"""Operations that this agent doesn't offer; its card says so, or offers no way to say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from herald.operations.call import Call
from herald.protocol.errors import UnsupportedOperationError


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Answers every call with UnsupportedOperationError and a sentence that says what to use instead."""

    sentence: str

    async def __call__(self, call: Call, request: Any) -> NoReturn:  # noqa: ARG002 - the shape of an operation
        raise UnsupportedOperationError(self.sentence)
