"""Gateway responses name what an authorizer said: AWS fills in $context.authorizer.<key>, of a denied request too.

MiniStack leaves the variable as it stands.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Any

from ministack.services import apigateway_v1

VARIABLE = re.compile(rb"\$context\.authorizer\.(\w+)")

_said: ContextVar[dict[str, str] | None] = ContextVar("said", default=None)


def apply() -> None:
    evaluate, deny, render = (
        apigateway_v1._evaluate_policy,
        apigateway_v1._deny_error,
        apigateway_v1._gateway_error_response,
    )

    def evaluate_and_note(policy: Any, method_arn: str) -> Any:
        """A policy is judged right after it was kept, with what was said beside it."""
        kept = apigateway_v1._authorizer_cache.values()
        _said.set(next((context for _, document, context in kept if document is policy), {}))
        return evaluate(policy, method_arn)

    def deny_with_context(explicit: bool) -> Any:
        error = deny(explicit)
        error.authorizer = _said.get() or {}
        return error

    def render_all(error: Any, request: Any) -> Any:
        status, headers, body = render(error, request)
        said = getattr(error, "authorizer", {})
        return status, headers, VARIABLE.sub(lambda found: said.get(found[1].decode(), "").encode(), body)

    apigateway_v1._evaluate_policy = evaluate_and_note
    apigateway_v1._deny_error = deny_with_context
    apigateway_v1._gateway_error_response = render_all
