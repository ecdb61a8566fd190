"""The JSON-RPC binding (A2A specification section 9): POST to the base address, with or without a slash at its end."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from herald.bindings import errors
from herald.bindings.http import JSON, Request, Response
from herald.bindings.service import Service
from herald.protocol import codec
from herald.protocol.errors import A2AError, InvalidParamsError, InvalidRequestError, MethodNotFoundError

logger = logging.getLogger(__name__)

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

MAX_ID = 1_000  # characters of a request's id, as JSON

RequestId = str | int | float | None


@dataclass(frozen=True, slots=True)
class JsonRpc:
    """Answers one JSON-RPC request; batches and notifications aren't part of A2A."""

    service: Service

    async def __call__(self, request: Request) -> Response:
        request_id: RequestId = None
        method = ""
        try:
            caller = self.service.authenticate(request)
            envelope = _object(codec.loads(request.json_bytes()))
            request_id = _id(envelope)
            method, params = self._read(envelope, request)
            result = await self.service.run(method, caller, params, request)
            body = codec.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}).encode()
        except A2AError as error:
            return refusal(error, request_id, method)
        except Exception:
            logger.exception("a request failed", extra={"operation": method})
            return refusal(errors.internal(request.id), request_id, method)
        return Response(200, JSON, body, note={"binding": "JSONRPC", "operation": method})

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


def refusal(error: A2AError, request_id: RequestId = None, method: str = "") -> Response:
    """An error as a response of this binding; ``request_id`` is None where the request has none that can be read."""
    body = {"jsonrpc": "2.0", "id": request_id, "error": errors.jsonrpc(error)}
    note = {"binding": "JSONRPC", "operation": method, "error": error.row.reason}
    return Response(errors.jsonrpc_status(error), JSON, codec.dumps(body).encode(), errors.headers(error), note)


def _object(envelope: Any) -> dict[str, Any]:
    if not isinstance(envelope, dict):
        raise InvalidRequestError("A request is one JSON object; A2A has no batches.")
    return envelope


def _id(envelope: dict[str, Any]) -> RequestId:
    if "id" not in envelope:
        raise InvalidRequestError('"id" is missing: A2A has no notifications, so nothing was done.')
    found = envelope["id"]
    if found is not None and (not isinstance(found, str | int | float) or isinstance(found, bool)):
        raise InvalidRequestError('"id" must be a string, a number or null.')
    if len(codec.dumps(found)) > MAX_ID:  # it comes back in the answer, which has an end as well
        raise InvalidRequestError(f'"id" must be at most {MAX_ID:,} characters long.')
    return found
