"""What the official conformance kit expects of an agent: the script that belongs to each messageId prefix.

The kit (a2aproject/a2a-tck) tells an agent what to do by the first letters of a message's id, as its
``scenarios/*.feature`` say. Its own words and file are repeated here where its tests compare them.
"""

from __future__ import annotations

from typing import Any

Script = list[dict[str, Any]]

FILE = {"raw": "dGNr", "mediaType": "text/plain", "filename": "output.txt"}
FILE_URL = {"url": "https://example.com/output.txt", "mediaType": "text/plain", "filename": "output.txt"}
DATA = {"data": {"key": "value", "count": 42}}

RESUBSCRIBED = 4.0  # seconds; twice the kit's streaming timeout


def _artifact(part: dict[str, Any]) -> dict[str, Any]:
    return {"artifact": {"id": "output", "parts": [part]}}


def _stream(*between: dict[str, Any]) -> Script:
    return [{"working": None}, *between, {"complete": None}]


SCRIPTS: dict[str, Script] = {
    # core_operations.feature
    "tck-complete-task": [{"complete": "Hello from TCK"}],
    "tck-artifact-text": [_artifact({"text": "Generated text content"}), {"complete": None}],
    "tck-artifact-file": [_artifact(FILE), {"complete": None}],
    "tck-artifact-file-url": [_artifact(FILE_URL), {"complete": None}],
    "tck-artifact-data": [_artifact(DATA), {"complete": None}],
    "tck-input-required": [{"require_input": "What next?"}],
    "tck-reject-task": [{"reject": "rejected"}],
    # streaming.feature
    "tck-stream-001": _stream(_artifact({"text": "Stream hello from TCK"})),
    "tck-stream-002": [{"complete": None}],
    "tck-stream-003": _stream(_artifact({"text": "Stream task lifecycle"})),
    "tck-stream-ordering-001": _stream(_artifact({"text": "Ordered output"})),
    "tck-stream-artifact-text": _stream(_artifact({"text": "Streamed text content"})),
    "tck-stream-artifact-file": _stream(_artifact(FILE)),
    "tck-stream-artifact-chunked": _stream(
        {"artifact": {"id": "output", "text": "chunk-1 "}},
        {"artifact": {"id": "output", "text": "chunk-2", "append": True, "last": True}},
    ),
    "test-resubscribe-message-id": _stream({"wait": RESUBSCRIBED}),
    # The ids of the kit's other messages; they are about the protocol, and any agent does.
    "tck-": [{"complete": "Nothing special is asked for."}],
}

MESSAGE_RESPONSE = "tck-message-response"
MESSAGE = "Direct message response"


def script(message_id: str) -> Script | None:
    """The script of the longest prefix that this id begins with; None when the message isn't the kit's."""
    found = [prefix for prefix in SCRIPTS if message_id.startswith(prefix)]
    return SCRIPTS[max(found, key=len)] if found else None
