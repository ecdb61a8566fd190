"""Invariant 8 on delivery's road: no secret appears in a log line, a metric, an exception or a representation.

Secrets are planted wherever one may lie; everything that the functions write is searched for them, whatever goes wrong.
"""

from __future__ import annotations

import base64
import io
import logging
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from builders.deliveries import Road
from builders.events import LambdaContext, queue_event, rest_event, stream_of
from builders.records import KEY, a_ref, status_entry
from fakes.clock import FakeClock
from fakes.secret_versions import FakeVersion, FakeVersions
from fakes.token_key import FakeTokenKey
from fakes.world import answer
from herald.adapters.emf import EmbeddedMetrics
from herald.client_secrets import Secrets
from herald.delivery.published_keys import PublishedKeys
from herald.delivery.signing import SigningKeys
from herald.delivery.token import BearerTokens
from herald.delivery.url_policy import UrlRefused, parse
from herald.entrypoints import publish_keys, ring_webhooks, send_webhooks
from herald.ports import Answer, TransportFailure, Unavailable
from herald.records import Doorbell

TOKEN, CREDENTIALS, QUERY, SIGNING, BODY = (
    "plantedtoken",
    "plantedcredentials",
    "plantedquery",
    "plantedkey",
    "plantedbody",
)
HMAC = "whsec_" + base64.b64encode(b"plantedplantedplantedplanted").decode()
URL = f"https://client.example/hook?key={QUERY}"
PLANTED = (TOKEN, CREDENTIALS, QUERY, SIGNING, BODY, HMAC, HMAC.removeprefix("whsec_"), "plantedplanted")
SECRET = FakeVersion(text=SIGNING)


class Output:
    """All that a function writes: its logger's stream, and stdout and stderr."""

    def __init__(
        self, stream: io.StringIO, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
    ) -> None:
        self._stream, self._capsys, self._caplog = stream, capsys, caplog

    def text(self) -> str:
        written = self._capsys.readouterr()
        records = "".join(f"{vars(record)!r}" for record in self._caplog.records)
        return self._stream.getvalue() + written.out + written.err + self._caplog.text + records


@pytest.fixture
def output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> Output:
    stream = io.StringIO()
    for handler in logging.getLogger("herald").handlers:
        monkeypatch.setattr(handler, "stream", stream)
    caplog.set_level(logging.DEBUG)
    return Output(stream, capsys, caplog)


def watching() -> send_webhooks.DeliveryWatch:
    """What logs and counts, as the function has it."""
    return send_webhooks.DeliveryWatch(EmbeddedMetrics("herald-prod", FakeClock()))


def road_with(secrets: Secrets, watch: send_webhooks.DeliveryWatch) -> Road:
    road = Road(signer=SigningKeys(FakeVersions(SECRET)), watch=watch)
    road.register(url=URL, secrets=secrets)
    road.store(status_entry(1, text=BODY))
    return road


def echoing(status: int) -> Answer:
    head = f"{TOKEN} {CREDENTIALS} /hook?key={QUERY} {BODY}"
    return answer(status, head.encode(), location=f"https://x/{QUERY}", set_cookie=TOKEN)


WRONG: dict[str, Callable[[Road], object]] = {
    "nothing": lambda road: None,
    "an echoing 500": lambda road: road.transport.script(URL, echoing(500)),
    "an echoing redirect": lambda road: road.transport.script(URL, echoing(302)),
    "an echoing 410": lambda road: road.transport.script(URL, echoing(410)),
    "a time-out": lambda road: road.transport.script(URL, TransportFailure("read_timeout")),
    "a private address": lambda road: road.resolver.set("client.example", ["10.0.0.1"]),
    "no address": lambda road: road.resolver.set("client.example", []),
    "no key": lambda road: road.sealer.fail_next("open", ValueError("this sealed text was changed")),
    "no table": lambda road: road.webhooks.fail_next("get", Unavailable("GetItem: Throttled")),
    "no cursor": lambda road: road.webhooks.fail_next("update", Unavailable("UpdateItem: Throttled")),
    "no queue": lambda road: road.doorbells.fail_next("hide", Unavailable("ChangeMessageVisibility")),
    "a header that can't be sent": lambda road: road.transport.fail_next(
        "post", ValueError("the request can't be made")
    ),
}


@pytest.mark.parametrize("token", [TOKEN, HMAC], ids=["token", "whsec"])
@pytest.mark.parametrize("wrong", WRONG)
def test_send_webhooks_writes_no_secret_whatever_goes_wrong(wrong: str, token: str, output: Output) -> None:
    watch = watching()
    road = road_with(Secrets(token, "Bearer", CREDENTIALS), watch)
    WRONG[wrong](road)
    handler = send_webhooks.handler_for(road.delivery, watch)

    answered = handler(queue_event(Doorbell(a_ref(), "cfg-1", KEY)), LambdaContext(90))  # type: ignore[arg-type]

    attempts = road.webhooks.attempts(road.webhook())
    text = output.text() + repr(answered) + repr(attempts)
    assert [secret for secret in PLANTED if secret in text] == []
    kept = "".join(attempt.head for attempt in attempts)
    assert [secret for secret in (token, CREDENTIALS, QUERY) if secret in kept] == []


