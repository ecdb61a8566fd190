"""GetExtendedAgentCard: the card for callers who have said who they are (A2A specification section 3.1.11)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from herald.operations.call import Call
from herald.protocol.codec import JsonObject
from herald.protocol.errors import ExtendedAgentCardNotConfiguredError, UnsupportedOperationError
from herald.protocol.requests import GetExtendedAgentCardRequest

ExtendedCard = Callable[[str], JsonObject]
"""Makes the extended card for the API's base address."""


@dataclass(frozen=True, slots=True)
class GetExtendedAgentCard:
    """Gives the same card to every caller; bindings let nobody in who isn't authenticated.

    Attributes:
        declared: whether the public card has ``capabilities.extendedAgentCard``.
        card: None when there is none.
    """

    declared: bool
    card: ExtendedCard | None

    async def __call__(self, call: Call, request: GetExtendedAgentCardRequest) -> JsonObject:  # noqa: ARG002
        """The card.

        Raises:
            UnsupportedOperationError: the public card doesn't declare an extended one.
            ExtendedAgentCardNotConfiguredError: it does, but there is none.
        """
        if not self.declared:
            raise UnsupportedOperationError("This agent has no extended card: its card is public.")
        if self.card is None:
            raise ExtendedAgentCardNotConfiguredError("The extended card isn't there. Use the public one.")
        return self.card(call.base_url)
