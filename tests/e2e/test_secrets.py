"""Invariant 8, on the deployed stack: secrets that pass through it appear nowhere but at their receiver."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

import jwt

from e2e.client import Client
from e2e.cloud import Cloud
from e2e.loopback import Arrival, Receiver
from e2e.waiting import wait_for
from herald.records import WebhookState
from herald.webhooks import verify_jwt


def test_no_token_credential_or_url_secret_is_logged_stored_readable_or_told(
    client: Client,
    cloud: Cloud,
    new_receiver: Callable[..., Receiver],
    jwks: Callable[[], Mapping[str, Any]],
    addresses: Mapping[str, str],
) -> None:
    def echo(arrival: Arrival) -> bytes:
        """A receiver that answers with all it was sent, as debugging ones do."""
        return json.dumps(dict(arrival.headers)).encode()

    hmac_secret = "whsec_" + base64.b64encode(b"planted-hmac-secret-of-32-bytes!").decode()
    good, bad = new_receiver(token=hmac_secret, body=echo), new_receiver(token="planted-token-5d1c", body=echo)
    bad.answers.extend([500] * 9)
    authentication = {"scheme": "Bearer", "credentials": "planted-credentials-77af"}
    task_id = client.start(
        {"raise": "planted-agent-secret-0b3e"}, webhook={**good.config, "authentication": authentication}
    )
    bad_url = f"{bad.url}?key=planted-url-secret-91be"
    config_id = client.register(task_id, {"url": bad_url, "token": bad.token, "authentication": authentication})
    asking = new_receiver(token="", body=echo)
    asking.answers.append(500)
    client.register(task_id, {"url": asking.url, "authentication": {"scheme": "Bearer"}})
    good.wait_for_end(task_id)
    asking.wait_for_end(task_id)
    wait_for("the webhook to be failing", lambda: cloud.webhooks(task_id)[bad_url].state is WebhookState.FAILING)

    # They reached their receivers, each in its own way.
    assert good.arrivals[0].headers["authorization"] == "Bearer planted-credentials-77af"
    assert good.arrivals[0].fault == ""
    assert "a2a-notification-token" not in good.arrivals[0].headers
    assert bad.arrivals[0].headers["x-a2a-notification-token"] == "planted-token-5d1c"
    assert bad.arrivals[0].headers["a2a-notification-token"] == "planted-token-5d1c"

    tokens = [arrival.headers["authorization"].removeprefix("Bearer ") for arrival in asking.arrivals]
    for arrival in asking.arrivals:
        told = int(arrival.headers["webhook-timestamp"])
        verify_jwt(arrival.body, arrival.headers, jwks=jwks(), issuer=addresses["baseUrl"], now=told)
        assert (
            jwt.decode(
                arrival.headers["authorization"].removeprefix("Bearer "),
                jwt.PyJWKSet.from_dict(dict(jwks()))[jwt.get_unverified_header(tokens[0])["kid"]],
                algorithms=["RS256"],
            )["taskId"]
            == task_id
        )

    # Nobody is told them: not who reads the webhook, not who reads the task.
    shown = json.dumps(
        [
            client.call("GET", f"/tasks/{task_id}/pushNotificationConfigs/{config_id}"),
            client.call("GET", f"/tasks/{task_id}/pushNotificationConfigs"),
            client.task(task_id),
        ]
    )
    secrets = ["planted-token", "planted-credentials", hmac_secret.removeprefix("whsec_"), "planted-hmac-secret"]
    secrets += [*cloud.own_secrets(), *(token.rpartition(".")[2] for token in tokens)]
    assert [secret for secret in secrets if secret in shown] == []

    # They are stored sealed, and in no attempt's record.
    stored = cloud.everything()
    assert "planted-url-secret" in stored  # the URL itself is what the webhook is
    assert [secret for secret in secrets if secret in stored] == []

    # No function has logged them, nor the URL that carries one.
    wait_for(
        "the failed attempt in the log of send_webhooks",
        lambda: any("http_5xx" in line and task_id in line for line in cloud.log_lines()["SendWebhooksLog"]),
    )
    logged = cloud.log_lines()
    assert len(logged) >= 7
    leaks = {
        (group, secret)
        for group, lines in logged.items()
        for secret in [*secrets, "planted-url-secret", *SIGNING]
        if any(secret in line for line in lines)
    }
    assert leaks == set()


# Words that come with keys of our own, whoever logs them.
SIGNING = ["whsk_", "BEGIN PRIVATE KEY", "GenerateSecretString"]
