"""examples/receivers, as they are copied: our own delivery calls them over real connections.

Both take what is genuine in each of the three profiles, refuse what isn't with the reason, and deal with a notification
once however often it comes.
"""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping

import pytest

from builders.example_receivers import EXAMPLES, Running
from builders.jwt_profile import TokenKey
from builders.sending import ASKING, SECRET, Change, Delivered, Published, Request, published, unchanged, with_token
from herald.client_secrets import Secrets
from herald.delivery.message import MAX_BODY

PATHS = {"v1a": "/hook", "v1": "/hook/secret", "jwt": "/hook/jwt"}
REGISTERED = {"v1a": Secrets(token="any-token"), "v1": Secrets(token=SECRET), "jwt": ASKING}
HANDLED = ["0 task", "1 statusUpdate", "2 artifactUpdate", "3 statusUpdate"]


@pytest.fixture(scope="module")
def keys() -> Iterator[Published]:
    with published() as keys:
        yield keys


def settings(keys: Published, **changes: str) -> Mapping[str, str]:
    told = {"JWKS_URL": keys.url, "ALLOW_LOOPBACK": "1", "WEBHOOK_SECRET": SECRET}
    return {**told, **changes}


@pytest.fixture(scope="module", params=EXAMPLES)
def here(request: pytest.FixtureRequest, keys: Published) -> Iterator[Running]:
    with EXAMPLES[request.param](settings(keys)) as running:
        yield running


def delivered(here: Running, keys: Published, name: str, change: Change = unchanged, *, lose: int = 0) -> Delivered:
    return Delivered(keys, here.url + PATHS[name], change, secrets=REGISTERED[name], lose=lose)


@pytest.mark.parametrize("name", PATHS)
def test_it_takes_every_notification_of_a_task(name: str, here: Running, keys: Published) -> None:
    found = delivered(here, keys, name)

    assert [outcome for outcome, *_ in found.answers] == ["delivered"] * 4
    assert [status for _, status, _ in found.answers] == [204] * 4


def reserialised(headers: dict[str, str], body: bytes) -> Request:
    return headers, body.replace(b'":', b'": ')


def late(headers: dict[str, str], body: bytes) -> Request:
    return {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 301)}, body


def without(name: str) -> Change:
    def change(headers: dict[str, str], body: bytes) -> Request:
        return {other: value for other, value in headers.items() if other.lower() != name}, body

    return change


REFUSED: list[tuple[str, Change, str]] = [
    ("v1a", reserialised, "wrong_signature"),
    ("v1", reserialised, "wrong_signature"),
    ("jwt", reserialised, "wrong_body"),
    ("v1a", late, "too_old"),
    ("v1", late, "too_old"),
    ("v1a", without("webhook-signature"), "missing_header"),
    ("v1", without("webhook-id"), "missing_header"),
    ("jwt", without("authorization"), "missing_header"),
    ("jwt", with_token(TokenKey()), "wrong_signature"),
    ("jwt", with_token(TokenKey("rsa-9")), "unknown_key"),
    ("jwt", lambda headers, body: (headers, b""), "wrong_body"),
    ("v1a", lambda headers, body: (headers, b""), "wrong_signature"),
]


@pytest.mark.parametrize(("name", "change", "reason"), REFUSED, ids=lambda one: getattr(one, "__name__", one))
def test_it_refuses_what_isnt_genuine_and_says_why(
    name: str, change: Change, reason: str, here: Running, keys: Published
) -> None:
    found = delivered(here, keys, name, change)

    assert found.answers == [("http_4xx", 400, reason)]


def test_it_refuses_the_token_of_another_issuer(here: Running, keys: Published) -> None:
    """A deployment's tenants share the key: this is what parts them."""
    found = delivered(here, keys, "jwt", with_token(keys.foreign, iss=f"{keys.base_url}/other"))

    assert found.answers == [("http_4xx", 400, "wrong_claims")]


def test_it_takes_a_body_of_1_mib_and_answers_413_to_twice_as_much(here: Running) -> None:
    def status(size: int) -> int:
        connection = http.client.HTTPConnection(here.url.removeprefix("http://"), timeout=20)
        try:
            connection.request("POST", "/hook", b" " * size, {"Content-Type": "application/a2a+json"})
            return connection.getresponse().status
        except (BrokenPipeError, ConnectionResetError):
            return connection.getresponse().status  # it answered, and hung up on the rest
        finally:
            connection.close()

    assert status(MAX_BODY) == 400  # unsigned, but read
    assert status(2 * MAX_BODY + 1) == 413


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("name", PATHS)
def test_it_deals_once_with_what_comes_twice(example: str, name: str, keys: Published) -> None:
    with EXAMPLES[example](settings(keys)) as here:
        found = delivered(here, keys, name, lose=1)  # the answer to the first one
        found.road.wait(120)

    ids = [headers["webhook-id"] for headers, _ in found.between.sent]
    assert len(ids) == 5
    assert ids[0] == ids[1]
    task = found.road.webhook().ref.task_id
    assert here.handled == [f"{line} {task}" for line in HANDLED]


@pytest.mark.parametrize("example", EXAMPLES)
def test_it_asks_for_another_attempt_while_keys_cant_be_loaded(example: str, keys: Published) -> None:
    nobody = "http://127.0.0.1:9/jwks.json"
    with EXAMPLES[example](settings(keys, JWKS_URL=nobody)) as here:
        found = delivered(here, keys, "v1a")

    assert found.answers == [("http_5xx", 503, "keys_unavailable")]
    assert here.handled == []
