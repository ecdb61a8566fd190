"""`make token`: an access token of the local issuer, for whoever is named. It is printed, and nothing else.

OWNER is the subject (alice), TENANT the tenant (none), SCOPE the scopes (those that the stack asks for), EXPIRES how
many seconds it lasts (3600); with a negative number it has expired.
"""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey

from local import stack
from local.terminal import LocalError

SECONDS = 3600


def mint(key: Path, issuer: str, owner: str, tenant: str = "", scope: str = stack.SCOPE, seconds: int = SECONDS) -> str:
    """An access token (RFC 9068), signed with the local issuer's key."""
    now = int(time.time())
    claims: dict[str, Any] = {
        "iss": issuer,
        "aud": stack.AUDIENCE,
        "sub": owner,
        "client_id": owner,
        "scope": scope,
        "iat": now,
        "exp": now + seconds,
        "jti": str(uuid.uuid4()),
        **({stack.TENANT_CLAIM: tenant} if tenant else {}),
    }
    private = ECKey.import_key(key.read_bytes())
    header = {"alg": "ES256", "typ": "at+jwt", "kid": private.thumbprint()}
    return jwt.encode(header, claims, private)


def asked(environment: Mapping[str, str]) -> str:
    """The token that OWNER, TENANT, SCOPE and EXPIRES ask for, of the stack that is up.

    Raises:
        LocalError: no stack is up, or it takes no tokens of the local issuer.
    """
    place = stack.place_from(environment)
    if not place.answer.exists():
        raise LocalError("No local stack is up. Start one: make up")
    issuer = json.loads(place.answer.read_text(encoding="utf-8")).get("issuer", "")
    if not issuer.endswith(stack.ISSUER_PATH):
        raise LocalError(
            "This stack takes no tokens of the local issuer. With AUTH=cognito, Cognito hands them out (README.md, Who "
            "may call); AUTH=iam asks for signatures, AUTH=none for nothing."
        )
    seconds = environment.get("EXPIRES") or str(SECONDS)
    if not seconds.removeprefix("-").isdecimal():
        raise LocalError(f"EXPIRES={seconds} isn't a whole number of seconds.")
    return mint(
        place.issuer_key,
        issuer,
        environment.get("OWNER") or "alice",
        environment.get("TENANT", ""),
        environment.get("SCOPE", stack.SCOPE),
        int(seconds),
    )


def main() -> int:
    try:
        print(asked(dict(os.environ)))
    except LocalError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
