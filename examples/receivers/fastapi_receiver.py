"""A webhook's receiver to copy: every profile at a path of its own, and everything dealt with once.

pip install fastapi uvicorn herald_webhooks-0.1.0-py3-none-any.whl
JWKS_URL=https://agent.example/.well-known/jwks.json uvicorn fastapi_receiver:app
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse

from herald.webhooks import Jwks, Notification, Reason, VerificationError, verify, verify_jwt

MAX_BODY = 2_000_000  # bytes; the agent sends 1 MiB at most

# From the Agent Card, or from whoever runs the agent: never from a notification.
JWKS_URL = os.environ["JWKS_URL"]
ISSUER = JWKS_URL.removesuffix("/.well-known/jwks.json")  # of JWTs: the address that the keys are published under
SECRET = os.environ.get("WEBHOOK_SECRET", "")  # whsec_…, the token that the webhook was registered with

app = FastAPI()
keys = Jwks(JWKS_URL, allow_loopback="ALLOW_LOOPBACK" in os.environ)
seen: set[str] = set()  # in real life a table with a unique key, written in one transaction with what you do


def handle(notification: Notification) -> None:
    print(notification.number, notification.kind, notification.task_id, flush=True)


async def raw_body(request: Request) -> bytes | None:
    """The very bytes that came: parsed and printed again, they wouldn't fit the signature. None for too many."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY:
            return None
    return bytes(body)


async def receive(request: Request, check: Callable[..., Notification], **how: Any) -> Response:
    body = await raw_body(request)
    if body is None:
        return PlainTextResponse("too large", status_code=413)
    try:
        notification = await asyncio.to_thread(check, body, request.headers, **how)  # it may have to load the keys
    except VerificationError as error:
        return PlainTextResponse(error.reason, status_code=503 if error.reason is Reason.KEYS_UNAVAILABLE else 400)
    if notification.id not in seen:
        handle(notification)
        seen.add(notification.id)
    return Response(status_code=204)


@app.post("/hook")
async def by_the_agents_key(request: Request) -> Response:
    """v1a: for every webhook."""
    return await receive(request, verify, jwks=keys)


@app.post("/hook/secret")
async def by_our_secret(request: Request) -> Response:
    """v1: for a webhook that was registered with a whsec_ token."""
    return await receive(request, verify, secret=SECRET)


@app.post("/hook/jwt")
async def by_a_token(request: Request) -> Response:
    """JWT: for a webhook that was registered with the scheme Bearer and no credentials."""
    return await receive(request, verify_jwt, jwks=keys, issuer=ISSUER)
