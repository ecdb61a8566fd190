"""What the fields of a push notification config may hold (A2A specification section 4.3.1).

Numbers are those of docs/webhooks.md.
"""

from __future__ import annotations

import re

from herald.client_secrets import HMAC_PREFIX, Secrets, hmac_key
from herald.protocol.errors import invalid
from herald.protocol.model import TaskPushNotificationConfig

MAX_SECRET = 4_096
MAX_CONFIG_ID = 128

_CONFIG_ID = re.compile(r"[!-.0-~]+")  # a slash would end a path segment of the HTTP+JSON binding
_VISIBLE = re.compile(r"[!-~]+")
_VISIBLE_WITH_SPACES = re.compile(r"[!-~]+( +[!-~]+)*")  # Digest and its like hold several parameters
_SCHEME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")  # a token of RFC 9110


def may_be_id(text: str) -> bool:
    """False for what is no webhook's id, and never gets as far as a key."""
    return len(text) <= MAX_CONFIG_ID and bool(_CONFIG_ID.fullmatch(text))


def config_id(config: TaskPushNotificationConfig, path: str) -> str:
    """A config's id, "" when it has none; ``path`` is where it stands in the request, for the field names of errors.

    Raises:
        InvalidParamsError: it may be no webhook's.
    """
    if config.id and not may_be_id(config.id):
        raise invalid(f"{path}id", f"must be 1 to {MAX_CONFIG_ID} visible ASCII characters, and no slash")
    return config.id


def secrets(config: TaskPushNotificationConfig, path: str) -> Secrets:
    """A config's token and authentication: they are sent as headers, so they must be fit for one.

    Raises:
        InvalidParamsError: names the field.
    """
    return Secrets(
        token=_token(config.token, f"{path}token"),
        scheme=_scheme(config, path),
        credentials=_credentials(config, path),
    )


def _token(token: str, field: str) -> str:
    if not token:
        return ""
    if len(token) > MAX_SECRET or not _VISIBLE.fullmatch(token):
        raise invalid(field, f"must be at most {MAX_SECRET:,} visible ASCII characters, without spaces and line breaks")
    try:
        hmac_key(token)
    except ValueError:
        raise invalid(field, f"must hold base64 of 24 to 64 bytes after {HMAC_PREFIX}") from None
    return token


def _scheme(config: TaskPushNotificationConfig, path: str) -> str:
    if config.authentication is None:
        return ""
    scheme = config.authentication.scheme
    if not _SCHEME.fullmatch(scheme):
        raise invalid(f"{path}authentication.scheme", "must be the name of an HTTP authentication scheme, like Bearer")
    return scheme


def _credentials(config: TaskPushNotificationConfig, path: str) -> str:
    credentials = config.authentication.credentials if config.authentication else ""
    if credentials and (len(credentials) > MAX_SECRET or not _VISIBLE_WITH_SPACES.fullmatch(credentials)):
        raise invalid(
            f"{path}authentication.credentials",
            f"must be at most {MAX_SECRET:,} visible ASCII characters, without line breaks",
        )
    return credentials
