"""Policies on KMS may look at how a key is used: kms:SigningAlgorithm and kms:MessageType.

MiniStack tells a policy neither, so that a statement with such a condition grants nothing.
"""

from __future__ import annotations

import json
from typing import Any

from ministack.core import iam_actions

# Condition key -> the member of the request that it is about.
KEYS = {"kms:SigningAlgorithm": "SigningAlgorithm", "kms:MessageType": "MessageType"}


def apply() -> None:
    context = iam_actions.request_tag_context

    def with_keys(service: str, action: str, body: bytes, params: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = context(service, action, body, params)
        if action not in ("kms:Sign", "kms:Verify"):
            return found
        try:
            sent = json.loads(body)
        except ValueError:
            return found
        defaults = {"MessageType": "RAW"}
        return found | {key: value for key, name in KEYS.items() if (value := sent.get(name, defaults.get(name)))}

    iam_actions.request_tag_context = with_keys
