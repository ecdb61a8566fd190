"""One JSON logger for a function, and for every module below ``herald``."""

from __future__ import annotations

from aws_lambda_powertools import Logger


def json_logger() -> Logger:
    """The logger ``herald``: what ``logging.getLogger("herald.…")`` logs comes out as JSON, with the request's id.

    Handlers say ``log_event=False``, for otherwise a variable could have them log events, and with those what clients
    said and the URLs of their webhooks.
    """
    return Logger(service="herald", utc=True, use_rfc3339=True)
