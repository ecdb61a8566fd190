"""Webhooks' sealed secrets around a rotation of the sealing secret, and when nothing opens them any more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from builders.deliveries import URL, Road
from herald.client_secrets import Secrets
from herald.ports import Ring, Unavailable
from herald.records import Webhook, WebhookState

SECRETS = Secrets(token="tok")


def sealed_by(road: Road) -> int:
    return road.sealer.sealed_by(road.webhook().sealed)


def road_with(**fields: Any) -> tuple[Road, Webhook]:
    """A webhook that was sealed before the sealing secret's second version was made."""
    road = Road()
    webhook = road.register(secrets=SECRETS, **fields)
    road.sealer.version = 2
    return road, webhook


def test_a_delivery_seals_anew_in_the_update_that_it_makes_anyway() -> None:
    road, _ = road_with()
    road.working(1)

    road.run()

    assert sealed_by(road) == 2
    assert road.webhooks.calls["update"] == 1
    assert road.posts()[0].headers["A2A-Notification-Token"] == "tok"
    assert Secrets.open(road.sealer, road.webhook()) == SECRETS


def test_so_does_a_failed_attempt() -> None:
    road, _ = road_with()
    road.working(1)
    road.transport.script(URL, 500)

    road.run()

    assert (sealed_by(road), road.webhooks.calls["update"]) == (2, 1)


def test_what_the_newest_version_sealed_is_left_as_it_is() -> None:
    road = Road()
    before = road.register(secrets=SECRETS).sealed
    road.working(1)

    road.run()

    assert road.webhook().sealed == before
    assert road.sealer.calls["seal"] == 1  # at its registration


def test_a_webhook_that_is_owed_nothing_is_sealed_anew_when_it_is_rung_for() -> None:
    road, webhook = road_with()
    road.doorbells.ring([Ring(webhook.doorbell, "an operator's")])

    road.run()

    assert sealed_by(road) == 2
    assert road.posts() == []


@pytest.mark.parametrize("state", [WebhookState.PAUSED, WebhookState.DISABLED])
def test_so_is_one_that_gets_nothing_and_it_stays_as_it_is_besides(state: WebhookState) -> None:
    road, webhook = road_with(state=WebhookState.ACTIVE)
    road.working(1)
    road.ring()
    resting = replace(webhook, state=state, due_at=None)
    road.webhooks.put(resting)

    road.run()

    assert sealed_by(road) == 2
    assert replace(road.webhook(), sealed="") == replace(resting, sealed="")
    assert road.posts() == []


def test_nothing_needs_the_former_version_afterwards() -> None:
    road, _ = road_with()
    road.working(1)
    road.run()
    road.sealer.gone.add(1)

    road.working(2)
    road.run()

    assert road.numbers() == [1, 2]


def test_a_webhook_whose_version_is_gone_is_disabled_with_the_reason_and_told() -> None:
    road, _ = road_with()
    road.sealer.gone.add(1)
    road.working(1)

    road.run()

    webhook = road.webhook()
    assert (webhook.state, webhook.due_at, webhook.cursor) == (WebhookState.DISABLED, None, 0)
    assert webhook.reason == "unreadable: version 1 of the sealing secret is gone"
    assert road.posts() == []
    assert road.doorbells.queue == []
    assert road.watch.given_up == [("cfg-1", webhook.reason)]
    assert road.watch.outcomes == []  # no attempt was made, so none is counted


def test_so_is_one_whose_sealed_text_was_changed() -> None:
    road = Road()
    webhook = road.register(secrets=SECRETS)
    road.webhooks.put(replace(webhook, sealed=road.sealer.seal("[]", "elsewhere")))
    road.working(1)

    road.run()

    assert road.webhook().reason == "unreadable: this text was sealed for another place"


def test_one_that_was_disabled_for_it_is_not_disabled_again() -> None:
    road, webhook = road_with(state=WebhookState.DISABLED, reason="exhausted")
    road.sealer.gone.add(1)
    road.doorbells.ring([Ring(webhook.doorbell, "an operator's")])

    road.run()

    assert road.webhook().reason == "exhausted"


@pytest.mark.parametrize("method", ["renewed", "open"])
@pytest.mark.parametrize("fault", [Unavailable("GetSecretValue"), LookupError("no current version"), ValueError("v2")])
def test_a_secret_that_cannot_be_read_at_the_moment_disables_nobody(method: str, fault: Exception) -> None:
    road, _ = road_with()
    road.working(1)
    road.ring()
    road.sealer.fail_next(method, fault)

    with pytest.raises(type(fault)):
        road.answer()

    assert road.webhook().state is WebhookState.ACTIVE
    road.wait(600)
    assert road.numbers() == [1]


def test_a_webhook_that_changes_while_it_is_sealed_anew_keeps_the_change() -> None:
    road, webhook = road_with()
    road.working(1)
    paused = replace(webhook, state=WebhookState.PAUSED, due_at=None)
    road.transport.before_next("post", lambda: road.webhooks.put(paused))

    road.run()

    assert road.webhook().state is WebhookState.PAUSED
    assert sealed_by(road) == 2
