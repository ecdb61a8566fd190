"""One JSON logger for a function, and for every module below ``herald``; each line says what it is about."""

from __future__ import annotations

import logging

from aws_lambda_powertools import Logger

from herald import correlation


class Correlated(logging.Filter):
    """Adds ``task_id`` and ``trace_id`` to a line that doesn't have them, where they are known. Drops nothing."""

    def filter(self, record: logging.LogRecord) -> bool:
        for name, value in correlation.told().items():
            if not hasattr(record, name):
                setattr(record, name, value)
        return True


_CORRELATED = Correlated()


def json_logger() -> Logger:
    """The logger ``herald``: what ``logging.getLogger("herald.…")`` logs comes out as JSON, with the request's id.

    Handlers say ``log_event=False``, for otherwise a variable could have them log events, and with those what clients
    said and the URLs of their webhooks.
    """
    logger = Logger(service="herald", utc=True, use_rfc3339=True)
    # At the handlers, where the lines of all modules pass; those of the root are the agent's, which Lambda makes JSON.
    for handler in (*logger.handlers, *logging.getLogger().handlers):
        handler.addFilter(_CORRELATED)
    return logger
