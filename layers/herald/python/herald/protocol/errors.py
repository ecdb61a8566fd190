"""The error family and its one table (A2A specification sections 3.3.2 and 5.4).

An error is raised where it is known and mapped once, by a binding. Its message is for a person: it names the field and
the way out, and never holds a secret or an exception's text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One wrong field: a camelCase path like ``message.parts[0].text``, and what is wrong with it."""

    field: str
    description: str


@dataclass(frozen=True, slots=True)
class Row:
    """How one kind of error looks on each binding."""

    code: int  # JSON-RPC error code
    status: int  # HTTP status of the HTTP+JSON binding
    grpc: str  # google.rpc.Code name, the `status` member of the HTTP+JSON error
    reason: str  # google.rpc.ErrorInfo reason


class A2AError(Exception):
    """What a client is told: subclasses are the rows of the table.

    Args:
        message: a sentence for a person, ending with the way out where there is one.
        violations: the wrong fields of a request, for errors about a request's content.
        metadata: string to string, for ErrorInfo, e.g. ``{"taskId": "…"}``.
    """

    row: ClassVar[Row]

    def __init__(
        self,
        message: str,
        *,
        violations: Sequence[FieldViolation] = (),
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.violations = tuple(violations)
        self.metadata = dict(metadata or {})


class TaskNotFoundError(A2AError):
    row = Row(-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND")


class TaskNotCancelableError(A2AError):
    row = Row(-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE")


class PushNotificationNotSupportedError(A2AError):
    row = Row(-32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED")


class UnsupportedOperationError(A2AError):
    row = Row(-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION")


class ContentTypeNotSupportedError(A2AError):
    row = Row(-32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED")


class InvalidAgentResponseError(A2AError):
    row = Row(-32006, 500, "INTERNAL", "INVALID_AGENT_RESPONSE")


class ExtendedAgentCardNotConfiguredError(A2AError):
    row = Row(-32007, 400, "FAILED_PRECONDITION", "EXTENDED_AGENT_CARD_NOT_CONFIGURED")


class ExtensionSupportRequiredError(A2AError):
    row = Row(-32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED")


class VersionNotSupportedError(A2AError):
    row = Row(-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED")


class ParseError(A2AError):
    row = Row(-32700, 400, "INVALID_ARGUMENT", "PARSE_ERROR")


class InvalidRequestError(A2AError):
    row = Row(-32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST")


class MethodNotFoundError(A2AError):
    row = Row(-32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND")


class InvalidParamsError(A2AError):
    row = Row(-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS")


class UnsupportedMediaTypeError(A2AError):
    """The body isn't JSON by its Content-Type; what a message's parts are is ContentTypeNotSupportedError's."""

    row = Row(-32005, 415, "INVALID_ARGUMENT", "UNSUPPORTED_MEDIA_TYPE")


class MethodNotAllowedError(A2AError):
    row = Row(-32600, 405, "UNIMPLEMENTED", "METHOD_NOT_ALLOWED")


class RequestTooLargeError(A2AError):
    row = Row(-32600, 413, "OUT_OF_RANGE", "REQUEST_TOO_LARGE")


class UnauthenticatedError(A2AError):
    row = Row(-32600, 401, "UNAUTHENTICATED", "UNAUTHENTICATED")


class ResourceExhaustedError(A2AError):
    """A limit of the caller's own is reached: the same request may succeed once something of theirs has ended."""

    row = Row(-32603, 429, "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED")


class PermissionDeniedError(A2AError):
    row = Row(-32600, 403, "PERMISSION_DENIED", "PERMISSION_DENIED")


class UnavailableError(A2AError):
    row = Row(-32603, 503, "UNAVAILABLE", "UNAVAILABLE")


class InternalError(A2AError):
    row = Row(-32603, 500, "INTERNAL", "INTERNAL_ERROR")


def invalid(field: str, description: str) -> InvalidParamsError:
    """One wrong field as an error: ``invalid("message.messageId", "must not be empty")``."""
    return InvalidParamsError(f"{field}: {description}", violations=[FieldViolation(field, description)])
