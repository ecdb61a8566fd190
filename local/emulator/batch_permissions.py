"""SendMessageBatch and its like: AWS asks for the permission of the single call, sqs:SendMessage.

MiniStack asks for sqs:SendMessageBatch, which no policy can grant, since IAM knows no such action.
"""

from __future__ import annotations

from typing import Any

from ministack.core import iam_actions


def apply() -> None:
    extract = iam_actions.extract_iam_action

    def of_single_call(*args: Any, **more: Any) -> Any:
        action = extract(*args, **more)
        return action.removesuffix("Batch") if action and action.startswith("sqs:") else action

    iam_actions.extract_iam_action = of_single_call
