"""A policy on events:PutEvents may look at the events' source: events:source.

MiniStack doesn't tell it, so that a statement with such a condition grants nothing.
"""

from __future__ import annotations

import json
from typing import Any

from ministack.core import iam_actions


def apply() -> None:
    context = iam_actions.request_tag_context

    def with_source(service: str, action: str, body: bytes, params: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = context(service, action, body, params)
        if action != "events:PutEvents":
            return found
        try:
            sources = {entry["Source"] for entry in json.loads(body)["Entries"]}
        except (ValueError, KeyError, TypeError):
            return found
        return found | {"events:source": sources.pop()} if len(sources) == 1 else found

    iam_actions.request_tag_context = with_source
