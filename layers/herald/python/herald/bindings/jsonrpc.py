"""The JSON-RPC binding (A2A specification section 9): POST to the base address, with or without a slash at its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from herald.bindings import errors
from herald.bindings.http import JSON, Request, Response
from herald.bindings.service import Service
from herald.protocol import codec
from herald.protocol.errors import A2AError, InvalidParamsError, InvalidRequestError, MethodNotFoundError

METHODS = (
    "SendMessage",
    "SendStreamingMessage",
    "GetTask",
    "ListTasks",
    "CancelTask",
    "SubscribeToTask",
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
    "GetExtendedAgentCard",
)
"""The route table: each method is the operation of its name."""


@dataclass(frozen=True, slots=True)
class JsonRpc:
    """Answers one JSON-RPC request; batches and notifications aren't part of A2A."""

    service: Service

    async def __call__(self, request: Request) -> Response:
        request_id: Any = None
        method = ""
        try:
            caller = self.service.authenticate(request)
            envelope = _object(codec.loads(request.json_bytes()))
            request_id = _id(envelope)
            method, params = self._read(envelope, request)
            result = await self.service.run(method, caller, params, request)
        except A2AError as error:
            body = {"jsonrpc": "2.0", "id": request_id, "error": errors.jsonrpc(error)}
            note = {"binding": "JSONRPC", "operation": method, "error": error.row.reason}
            return _response(errors.jsonrpc_status(error), body, note, errors.headers(error))
        note = {"binding": "JSONRPC", "operation": method}
        return _response(200, {"jsonrpc": "2.0", "id": request_id, "result": result}, note)

    def _read(self, envelope: dict[str, Any], request: Request) -> tuple[str, dict[str, Any]]:
        if envelope.get("jsonrpc") != "2.0":
            raise InvalidRequestError('"jsonrpc" must be "2.0".')
        method = envelope.get("method")
        if not isinstance(method, str):
            raise InvalidRequestError('"method" must be the name of a method, like "SendMessage".')
        self.service.check_parameters(request)
        if method not in METHODS:
            raise MethodNotFoundError(f"There is no such method. A2A 1.0 has: {', '.join(METHODS)}.")
        params = envelope.get("params")
        if params is None:
            params = {}
        if not isinstance(params, dict):
            raise InvalidParamsError('"params" must be an object.')
        return method, params


def _object(envelope: Any) -> dict[str, Any]:
    if not isinstance(envelope, dict):
        raise InvalidRequestError("A request is one JSON object; A2A has no batches.")
    return envelope


def _id(envelope: dict[str, Any]) -> str | int | float | None:
    if "id" not in envelope:
        raise InvalidRequestError('"id" is missing: A2A has no notifications, so nothing was done.')
    found = envelope["id"]
    if found is None or (isinstance(found, str | int | float) and not isinstance(found, bool)):
        return found
    raise InvalidRequestError('"id" must be a string, a number or null.')


def _response(
    status: int, body: dict[str, Any], note: Mapping[str, str | int], headers: dict[str, str] | None = None
) -> Response:
    return Response(status, JSON, codec.dumps(body).encode(), headers or {}, note)
