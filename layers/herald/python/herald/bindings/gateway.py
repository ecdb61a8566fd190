"""What API Gateway tells about a request: its path, who signed it, where the API can be reached."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal
from urllib.parse import unquote

from herald.protocol.errors import PermissionDeniedError, UnauthenticatedError
from herald.records import Caller
from herald.settings import base_url

AuthMode = Literal["jwt", "iam", "none"]
ANONYMOUS = "anonymous"
BEARER = 'Bearer realm="herald"'

_SLASH = re.compile("%2f", re.IGNORECASE)
_VARIABLE = re.compile(r"\{([^}+]+)\+?\}")


def path(event: Mapping[str, Any]) -> str:
    """The path below stage and base path, each of its segments percent-decoded, but for a slash within one.

    It is made of the resource that matched and its variables: ``path`` itself begins with the base path on a custom
    domain and doesn't elsewhere, and no prefix test can tell the one from the other.
    """
    resource: str = event.get("resource") or ""
    variables: Mapping[str, str] = event.get("pathParameters") or {}
    raw: str = event.get("path") or ""
    if resource:
        raw = _VARIABLE.sub(lambda found: variables.get(found[1]) or "", resource)
    if "%" in raw:  # a slash that was encoded is a part of an id, and never makes another path of it
        raw = unquote(_SLASH.sub("%252F", raw))
    if not raw.isascii():
        raw = raw.encode(errors="replace").decode()  # half a surrogate pair could never be sent back
    return raw or "/"


def caller(mode: AuthMode, context: Mapping[str, Any]) -> Caller:
    """Who calls, from the verified facts of requestContext alone.

    Args:
        mode: ``jwt``: owner and tenant as the authorizer read them from the token's claims. ``iam``: the principal, in
            no tenant. ``none``: the one anonymous owner, in no tenant yet (the request names one, if it likes).

    Raises:
        UnauthenticatedError: nobody is named, or the token has expired.
        PermissionDeniedError: the token lacks a scope.
    """
    return _CALLERS[mode](context)


def _by_token(context: Mapping[str, Any]) -> Caller:
    """What the authorizer found in the token.

    API Gateway keeps the authorizer's answer for some minutes, so whether the token has expired since is looked at
    here, by the gateway's own clock.
    """
    found = context.get("authorizer") or {}
    owner, tenant, missing = found.get("owner"), found.get("tenant") or "", found.get("missing") or ""
    if not (isinstance(owner, str) and owner and isinstance(tenant, str)):
        raise UnauthenticatedError(
            "Send an access token: Authorization: Bearer, and the token.", metadata={"challenge": BEARER}
        )
    expires = found.get("expires")
    if expires and int(context.get("requestTimeEpoch") or 0) >= int(expires) * 1000:
        raise UnauthenticatedError(
            "The access token has expired: get a new one.", metadata={"challenge": f'{BEARER}, error="invalid_token"'}
        )
    if missing:
        challenge = f'{BEARER}, error="insufficient_scope", scope="{missing}"'
        raise PermissionDeniedError(
            f"The access token lacks a scope: get one with {missing}.",
            metadata={"scope": missing, "challenge": challenge},
        )
    return Caller(tenant, owner)


def _by_signature(context: Mapping[str, Any]) -> Caller:
    """The principal's unique id.

    Of a role it is the part of ``identity.user`` before the colon: what follows is the name of a session, which
    changes. Of a federated user the account's number stands before the colon, and the user after it, so both are
    needed.
    """
    user = (context.get("identity") or {}).get("user") or ""
    principal: str = user.partition(":")[0]
    if not principal:
        raise UnauthenticatedError(
            "Sign the request with AWS Signature Version 4, service execute-api.",
            metadata={"challenge": "AWS4-HMAC-SHA256"},
        )
    return Caller("", str(user) if principal.isdigit() else principal)


def _anybody(context: Mapping[str, Any]) -> Caller:  # noqa: ARG001 - the shape of the others
    return Caller("", ANONYMOUS)


_CALLERS: Mapping[AuthMode, Callable[[Mapping[str, Any]], Caller]] = {
    "jwt": _by_token,
    "iam": _by_signature,
    "none": _anybody,
}


def public_url(template: str, region: str) -> Callable[[Mapping[str, Any]], str]:
    """The base address of the API for a requestContext, without a slash at its end.

    Args:
        template: as set by the operator; may hold {apiId}, {stage} and {region}. "" is the API's own address.
        region: of this function.
    """

    def base(context: Mapping[str, Any]) -> str:
        return base_url(template, region, str(context.get("apiId", "")), str(context.get("stage", "")))

    return base
