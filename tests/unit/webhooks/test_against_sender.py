"""What Herald sends is what its verifier accepts."""

from __future__ import annotations

from builders.deliveries import Road
from fakes.clock import START
from fakes.secret_versions import FakeVersions
from herald import webhooks
from herald.client_secrets import Secrets
from herald.delivery.signing import SigningKeys


def test_each_notification_of_a_task_verifies_with_the_published_keys_and_with_the_clients_secret() -> None:
    keys = SigningKeys(FakeVersions())
    secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
    road = Road(signer=keys)
    road.register(snapshot_due=True, secrets=Secrets(token=secret))
    road.working(1)
    road.artifact(2)
    road.completed(3)

    road.run()

    jwks = {"keys": [key.jwk for key in keys.public("acme")]}
    now = START / 1000
    by_key = [webhooks.verify(post.body, post.headers, jwks=jwks, now=now) for post in road.posts()]
    by_secret = [webhooks.verify(post.body, post.headers, secret=secret, now=now) for post in road.posts()]
    assert by_key == by_secret
    assert [(one.number, one.kind) for one in by_key] == [
        (0, "task"),
        (1, "statusUpdate"),
        (2, "artifactUpdate"),
        (3, "statusUpdate"),
    ]
