"""A handler's exception: AWS names its class as errorType, and a state machine's Retry and Catch match on that.

MiniStack names every one of them Runtime.HandlerError. The class is found at the head of the traceback's last line.
"""

from __future__ import annotations

import re
from typing import Any

from ministack.services import lambda_svc

UNNAMED = "Runtime.HandlerError"
LAST_LINE = re.compile(r"^([A-Za-z_][\w.]*)(?::\s|$)")


def apply() -> None:
    execute = lambda_svc._execute_function_warm

    def named(function: Any, event: Any, request_id: str) -> Any:
        result = execute(function, event, request_id)
        body = result.get("body")
        if result.get("error") and isinstance(body, dict) and body.get("errorType") == UNNAMED:
            body["errorType"] = class_name(result.get("log") or "")
        return result

    lambda_svc._execute_function_warm = named


def class_name(log: str) -> str:
    """The class of the exception whose traceback ends this log."""
    for line in reversed(log.rstrip().splitlines()):
        if found := LAST_LINE.match(line):
            return found.group(1).rsplit(".", 1)[-1]
    return UNNAMED
