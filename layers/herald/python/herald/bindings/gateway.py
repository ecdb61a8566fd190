"""What API Gateway tells about a request: its path, who signed it, where the API can be reached."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal
from urllib.parse import unquote

from herald.protocol.errors import UnauthenticatedError

AuthMode = Literal["iam", "none"]
ANONYMOUS = "anonymous"

_VARIABLE = re.compile(r"\{([^}+]+)\+?\}")


def path(event: Mapping[str, Any]) -> str:
    """The path below stage and base path, percent-decoded.

    It is made of the resource that matched and its variables: ``path`` itself begins with the base path on a custom
    domain and doesn't elsewhere, and no prefix test can tell the one from the other.
    """
    resource: str = event.get("resource") or ""
    variables: Mapping[str, str] = event.get("pathParameters") or {}
    if not resource:
        return unquote(event.get("path") or "") or "/"
    return unquote(_VARIABLE.sub(lambda found: variables.get(found[1]) or "", resource)) or "/"


def owner(mode: AuthMode, context: Mapping[str, Any]) -> str:
    """Who calls, from the verified facts of requestContext alone.

    Under IAM it is the principal's unique id. Of a role it is the part of ``identity.user`` before the colon: what
    follows is the name of a session, which changes. Of a federated user the account's number stands before the colon,
    and the user after it, so both are needed.

    Raises:
        UnauthenticatedError: nobody signed the request.
    """
    if mode == "none":
        return ANONYMOUS
    user = (context.get("identity") or {}).get("user") or ""
    principal: str = user.partition(":")[0]
    if not principal:
        raise UnauthenticatedError("Sign the request with AWS Signature Version 4, service execute-api.")
    return str(user) if principal.isdigit() else principal


def public_url(template: str, region: str) -> Callable[[Mapping[str, Any]], str]:
    """The base address of the API for a requestContext, without a slash at its end.

    Args:
        template: as set by the operator; may hold {apiId}, {stage} and {region}. "" is the API's own address.
        region: of this function.
    """
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    text = template or f"https://{{apiId}}.execute-api.{{region}}.{suffix}/{{stage}}"

    def base(context: Mapping[str, Any]) -> str:
        values = {"apiId": context.get("apiId", ""), "stage": context.get("stage", ""), "region": region}
        return _VARIABLE.sub(lambda found: str(values.get(found[1], found[0])), text).rstrip("/")

    return base
