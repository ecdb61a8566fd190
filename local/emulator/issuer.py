"""An issuer of access tokens, for this machine alone: its discovery document and its public key, below /_issuer.

The private key is made when the emulator first starts, into a file that only its owner can read; `make token` signs
with it. It is nobody else's, and no stack on AWS knows of it. Beside it lie the public keys of the sample events, whose
private key nobody has any more.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from ministack import app as emulator

PATH = "/_issuer"
SAMPLES = Path(__file__).resolve().parents[2] / "events" / "keys" / "issuer.json"

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


def serve() -> None:
    """Answer below /_issuer, and leave everything else to the emulator."""
    issuer = f"http://localhost:{os.environ['GATEWAY_PORT']}{PATH}"
    jwks = {"keys": [jwk(key(Path(os.environ["ISSUER_KEY"])))]}
    discovery = {
        "issuer": issuer,
        "jwks_uri": f"{issuer}/jwks.json",
        "response_types_supported": ["token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    }
    documents = {
        f"{PATH}/.well-known/openid-configuration": json.dumps(discovery).encode(),
        f"{PATH}/jwks.json": json.dumps(jwks).encode(),
        f"{PATH}/samples.json": SAMPLES.read_bytes(),
    }
    rest = emulator.app

    async def app(scope: Message, receive: Any, send: Send) -> None:
        document = documents.get(scope.get("path", "")) if scope["type"] == "http" else None
        if document is None:
            await rest(scope, receive, send)
            return
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(document)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": document})

    emulator.app = app


def key(file: Path) -> ec.EllipticCurvePrivateKey:
    """The private key in the file, made if there is none yet."""
    if not file.exists():
        made = ec.generate_private_key(ec.SECP256R1())
        pem = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as opened:
            opened.write(pem)
    found = load_pem_private_key(file.read_bytes(), None)
    if not isinstance(found, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{file} holds another kind of key: remove it")
    return found


def jwk(private: ec.EllipticCurvePrivateKey) -> dict[str, str]:
    """Its public half as a JSON Web Key, named by its thumbprint (RFC 7638)."""
    numbers = private.public_key().public_numbers()
    public = {"crv": "P-256", "kty": "EC", "x": _text(numbers.x), "y": _text(numbers.y)}
    thumbprint = hashlib.sha256(json.dumps(public, separators=(",", ":"), sort_keys=True).encode()).digest()
    return {**public, "kid": urlsafe_b64encode(thumbprint).rstrip(b"=").decode(), "use": "sig", "alg": "ES256"}


def _text(number: int) -> str:
    return urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()
