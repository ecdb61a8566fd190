"""Registering a webhook on a task: a client's config is checked, and a record made of it.

Used by SendMessage for an inline config and by CreateTaskPushNotificationConfig (A2A specification sections 3.1.7 and
4.3.1).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from herald.client_secrets import Secrets
from herald.operations import webhook_fields
from herald.operations.call import Limits
from herald.operations.identity import digest
from herald.operations.origins import Origins
from herald.ports import Clock, Ids, Sealer, TaskLog, Webhooks
from herald.protocol import codec
from herald.protocol.errors import InvalidParamsError, PushNotificationNotSupportedError, invalid
from herald.protocol.model import TaskPushNotificationConfig
from herald.records import Caller, Header, TaskRef, Webhook, next_look

logger = logging.getLogger(__name__)

CheckUrl = Callable[[str], str | None]
"""What is wrong with a webhook's URL, as ``must …``; None when it may be used. Raises Unavailable without DNS."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A config that was checked and may be registered. ``config_id`` is "" where one is to be chosen."""

    config_id: str
    url: str = field(repr=False)  # its query may carry a secret
    secrets: Secrets
    path: str  # of the config in the request: "" or "configuration.taskPushNotificationConfig."


@dataclass(frozen=True, slots=True)
class Registrar:
    """Checks configs and makes webhooks of them.

    Args:
        check_url: the guard against SSRF.
        origins: those that an owner's webhooks may point at.
    """

    log: TaskLog
    webhooks: Webhooks
    sealer: Sealer
    clock: Clock
    ids: Ids
    check_url: CheckUrl
    origins: Origins
    limits: Limits

    def check(self, config: TaskPushNotificationConfig, path: str = "", *, inline: bool = False) -> Wish:
        """Check a config before anything is stored.

        Args:
            path: where it stands in the request, for the field names of errors.
            inline: an id that it lacks is derived from url and token, so that the same config sent again is the same.

        Raises:
            PushNotificationNotSupportedError: the card says so.
            InvalidParamsError: names the field.
        """
        if not self.limits.push_notifications:
            raise PushNotificationNotSupportedError(
                "This agent sends no push notifications: poll with GetTask, or leave the webhook out."
            )
        secrets = webhook_fields.secrets(config, path)
        config_id = webhook_fields.config_id(config, path)
        if wrong := self.check_url(config.url):
            raise invalid(f"{path}url", wrong)
        if inline and not config_id:
            config_id = digest(codec.canonical(["inline", config.url, secrets.token]))
        return Wish(config_id, config.url, secrets, path)

    def make(self, wish: Wish, ref: TaskRef, end: int, expires_second: int) -> Webhook:
        """The record of a webhook that starts at the log's end, its snapshot due."""
        now = self.clock.now()
        config_id, key = wish.config_id or self.ids.token(), self.ids.token()
        webhook = Webhook(
            ref=ref,
            config_id=config_id,
            key=key,
            url=wish.url,
            sealed="",
            cursor=end,
            snapshot=end,
            snapshot_due=True,
            created_at=now,
            expires_second=expires_second,
            due_at=next_look(now, key),
        )
        return wish.secrets.sealed_into(self.sealer, webhook)

    def register(self, wish: Wish, header: Header) -> Webhook:
        """Store a webhook on a task that exists, in place of the one with the same id.

        Raises:
            InvalidParamsError: the task has as many webhooks as it may have, or the owner's point at as many origins.
        """
        limit = self.limits.webhooks_per_task
        known = self._with_room(wish, header.ref)
        self.reserve(wish, header.ref.caller, header.expires_second)
        webhook = self.make(wish, header.ref, self._end(header), header.expires_second)
        self.webhooks.put(webhook)
        added = all(one.config_id != wish.config_id for one in known)
        if added and len(self.webhooks.list(header.ref)) > limit:
            # Others have registered since we looked. Whoever finds one too many takes its own back.
            self.webhooks.delete(header.ref, webhook.config_id)
            raise too_many(limit, wish.path)
        return webhook

    def check_room(self, wish: Wish, ref: TaskRef) -> None:
        """Return if ``ensure`` will find room for an inline webhook on this task.

        Raises:
            InvalidParamsError: the task has as many webhooks as it may have, or the owner's point at as many origins.
        """
        known = self._with_room(wish, ref)
        if not any(self._stands(wish, one) for one in known):
            lifetime = (self.limits.max_task_days + self.limits.retention_days) * 86_400
            self.reserve(wish, ref.caller, self.clock.now() // 1000 + lifetime)  # no task lives longer

    def reserve(self, wish: Wish, owner: Caller, expires_second: int) -> None:
        """Let this owner's webhooks point where the wish does, until their task expires.

        Raises:
            InvalidParamsError: they point at as many other origins as they may.
        """
        self.origins.reserve(owner, wish.url, expires_second, wish.path)

    def ensure(self, wish: Wish, header: Header) -> None:
        """Store an inline webhook unless it stands there already, just as it is."""
        known = self.webhooks.get(header.ref, wish.config_id)
        if known is None or not self._stands(wish, known):
            self.register(wish, header)

    def _stands(self, wish: Wish, known: Webhook) -> bool:
        same = known.config_id == wish.config_id and known.url == wish.url
        return same and self.secrets(known) == wish.secrets

    def _with_room(self, wish: Wish, ref: TaskRef) -> list[Webhook]:
        """The webhooks of a task, which has room for this one.

        Raises:
            InvalidParamsError: it has as many as it may have, and none with this id.
        """
        known = self.webhooks.list(ref)
        limit = self.limits.webhooks_per_task
        if len(known) >= limit and all(one.config_id != wish.config_id for one in known):
            raise too_many(limit, wish.path)
        return known

    def secrets(self, webhook: Webhook) -> Secrets | None:
        """What a client gave to be shown to its receiver; None when the key that sealed it is gone."""
        try:
            return Secrets.open(self.sealer, webhook)
        except ValueError:
            logger.warning("the secrets of a webhook can't be opened", extra={"config_id": webhook.config_id})
            return None

    def shown(self, webhook: Webhook, secrets: Secrets | None) -> dict[str, Any]:
        """A config as a client sees it: without its token and credentials, which are never given back."""
        config: dict[str, Any] = {"id": webhook.config_id, "taskId": webhook.ref.task_id, "url": webhook.url}
        if secrets and secrets.scheme:
            config["authentication"] = {"scheme": secrets.scheme}
        return {"tenant": webhook.ref.tenant, **config} if webhook.ref.tenant else config

    def _end(self, header: Header) -> int:
        beyond = self.log.read(header.ref, after=header.end)
        return beyond[-1].number if beyond else header.end


def too_many(limit: int, path: str) -> InvalidParamsError:
    """The error for one webhook more than a task may have."""
    return invalid(
        f"{path}id", f"this task has {limit} webhooks, the most it may have: delete or replace one by its id"
    )
