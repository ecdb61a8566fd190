"""Invariant 7: the bytes sent are the bytes signed; every attempt carries a fresh timestamp and the same webhook-id and
body.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from builders.deliveries import URL, Road
from builders.records import a_ref, status_entry
from fakes.clock import START
from fakes.secret_versions import FakeVersions
from herald.client_secrets import Secrets
from herald.delivery.signing import SigningKeys
from herald.log import fold
from herald.protocol import codec
from herald.records import Entry
from herald.webhooks import verify

SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def entry(number: int, data: object) -> Entry:
    update = {
        "taskId": a_ref().task_id,
        "contextId": "ctx-1",
        "artifact": {"artifactId": f"a{number}", "parts": [{"data": data}]},
    }
    return Entry(number, "artifact", codec.dumps({"artifactUpdate": update}), at=START, writer=f"w{number}", turn=0)


@settings(max_examples=60, deadline=None)
@given(
    data=st.lists(json_values, min_size=1, max_size=3), failures=st.lists(st.sampled_from([500, 429, 302]), max_size=4)
)
def test_whatever_the_task_holds_each_attempt_is_signed_as_it_is_sent(data: list[object], failures: list[int]) -> None:
    keys = SigningKeys(FakeVersions())
    jwks = {"keys": [key.jwk for key in keys.public("acme")]}
    road = Road(signer=keys)
    road.register(snapshot_due=True, secrets=Secrets(token=SECRET))
    entries = [entry(number, one) for number, one in enumerate(data, 1)]
    for one in entries:
        road.store(one)
    road.transport.script(URL, *failures)

    road.run()
    for _ in failures:
        road.clock.advance(7_200)
        road.sweep()
        road.run()

    snapshot = codec.dumps({"task": fold(a_ref(), road.world.entries(a_ref())[:1])})
    stored = [snapshot.encode(), *(one.body.encode() for one in entries)]
    posts = road.posts()
    assert [post.body for post in posts] == [stored[0]] * len(failures) + stored
    for post in posts:
        now = int(post.headers["webhook-timestamp"])
        assert verify(post.body, post.headers, jwks=jwks, now=now).id == post.headers["webhook-id"]
        assert verify(post.body, post.headers, secret=SECRET, now=now).id == post.headers["webhook-id"]
    attempts = posts[: len(failures) + 1]
    assert len({post.headers["webhook-id"] for post in attempts}) == 1
    assert len({post.headers["webhook-timestamp"] for post in attempts}) == len(attempts)
    assert len({post.headers["webhook-signature"] for post in attempts}) == len(attempts)


def test_a_timestamp_is_that_of_the_attempt_and_not_of_the_entry() -> None:
    road = Road()
    road.register()
    road.store(status_entry(1, at=START))
    road.clock.advance(3_600)

    road.run()

    assert road.posts()[0].headers["webhook-timestamp"] == str(START // 1000 + 3_600)
