"""Finding the adopter's ``agent/reply.py``: the only code of the adopter's that the API ever imports.

Example, for an agent that greets without a task:

    from uuid import uuid4

    from herald.protocol.model import Message, Part, Role
    from herald.protocol.requests import SendMessageRequest

    async def reply(request: SendMessageRequest) -> Message | None:
        if request.message.parts[0].text != "hello":
            return None  # anything else becomes a task
        return Message(message_id=str(uuid4()), role=Role.AGENT, parts=[Part(text="Hello!")])
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

from herald.operations.send_message import Reply


class ReplyNotLoaded(Exception):
    """``agent/reply.py`` is there but can't be used; the message says why."""


def load() -> Reply | None:
    """The adopter's ``reply``, or None where the agent layer has no ``reply.py``.

    The package ``agent`` isn't imported to find that out.

    Raises:
        ReplyNotLoaded: the module can't be imported, or has no function ``reply``.
    """
    package = importlib.util.find_spec("agent")
    folders = list(package.submodule_search_locations or []) if package else []
    if not any(Path(folder, "reply.py").is_file() for folder in folders):
        return None
    try:
        module = importlib.import_module("agent.reply")
    except Exception as error:
        raise ReplyNotLoaded(f"importing agent/reply.py failed: {type(error).__name__}: {error}") from error
    reply: Reply | None = getattr(module, "reply", None)
    if not callable(reply):
        raise ReplyNotLoaded("agent/reply.py must define: async def reply(request) -> Message | None")
    return reply
