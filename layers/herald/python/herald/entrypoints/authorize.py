"""authorize: API Gateway's question whose a bearer token is in, a policy for the whole stage out.

API Gateway keeps the answer by token, so a policy that named the method asked for would refuse the next one. What is
refused for good is told by a policy, too, so that the same bad token isn't looked at again; its context holds the
sentence that the gateway puts into the 401. A token that lacks a scope is let in: the api function answers 403 in the
binding's own shape, with the scope's name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from herald import metrics
from herald.authorization.refusal import Refused
from herald.authorization.verifier import Verifier
from herald.entrypoints.logs import json_logger
from herald.ports import Meter, Unmetered

logger = json_logger()


class NotNow(Exception):
    """Told to API Gateway by its text, ``Unauthorized``: a 401 that isn't kept."""


def handler_for(
    verifier: Verifier, meter: Meter | None = None
) -> Callable[[dict[str, Any], LambdaContext], dict[str, Any]]:
    """The function's handler, of a TOKEN authorizer.

    It raises where nothing may be kept: ``NotNow`` for a token that may be taken soon, anything else (the issuer's keys
    can't be had) for a fault of ours, which API Gateway answers with its AUTHORIZER_FAILURE.
    """
    counted = meter or Unmetered()

    @logger.inject_lambda_context(log_event=False, clear_state=True)
    def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:  # noqa: ARG001
        stage = _stage(event["methodArn"])
        try:
            caller = verifier.identify(event.get("authorizationToken") or "")
        except Refused as refused:
            logger.info("refused", extra={"reason": refused.reason.name})
            counted.add(metrics.TOKENS_REFUSED)
            counted.flush()
            if not refused.reason.lasting:
                raise NotNow("Unauthorized") from None
            return _answer("nobody", "Deny", stage, {"reason": refused.reason.sentence})
        told = {
            "owner": caller.owner,
            "tenant": caller.tenant,
            "missing": " ".join(caller.missing),
            "expires": str(caller.expires_second),
        }
        return _answer(caller.owner, "Allow", stage, told)

    return handler


def _stage(method_arn: str) -> str:
    """Every method of the stage: ``arn:aws:execute-api:<region>:<account>:<api>/<stage>/*``."""
    api, stage = method_arn.split("/")[:2]
    return f"{api}/{stage}/*"


def _answer(principal: str, effect: str, resource: str, context: dict[str, str]) -> dict[str, Any]:
    statement = {"Effect": effect, "Action": "execute-api:Invoke", "Resource": resource}
    return {
        "principalId": principal,
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "context": context,
    }
