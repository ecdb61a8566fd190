"""One attempt: a notification, posted once to a webhook's vetted address, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from herald import __version__
from herald.client_secrets import Secrets, hmac_key, resealed
from herald.delivery import message, retry
from herald.delivery.message import Notification
from herald.delivery.redaction import kept
from herald.delivery.retry import Outcome
from herald.delivery.signing import sign_v1
from herald.delivery.token import BearerTokens
from herald.delivery.url_policy import UrlPolicy, UrlRefused
from herald.ports import Answer, Clock, Sealer, Signer, TransportFailure, WebhookTransport
from herald.records import Webhook

MEDIA_TYPE = "application/a2a+json"
USER_AGENT = f"herald/{__version__}"


@dataclass(frozen=True, slots=True)
class Sender:
    """Makes attempts.

    ``seconds`` bounds each of them in all: name, connection, TLS, request and answer. ``tokens`` makes those of
    receivers that ask for one; None where they get none.
    """

    policy: UrlPolicy
    transport: WebhookTransport
    signer: Signer
    sealer: Sealer
    clock: Clock
    seconds: float = 15.0
    tokens: BearerTokens | None = None

    def resealed(self, webhook: Webhook) -> Webhook:
        """The webhook with its secrets sealed by the newest key; as it is where they are. Asks nobody, mostly.

        Raises:
            Unopenable: nothing opens them any more.
            Unavailable, LookupError, ValueError: a fault of our own.
        """
        return resealed(self.sealer, webhook)

    def send(self, webhook: Webhook, notification: Notification) -> Outcome:
        """Sign and post once. Whatever is the receiver's doing is an Outcome; our own faults are raised.

        Raises:
            Unopenable: nothing opens the webhook's secrets any more.
            Unavailable, LookupError, ValueError: a fault of our own. Nothing is sent unsigned.
        """
        secrets = Secrets.open(self.sealer, webhook)
        headers = self._headers(webhook, notification, secrets)
        started = self.clock.now()  # what our own services took is no fault of the receiver's
        try:
            address = self.policy.vet(webhook.url)
            left = self.seconds - (self.clock.now() - started) / 1000
            answer = self.transport.post(webhook.url, address, headers, notification.body, left)
        except UrlRefused:
            return Outcome(retry.SSRF_BLOCKED, milliseconds=self.clock.now() - started)
        except TransportFailure as failure:
            return Outcome(failure.outcome, milliseconds=failure.milliseconds or self.clock.now() - started)
        token = headers["Authorization"].partition(" ")[2] if secrets.asks_for_token and self.tokens else ""
        return self._outcome(answer, [secrets.credentials, secrets.token, token, webhook.url.partition("?")[2]])

    def _headers(self, webhook: Webhook, notification: Notification, secrets: Secrets) -> dict[str, str]:
        message_id = message.message_id(webhook.key, notification.number, notification.mark)
        second = self.clock.now() // 1000
        signatures = self.signer.sign(webhook.ref.tenant, message_id, second, notification.body)
        headers = {"Content-Type": MEDIA_TYPE, "A2A-Version": webhook.wire}
        if secrets.scheme and secrets.credentials:
            headers["Authorization"] = f"{secrets.scheme} {secrets.credentials}"
        elif self.tokens is not None and secrets.asks_for_token:
            headers["Authorization"] = f"Bearer {self.tokens.issue(webhook, message_id, second, notification.body)}"
        if (key := hmac_key(secrets.token)) is not None:
            signatures.append(sign_v1(key, message_id, second, notification.body))
        elif secrets.token:
            headers["X-A2A-Notification-Token"] = secrets.token
            headers["A2A-Notification-Token"] = secrets.token
        headers["webhook-id"] = message_id
        headers["webhook-timestamp"] = str(second)
        headers["webhook-signature"] = " ".join(signatures)
        headers["User-Agent"] = USER_AGENT
        if notification.traceparent:
            headers["traceparent"] = notification.traceparent
        return headers

    def _outcome(self, answer: Answer, secrets: Sequence[str]) -> Outcome:
        name = retry.outcome_of_status(answer.status)
        # Nobody is shown what a redirecting or odd receiver answers.
        shown = name in (retry.HTTP_4XX, retry.HTTP_5XX, retry.GONE)
        return Outcome(
            name,
            answer.status,
            answer.milliseconds,
            head=kept(answer.head, secrets) if shown else "",
            retry_after=retry.retry_after(answer.headers.get("retry-after"), self.clock.now()),
            disable=_asks_for_silence(answer.headers),
        )


def _asks_for_silence(headers: Mapping[str, str]) -> bool:
    return headers.get("webhook-delivery", "").strip().lower() == "disable"
