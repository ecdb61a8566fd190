"""An answer without a task, for the e2e stack: whoever sends "ping" alone gets "pong"."""

from __future__ import annotations

from uuid import uuid4

from herald.protocol.model import Message, Part, Role
from herald.protocol.requests import SendMessageRequest


async def reply(request: SendMessageRequest) -> Message | None:
    """ "pong" to "ping"; anything else becomes a task."""
    if [part.text for part in request.message.parts] != ["ping"]:
        return None
    return Message(message_id=str(uuid4()), role=Role.AGENT, parts=[Part(text="pong")])
