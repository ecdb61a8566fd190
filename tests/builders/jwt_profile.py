"""Tokens of the JWT profile, made by an independent package: as our sender makes them, and as it never would."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm


@dataclass(frozen=True)
class TokenKey:
    """An RSA key with its name."""

    kid: str = "rsa-1"
    private: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65_537, 2_048), repr=False)

    @property
    def jwk(self) -> dict[str, Any]:
        made: dict[str, Any] = RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        public = {name: made[name] for name in ("kty", "n", "e")}
        return {**public, "kid": self.kid, "use": "sig", "alg": "RS256"}

    def token(self, message_id: str, body: bytes, now: int, **changes: Any) -> str:
        """For one attempt, at ``now`` in seconds. A change to None leaves a claim out."""
        claims = {
            "iat": now - 5,
            "exp": now - 5 + 300,
            "iss": "https://agent.example",
            "jti": message_id,
            "taskId": task_of(body),
            "request_body_sha256": hashlib.sha256(body).hexdigest(),
            **changes,
        }
        told = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(told, self.private, algorithm="RS256", headers={"kid": self.kid})


def task_of(body: bytes) -> str:
    [(kind, content)] = json.loads(body).items()
    return str(content["id" if kind == "task" else "taskId"])
