"""Whether an agent takes a message's parts, by their media types (A2A specification sections 3.1.1 and 3.3.2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from herald.protocol.errors import ContentTypeNotSupportedError, FieldViolation
from herald.protocol.media_types import essence, is_within
from herald.protocol.model import Part

# What a part without a mediaType is. A file without one may be anything: the agent looks at it.
_UNSAID = {"text": "text/plain", "data": "application/json"}


def check(parts: Sequence[Part], modes: Collection[str]) -> None:
    """Refuse a message with a part that the Agent Card doesn't list.

    Args:
        parts: of a message, their media types well-formed.
        modes: lower-case media types and ranges; none: anything is taken.

    Raises:
        ContentTypeNotSupportedError: names the first such part, and what is taken.
    """
    if not modes:
        return
    for number, part in enumerate(parts):
        named = essence(part.media_type) if part.media_type else _UNSAID.get(part.kind)
        if named is None or is_within(named, modes):
            continue
        field, taken = f"message.parts[{number}].mediaType", ", ".join(modes)
        shown = named[:100]
        told = f"{shown} isn't taken by this agent" if part.media_type else f"is missing, which means {shown}"
        raise ContentTypeNotSupportedError(
            f"{field}: {told}. It takes {taken}.",
            violations=[FieldViolation(field, f"must be one of {taken}")],
            metadata={"mediaType": shown, "supportedMediaTypes": taken},
        )
