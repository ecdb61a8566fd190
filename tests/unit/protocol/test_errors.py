"""The error table (section 5.4)."""

from __future__ import annotations

import pytest

from herald.protocol import errors
from herald.protocol.errors import A2AError, FieldViolation

ROWS = {
    "TaskNotFoundError": (-32001, 404, "TASK_NOT_FOUND"),
    "TaskNotCancelableError": (-32002, 400, "TASK_NOT_CANCELABLE"),
    "PushNotificationNotSupportedError": (-32003, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    "UnsupportedOperationError": (-32004, 400, "UNSUPPORTED_OPERATION"),
    "ContentTypeNotSupportedError": (-32005, 400, "CONTENT_TYPE_NOT_SUPPORTED"),
    "InvalidAgentResponseError": (-32006, 500, "INVALID_AGENT_RESPONSE"),
    "ExtendedAgentCardNotConfiguredError": (-32007, 400, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
    "ExtensionSupportRequiredError": (-32008, 400, "EXTENSION_SUPPORT_REQUIRED"),
    "VersionNotSupportedError": (-32009, 400, "VERSION_NOT_SUPPORTED"),
}


@pytest.mark.parametrize("name", list(ROWS))
def test_e15_the_nine_a2a_errors(name: str) -> None:
    row = getattr(errors, name).row
    assert (row.code, row.status, row.reason) == ROWS[name]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("ParseError", -32700),
        ("InvalidRequestError", -32600),
        ("MethodNotFoundError", -32601),
        ("InvalidParamsError", -32602),
        ("InternalError", -32603),
    ],
)
def test_the_json_rpc_errors(name: str, code: int) -> None:
    assert getattr(errors, name).row.code == code


def test_no_two_kinds_of_error_have_one_reason() -> None:
    reasons = [kind.row.reason for kind in A2AError.__subclasses__()]
    assert len(reasons) == len(set(reasons))


def test_one_wrong_field_as_an_error() -> None:
    error = errors.invalid("message.messageId", "must not be empty")
    assert str(error) == error.message == "message.messageId: must not be empty"
    assert error.violations == (FieldViolation("message.messageId", "must not be empty"),)
    assert error.metadata == {}
