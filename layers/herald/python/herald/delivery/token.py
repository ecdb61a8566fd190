"""Bearer tokens for receivers: what goes into Authorization where a webhook names the scheme Bearer and no credentials.

A JWT (RFC 7519) that vouches for the one POST it travels in. It has no ``aud``, and its ``iat`` lies a little in the
past: the A2A receivers that exist refuse the one, and a time that is ahead of their clock.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from herald.ports import TokenSigner
from herald.records import Webhook

EARLIER = 5  # seconds by which iat lies before the attempt: the receiver's clock may be behind
LIFETIME = 300  # seconds from iat to exp
CLAIMS = ("iat", "exp", "iss", "jti", "taskId", "request_body_sha256")


@dataclass(frozen=True, slots=True)
class BearerTokens:
    """Makes tokens, each with one signature of KMS.

    ``base_url`` is the API's public address. It is the issuer, followed by the tenant if there is one: the address
    whose ``/.well-known/jwks.json`` holds the key, and what tells one tenant's notifications from another's, since
    they share the key.
    """

    signer: TokenSigner
    base_url: str

    def issue(self, webhook: Webhook, message_id: str, second: int, body: bytes) -> str:
        """The token for one attempt, which is made at ``second`` and sends ``body``.

        Raises:
            Unavailable: KMS doesn't answer.
            LookupError: the key is gone or disabled.
        """
        issued = second - EARLIER
        tenant = webhook.ref.tenant
        claims = {
            "iat": issued,
            "exp": issued + LIFETIME,
            "iss": f"{self.base_url}/{quote(tenant, safe='')}" if tenant else self.base_url,
            "jti": message_id,
            "taskId": webhook.ref.task_id,
            "request_body_sha256": hashlib.sha256(body).hexdigest(),
        }
        header = {"alg": "RS256", "kid": self.signer.kid, "typ": "JWT"}
        content = f"{_part(header)}.{_part(claims)}"
        return f"{content}.{_base64url(self.signer.sign(content.encode()))}"


def _part(of: Mapping[str, object]) -> str:
    return _base64url(json.dumps(of, separators=(",", ":")).encode())


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
