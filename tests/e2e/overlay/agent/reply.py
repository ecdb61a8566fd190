"""Answers without a task, for the e2e stack: "pong" to a "ping" alone, and what the conformance kit asks for."""

from __future__ import annotations

from uuid import uuid4

from herald.protocol.model import Message, Part, Role
from herald.protocol.requests import SendMessageRequest

from . import scenarios


async def reply(request: SendMessageRequest) -> Message | None:
    """ "pong" to "ping"; anything else becomes a task, but for the kit's messages that want a message."""
    if request.message.message_id.startswith(scenarios.MESSAGE_RESPONSE):
        return _said(scenarios.MESSAGE)
    return _said("pong") if [part.text for part in request.message.parts] == ["ping"] else None


def _said(text: str) -> Message:
    return Message(message_id=str(uuid4()), role=Role.AGENT, parts=[Part(text=text)])
