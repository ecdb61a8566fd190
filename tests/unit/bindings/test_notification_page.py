"""The address where the whole of a large notification is found."""

from __future__ import annotations

import json

import pytest

from fakes.kept import FakeKeptBodies
from fakes.world import FakeSealer
from herald.bindings.http import Request
from herald.bindings.notification_page import NotificationPage
from herald.delivery.large import PATH, PLACE
from herald.ports import Unavailable

KEY = "bodies/acme/alice/t/000000000001-artifactUpdate-whole"


@pytest.fixture
def sealer() -> FakeSealer:
    return FakeSealer()


@pytest.fixture
def page(sealer: FakeSealer) -> NotificationPage:
    return NotificationPage(FakeKeptBodies(), sealer)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_sealed_name_leads_on_to_the_bucket_for_five_minutes(
    page: NotificationPage, sealer: FakeSealer, method: str
) -> None:
    answer = page(Request(method, PATH, {"of": sealer.seal(KEY, PLACE)}))

    assert answer.status == 303
    assert answer.headers == {"location": f"https://bucket.example/{KEY}?for=300", "cache-control": "no-store"}
    assert answer.body == b""


def test_neither_the_name_nor_the_address_is_logged(page: NotificationPage, sealer: FakeSealer) -> None:
    assert page(Request("GET", PATH, {"of": sealer.seal(KEY, PLACE)})).note == {"operation": "GetNotification"}


def test_what_was_sealed_for_something_else_is_nothing_here(page: NotificationPage, sealer: FakeSealer) -> None:
    for query in ({}, {"of": ""}, {"of": "bodies/x"}, {"of": sealer.seal(KEY, "a webhook's place")}):
        answer = page(Request("GET", PATH, query))
        assert answer.status == 404
        assert json.loads(answer.body)["error"]["message"] == "There is no such notification."


def test_a_name_whose_key_is_gone_is_nothing_any_more(page: NotificationPage, sealer: FakeSealer) -> None:
    sealed = sealer.seal(KEY, PLACE)
    sealer.gone.add(1)
    assert page(Request("GET", PATH, {"of": sealed})).status == 404


def test_a_secret_that_cannot_be_read_is_no_verdict(page: NotificationPage, sealer: FakeSealer) -> None:
    sealed = sealer.seal(KEY, PLACE)
    sealer.fail_next("open", Unavailable("GetSecretValue"))
    assert page(Request("GET", PATH, {"of": sealed})).status == 503


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_it_can_only_be_read(page: NotificationPage, method: str) -> None:
    answer = page(Request(method, PATH))
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
