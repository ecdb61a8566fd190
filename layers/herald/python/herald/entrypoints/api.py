"""api: a request through API Gateway in, the protocol's answer out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from herald import bootstrap
from herald.bindings import app, card, gateway, openapi_page
from herald.bindings.card_security import Door
from herald.bindings.cors import Cors
from herald.bindings.deployed_card import Cards, Deployment
from herald.bindings.notification_page import NotificationPage
from herald.bindings.service import Service
from herald.bindings.wellknown import CARD_PATH, CardPage
from herald.correlation import road
from herald.delivery import large
from herald.entrypoints.logs import json_logger
from herald.settings import ApiSettings

logger = json_logger()

Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]


def handler_for(platform: bootstrap.Platform, card_path: Path | None = None) -> Handler:
    """The function's handler.

    Args:
        card_path: the Agent Card; None for the one in the agent layer.

    Raises:
        SettingsError: a variable is missing or wrong.
        CardError: the Agent Card is missing or wrong.
        ReplyNotLoaded: the adopter's ``agent/reply.py`` can't be used.
    """
    written = card.load(card_path or card.find())
    settings = ApiSettings.read(platform.environ)
    region = platform.environ.get("AWS_REGION", "")
    base_url = gateway.public_url(settings.public_url, region)
    deployment = Deployment(
        Door(settings.auth_mode, region, settings.oidc_issuer, settings.token_url, tuple(settings.scopes.split())),
        webhook_seconds=settings.webhook_timeout,
        webhooks_per_task=settings.webhooks_per_task,
        webhook_tokens=settings.webhook_tokens == "on",
        egress_addresses=tuple(filter(None, settings.egress_addresses.split(","))),
    )
    meter = bootstrap.meter(platform.environ, platform.clock)
    cards = Cards(written, deployment, platform.card_key(settings.card_key), meter)
    api = bootstrap.api(
        platform,
        push_notifications=written.push_notifications,
        input_modes=written.input_modes,
        extended_card=cards.extended,
    )
    service = Service(
        api.operations, api.ids, settings.auth_mode, written.required_extensions, written.extensions, base_url
    )
    documents: dict[str, app.Page] = {
        CARD_PATH: CardPage(cards.public, written.modified, settings.card_max_age, base_url),
        openapi_page.PATH: openapi_page.OpenApiPage(cards.public.unsigned, base_url),
        large.PATH: NotificationPage(platform.kept_bodies(settings.bucket), platform.sealer(settings.sealing_secret)),
    }
    answer = app.handler(app.application(service, documents, Cors.parse(settings.cors_origin)))

    def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        # The id that a client finds in the error for a fault of ours. inject_lambda_context would do more, at a price.
        logger.set_correlation_id(app.request_id(event))
        try:
            with road():
                return answer(event, context)
        finally:
            meter.flush()

    return handler