@pytest.mark.parametrize(
    "fault",
    [None, Unavailable("Sign: KmsThrottled"), LookupError("the tokens' key: DisabledException")],
    ids=["nothing", "no KMS", "no key"],
)
@pytest.mark.parametrize("status", [204, 500])
def test_a_token_of_ours_is_written_nowhere_though_its_receiver_echoes_it(
    status: int, fault: Exception | None, output: Output
) -> None:
    watch, key = watching(), FakeTokenKey()
    tokens = BearerTokens(key, "https://agent.example")
    road = Road(signer=SigningKeys(FakeVersions(SECRET)), watch=watch, tokens=tokens)
    road.register(url=URL, secrets=Secrets(scheme="Bearer"))
    road.store(status_entry(1, text=BODY))
    road.transport.script(URL, lambda post: answer(status, post.headers["Authorization"].encode(), set_cookie="x"))
    if fault is not None:
        key.fail_next("sign", fault)
    handler = send_webhooks.handler_for(road.delivery, watch)
    event = queue_event(Doorbell(a_ref(), "cfg-1", KEY))

    answered = [handler(event, LambdaContext(90)) for _ in range(2)]  # type: ignore[arg-type]

    sent = {post.headers["Authorization"].removeprefix("Bearer ") for post in road.transport.posts}
    attempts = road.webhooks.attempts(road.webhook())
    text = output.text() + repr(answered) + repr(attempts) + "".join(each.head for each in attempts) + repr(tokens)
    assert sent
    assert [part for token in sent for part in token.split(".") if part in text] == []


def test_a_webhook_that_nothing_can_unseal_is_told_without_what_was_sealed(output: Output) -> None:
    watch = watching()
    road = road_with(Secrets(TOKEN, "Bearer", CREDENTIALS), watch)
    road.sealer.gone.add(1)
    handler = send_webhooks.handler_for(road.delivery, watch)

    handler(queue_event(Doorbell(a_ref(), "cfg-1", KEY)), LambdaContext(90))  # type: ignore[arg-type]

    text = output.text()
    assert "version 1 of the sealing secret is gone" in text
    assert [secret for secret in (*PLANTED, road.webhook().sealed) if secret in text] == []


def test_ring_webhooks_writes_no_secret(output: Output) -> None:
    road = road_with(Secrets(TOKEN, "Bearer", CREDENTIALS), watching())
    road.webhooks.fail_next("list", Unavailable("Query"))
    handler = ring_webhooks.handler_for(road.ringer)
    event = stream_of(road.world.changes())

    handler(event, LambdaContext())  # type: ignore[arg-type]
    handler(event, LambdaContext())  # type: ignore[arg-type]

    text = output.text() + repr(road.doorbells.rings)
    assert [secret for secret in PLANTED if secret in text] == []


def test_no_variable_makes_ring_webhooks_write_its_event(output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_LOGGER_LOG_EVENT", "true")
    road = road_with(Secrets(TOKEN, "Bearer", CREDENTIALS), watching())
    handler = ring_webhooks.handler_for(road.ringer)

    handler(stream_of(road.world.changes()), LambdaContext())  # type: ignore[arg-type]

    assert [secret for secret in PLANTED if secret in output.text()] == []


def test_publish_keys_writes_no_secret(output: Output) -> None:
    class Failing(FakeVersions):
        def published(self) -> NoReturn:
            raise Unavailable("GetSecretValue: Throttled")

    event = rest_event("GET", "/.well-known/jwks.json")
    answers = [
        publish_keys.handler_for(PublishedKeys(SigningKeys(versions)))(event, LambdaContext())  # type: ignore[arg-type]
        for versions in (FakeVersions(SECRET), Failing())
    ]

    text = output.text() + repr(answers)
    assert [secret for secret in PLANTED if secret in text] == []


def test_no_representation_holds_a_secret() -> None:
    road = road_with(Secrets(TOKEN, "Bearer", CREDENTIALS), watching())
    keys = SigningKeys(FakeVersions(SECRET))
    keys.sign("acme", "id", 1, b"")
    shown: list[Any] = [
        road.webhook(),
        Secrets.open(road.sealer, road.webhook()),
        road.sender.policy.vet(URL),
        parse(URL),
        keys,
        road.delivery,
    ]

    text = "".join(f"{one!r} {one!s}" for one in shown)
    assert [secret for secret in PLANTED if secret in text] == []


@pytest.mark.parametrize(
    "url",
    [
        f"http://client.example/?{QUERY}",
        f"https://client.example:8/{QUERY}",
        f"https://user:{QUERY}@client.example/",
        f"https://10.0.0.1/{QUERY}",
        f"https://client.example/#{QUERY}",
        f"https://{QUERY}/",
        f"https://client.example/ {QUERY}",
    ],
)
def test_a_refused_url_is_not_repeated(url: str) -> None:
    road = Road()

    with pytest.raises(UrlRefused) as refused:
        road.sender.policy.vet(url)

    assert QUERY not in "".join(traceback.format_exception(refused.value))


def test_an_unreadable_hmac_secret_is_not_repeated(output: Output) -> None:
    watch = watching()
    road = road_with(Secrets("whsec_" + TOKEN), watch)
    handler = send_webhooks.handler_for(road.delivery, watch)

    handler(queue_event(Doorbell(a_ref(), "cfg-1", KEY)), LambdaContext(90))  # type: ignore[arg-type]

    assert TOKEN not in output.text()
    assert TOKEN not in repr(road.transport.posts)
