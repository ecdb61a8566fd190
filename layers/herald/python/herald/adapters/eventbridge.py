"""News of webhooks as events on the account's default bus, for what an operator lets happen then."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from herald.adapters.aws import call
from herald.ports import News, Unavailable
from herald.records import Webhook

SOURCE = "herald"


class EventBridgeAnnouncer:
    """Puts one event for each piece of news: source ``herald``, detail type ``webhook.failing`` and so on.

    Args:
        client: makes an ``events`` client of boto3, or hands out the one there is.
        stack: the name of the CloudFormation stack; part of the detail, for rules to tell stacks apart.
    """

    def __init__(self, client: Callable[[], Any], stack: str) -> None:
        self._client = client
        self._stack = stack

    def announce(self, news: News, webhook: Webhook, outcome: str, at: int) -> None:
        """Put the event; one call.

        Raises:
            Unavailable: EventBridge didn't answer, or didn't take it.
        """
        detail = {
            "stack": self._stack,
            "taskId": webhook.ref.task_id,
            "configId": webhook.config_id,
            "host": urlsplit(webhook.url).hostname or "",  # the rest of a URL may be a secret
            "outcome": outcome,
            "reason": webhook.reason,
            "failures": webhook.failures,
            "delivered": webhook.delivered,
            "cursor": webhook.cursor,
        }
        answer = call(
            self._client().put_events,
            Entries=[
                {
                    "Time": datetime.fromtimestamp(at / 1000, UTC),
                    "Source": SOURCE,
                    "DetailType": news.value,
                    "Detail": json.dumps(detail, ensure_ascii=False, separators=(",", ":")),
                }
            ],
        )
        if answer["FailedEntryCount"]:
            raise Unavailable(f"PutEvents: {answer['Entries'][0].get('ErrorCode', 'not taken')}")
