"""The same two calls on a2a-sdk's own server: tasks in memory, JSON-RPC, called in-process as an ASGI application."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable
from typing import Any

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.context import ServerCallContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, Artifact, Message, Part, Role, Task, TaskState, TaskStatus
from starlette.applications import Starlette

from bench.quick import cpu_ms

Call = Callable[[], bytes]


class _Submits(AgentExecutor):
    """Makes the task and leaves it there, as Herald's SendMessage does."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        await event_queue.enqueue_event(
            Task(
                id=context.task_id,
                context_id=context.context_id,
                status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
                history=[context.message] if context.message else [],
            )
        )

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:  # noqa: ARG002
        return None


def _post(app: Starlette, loop: asyncio.AbstractEventLoop, body: bytes) -> bytes:
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/",
        "raw_path": b"/",
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json"), (b"a2a-version", b"1.0")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    sent: list[bytes] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    loop.run_until_complete(app(scope, receive, send))
    return b"".join(sent)


def calls() -> tuple[Call, Call, Callable[[], None]]:
    """SendMessage (returnImmediately) and GetTask of a task with 20 entries, and what closes the loop after them."""
    card = AgentCard(name="bench", description="bench", version="1", capabilities=AgentCapabilities())
    store = InMemoryTaskStore()
    handler = DefaultRequestHandler(agent_executor=_Submits(), task_store=store, agent_card=card)
    app = Starlette(routes=create_jsonrpc_routes(handler, rpc_url="/"))
    loop = asyncio.new_event_loop()
    task = Task(
        id="t",
        context_id="c",
        status=TaskStatus(state=TaskState.TASK_STATE_WORKING),
        history=[Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="hi")])],
        artifacts=[Artifact(artifact_id=f"a{n}", parts=[Part(text="x" * 500)]) for n in range(18)],
    )
    loop.run_until_complete(store.save(task, ServerCallContext()))
    number = 0

    def send() -> bytes:
        nonlocal number
        number += 1
        message = {"messageId": f"m{number}", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
        params = {"message": message, "configuration": {"returnImmediately": True}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
        return _post(app, loop, json.dumps(body).encode())

    def get() -> bytes:
        return _post(app, loop, b'{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}')

    return send, get, loop.close


def main() -> None:
    logging.disable()
    send, get, _ = calls()
    sent, got = cpu_ms([send, get])
    print(json.dumps({"send": sent, "get": got}), flush=True)
    os._exit(0)  # the server leaves tasks of its own behind; nothing waits for them


if __name__ == "__main__":
    main()
