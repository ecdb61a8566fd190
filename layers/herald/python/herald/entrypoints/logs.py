"""One JSON logger for a function, and for every module below ``herald``."""

from __future__ import annotations

from aws_lambda_powertools import Logger


def json_logger() -> Logger:
    """The logger ``herald``: what ``logging.getLogger("herald.…")`` logs comes out as JSON, with the request's id."""
    return Logger(service="herald", utc=True, use_rfc3339=True)
