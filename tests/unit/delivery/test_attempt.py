"""One POST: its headers, and what comes of its answer (cases C4, C6, C7, C14, C15)."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from standardwebhooks import Webhook as StandardWebhook

from builders.deliveries import ADDRESS, URL, Road
from builders.records import KEY, status_entry
from fakes.clock import START
from fakes.world import answer, fake_signature
from herald.client_secrets import Secrets
from herald.delivery import message
from herald.delivery.retry import Outcome
from herald.ports import TransportFailure, Unavailable

HMAC_TOKEN = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()


def send(road: Road, secrets: Secrets | None = None, **fields: Any) -> Outcome:
    webhook = road.register(secrets=secrets, **fields)
    notification = message.of_entry(status_entry(7, text="half done", traceparent="00-0a-0b-01"))
    return road.sender.send(webhook, notification)


def test_c15_the_headers_are_exactly_those_that_are_documented() -> None:
    road = Road()

    send(road, Secrets(token="tok", scheme="Bearer", credentials="sek"))

    [post] = road.posts()
    assert post.headers == {
        "Content-Type": "application/a2a+json",
        "A2A-Version": "1.0",
        "Authorization": "Bearer sek",
        "X-A2A-Notification-Token": "tok",
        "A2A-Notification-Token": "tok",
        "webhook-id": f"msg_{KEY}_000000000007",
        "webhook-timestamp": str(START // 1000),
        "webhook-signature": fake_signature("acme", f"msg_{KEY}_000000000007", START // 1000, post.body),
        "User-Agent": "herald/0.1.0",
        "traceparent": "00-0a-0b-01",
    }
    assert (post.url, post.address, post.seconds) == (URL, ADDRESS, 15.0)


def test_c15_the_body_is_the_wrapped_event() -> None:
    road = Road()

    send(road)

    assert list(json.loads(road.posts()[0].body)) == ["statusUpdate"]


@pytest.mark.parametrize(
    ("secrets", "authorization"),
    [
        (Secrets(scheme="Bearer", credentials="sek"), "Bearer sek"),
        (Secrets(scheme="bEARER", credentials="a b=c"), "bEARER a b=c"),
        (Secrets(scheme="Basic", credentials="dXNlcjpwYXNz"), "Basic dXNlcjpwYXNz"),
        (Secrets(scheme="Bearer"), None),
        (Secrets(token="tok"), None),
        (Secrets(), None),
        (None, None),
    ],
)
def test_c4_authorization_is_exactly_what_the_client_gave(secrets: Secrets | None, authorization: str | None) -> None:
    road = Road()

    send(road, secrets)

    assert road.posts()[0].headers.get("Authorization") == authorization


def test_c14_a_token_goes_into_both_headers_and_no_token_into_none() -> None:
    road = Road()

    send(road, Secrets(token="tok"))
    send(road)

    names = ("X-A2A-Notification-Token", "A2A-Notification-Token")
    with_token, without = road.posts()
    assert [with_token.headers[name] for name in names] == ["tok", "tok"]
    assert not set(names) & without.headers.keys()


def test_a_whsec_token_signs_v1_beside_v1a_and_is_never_transmitted() -> None:
    road = Road()
    road.clock.set(_real_now())

    send(road, Secrets(token=HMAC_TOKEN))

    [post] = road.posts()
    first, second = post.headers["webhook-signature"].split(" ")
    assert first.startswith("v1a,")
    assert second.startswith("v1,")
    assert StandardWebhook(HMAC_TOKEN).verify(post.body, post.headers) == post.event
    assert HMAC_TOKEN.removeprefix("whsec_") not in str(post)


def _real_now() -> int:
    from time import time

    return int(time() * 1000)  # the standardwebhooks package knows no other clock


def test_without_a_traceparent_there_is_no_such_header() -> None:
    road = Road()
    webhook = road.register()

    road.sender.send(webhook, message.of_entry(status_entry(1)))

    assert "traceparent" not in road.posts()[0].headers


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(200, "delivered"), (202, "delivered"), (302, "http_3xx"), (404, "http_4xx"), (410, "gone"), (500, "http_5xx")],
)
def test_c7_a_status_becomes_an_outcome_and_a_redirect_is_a_failure(status: int, outcome: str) -> None:
    road = Road()
    road.transport.script(URL, answer(status, location="http://169.254.169.254/"))

    assert send(road).name == outcome
    assert len(road.transport.posts) == 1


@pytest.mark.parametrize(
    "outcome", ["connection_refused", "connect_timeout", "tls_error", "read_timeout", "no_route", "bad_answer"]
)
def test_a_failed_connection_becomes_its_class(outcome: str) -> None:
    road = Road()
    road.transport.script(URL, TransportFailure(outcome, 12))

    assert send(road) == Outcome(outcome, milliseconds=12)


def test_c6_a_host_that_resolves_private_is_blocked_and_nothing_is_sent() -> None:
    road = Road()
    road.resolver.set("client.example", ["10.0.0.1"])

    assert send(road).name == "ssrf_blocked"
    assert road.transport.posts == []


def test_c8_the_vetted_address_is_the_one_that_is_dialled() -> None:
    road = Road()
    road.resolver.set("client.example", [ADDRESS], ["169.254.169.254"])

    assert send(road).name == "delivered"
    assert road.posts()[0].address == ADDRESS
    assert road.resolver.calls["resolve"] == 1


def test_an_unknown_host_is_a_dns_error() -> None:
    road = Road()
    road.resolver.set("client.example", [])

    assert send(road).name == "dns_error"


def test_a_slow_resolver_takes_from_the_time_of_the_whole_attempt() -> None:
    road = Road()
    road.resolver.before_next("resolve", lambda: road.clock.advance(1.5))

    send(road)

    assert road.posts()[0].seconds == 13.5


def test_retry_after_and_the_disable_header_are_read() -> None:
    road = Road()
    road.transport.script(URL, answer(429, retry_after="7"), answer(400, webhook_delivery=" Disable "))

    assert send(road).retry_after == 7.0
    assert send(road).disable


def test_the_head_of_an_error_is_kept_up_to_4_kib_and_without_the_secrets_it_echoes() -> None:
    road = Road()
    road.transport.script(URL, answer(500, b"you sent Bearer sek and tok: " + "é".encode() * 4096))

    head = send(road, Secrets(token="tok", scheme="Bearer", credentials="sek")).head

    assert head.startswith("you sent Bearer [hidden] and [hidden]: é")
    assert 4_000 < len(head.encode()) <= 4_096


@pytest.mark.parametrize("status", [200, 302, 999])
def test_the_head_of_a_success_or_an_odd_answer_is_not_kept(status: int) -> None:
    road = Road()
    road.transport.script(URL, answer(status, b"ami-id"))

    assert send(road).head == ""


def test_a_fault_of_our_own_is_raised_and_nothing_is_sent() -> None:
    road = Road()
    road.signer.fail_next("sign", Unavailable("GetSecretValue"))
    with pytest.raises(Unavailable):
        send(road)

    road.sealer.fail_next("open", ValueError("gone"))
    with pytest.raises(ValueError, match="gone"):
        send(road, Secrets(token="tok"))

    assert road.transport.posts == []


def test_time_that_our_own_services_take_is_not_taken_from_the_receiver() -> None:
    road = Road()
    road.sealer.before_next("open", lambda: road.clock.advance(8))
    road.signer.before_next("sign", lambda: road.clock.advance(8))

    send(road, Secrets(token="tok"))

    assert road.posts()[0].seconds == 15.0


@pytest.mark.parametrize(
    ("echo", "kept"),
    [
        ("got tok-and-more", "got [hidden]"),  # the credentials are a part of the token
        ('{"authorization": "Digest user=\\"ann\\", key=\\"k\\""}', '{"authorization": "Digest [hidden]"}'),
        ("got Digest user=&quot;ann&quot;, key=&quot;k&quot;", "got Digest [hidden]"),
        ("you called /hook?a%20b=s3cret", "you called /hook?[hidden]"),
        ('{"query": "a b=s3cret"}', '{"query": "[hidden]"}'),
        ("cut off: tok-and-mo", "cut off: [hidden]"),
    ],
)
def test_secrets_are_hidden_however_a_receiver_writes_them(echo: str, kept: str) -> None:
    road = Road()
    url = f"{URL}?a%20b=s3cret"
    credentials = "tok" if "tok" in echo else 'user="ann", key="k"'
    road.transport.script(url, answer(500, echo.encode()))

    outcome = send(road, Secrets(token="tok-and-more", scheme="Digest", credentials=credentials), url=url)

    assert outcome.head == kept
