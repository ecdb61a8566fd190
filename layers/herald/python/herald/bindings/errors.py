"""The one error table in both shapes (A2A specification sections 5.4, 9.5 and 11.6)."""

from __future__ import annotations

from typing import Any

from herald.protocol.errors import A2AError, InternalError, UnavailableError

DOMAIN = "a2a-protocol.org"
ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"

# JSON-RPC clients map errors by code and take a status of 400 and above for a failure of the transport; so only what
# concerns the transport leaves 200. (405 is for what is no JSON-RPC request at all.)
_TRANSPORT = frozenset({401, 403, 405, 413, 429})


def details(error: A2AError) -> list[dict[str, Any]]:
    """``error.data`` and ``error.details``: an ErrorInfo, and a BadRequest where fields are wrong."""
    info: dict[str, Any] = {"@type": ERROR_INFO, "reason": error.row.reason, "domain": DOMAIN}
    if error.metadata:
        info["metadata"] = error.metadata
    if not error.violations:
        return [info]
    violations = [{"field": each.field, "description": each.description} for each in error.violations]
    return [info, {"@type": BAD_REQUEST, "fieldViolations": violations}]


def jsonrpc(error: A2AError) -> dict[str, Any]:
    """The ``error`` member of a JSON-RPC response."""
    return {"code": error.row.code, "message": error.message, "data": details(error)}


def jsonrpc_status(error: A2AError) -> int:
    """The HTTP status of a JSON-RPC response."""
    return error.row.status if error.row.status in _TRANSPORT else 200


def rest(error: A2AError) -> dict[str, Any]:
    """A google.rpc.Status, as the HTTP+JSON binding wraps it."""
    row = error.row
    return {
        "error": {"code": row.status, "status": row.grpc, "message": error.message, "details": details(error)},
    }


def headers(error: A2AError) -> dict[str, str]:
    """What an error's response carries beside its body."""
    if "challenge" in error.metadata:
        return {"www-authenticate": error.metadata["challenge"]}
    if error.row.status == 405:
        return {"allow": error.metadata["allow"]}
    if isinstance(error, UnavailableError):
        return {"retry-after": "1"}
    if error.row.status == 429:
        return {"retry-after": "60"}
    return {}


def internal(request_id: str) -> InternalError:
    """The error for a fault of ours: nothing of the exception, but a name to find it by in the log."""
    return InternalError("Internal error", metadata={"correlationId": request_id} if request_id else None)


SEND_AGAIN = (
    "A service behind this agent didn't answer in time. Send the same request again; a message with the same messageId "
    "and content is taken once."
)


def unavailable(sentence: str = SEND_AGAIN) -> UnavailableError:
    """The error for a service behind us that didn't answer."""
    return UnavailableError(sentence)
