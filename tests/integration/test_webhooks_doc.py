"""docs/webhooks.md: its receiver runs as it is printed there, and its numbers are those of the code."""

from __future__ import annotations

import asyncio
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Any

import httpx
import pytest

from builders.deliveries import URL, Road
from fakes.secret_versions import FakeVersion, FakeVersions
from fakes.world import Post
from herald.delivery import retry
from herald.delivery.signing import SigningKeys
from herald.webhooks import Reason

DOC = (Path(__file__).parents[2] / "docs/webhooks.md").read_text()
JWKS_URL = "https://agent.example/.well-known/jwks.json"


def sent(keys: SigningKeys) -> list[Post]:
    """The notifications of a short task, signed at this moment."""

    road = Road(signer=keys)
    road.clock.set(int(time() * 1000))
    road.register(snapshot_due=True)
    road.working(1)
    road.artifact(2)
    road.completed(3)
    road.run()
    return road.posts(URL)


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[SigningKeys]:
    """What the JWKS address answers: the keys in this list."""
    published: list[SigningKeys] = [SigningKeys(FakeVersions())]

    def urlopen(url: str, timeout: float) -> io.BytesIO:
        assert url == JWKS_URL
        return io.BytesIO(json.dumps({"keys": [key.jwk for keys in published for key in keys.public("acme")]}).encode())

    monkeypatch.setenv("JWKS_URL", JWKS_URL)
    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    return published


def receiver() -> tuple[dict[str, Any], Callable[..., Any]]:
    [code] = [block for block in re.findall(r"```python\n(.*?)```", DOC, re.DOTALL) if "FastAPI()" in block]
    names: dict[str, Any] = {"__name__": "receiver"}
    exec(compile(code, "docs/webhooks.md", "exec"), names)  # noqa: S102 - the page's own example

    async def post(one: Post, **changes: Any) -> httpx.Response:
        transport = httpx.ASGITransport(app=names["app"])
        async with httpx.AsyncClient(transport=transport, base_url="https://client.example") as client:
            return await client.post("/hook", headers=one.headers, content=changes.get("body", one.body))

    return names, post


def run(coroutine: Any) -> Any:

    return asyncio.run(coroutine)


def test_the_receiver_takes_each_notification_once(
    published: list[SigningKeys], capsys: pytest.CaptureFixture[str]
) -> None:
    names, post = receiver()
    posts = sent(published[0])

    answers = [run(post(one)).status_code for one in [*posts, posts[-1]]]

    assert answers == [204] * 5
    lines = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert lines == [["0", "task"], ["1", "statusUpdate"], ["2", "artifactUpdate"], ["3", "statusUpdate"]]
    assert len(names["seen"]) == 4


def test_the_receiver_refuses_what_was_changed(published: list[SigningKeys]) -> None:
    names, post = receiver()
    first = sent(published[0])[0]

    answer = run(post(first, body=first.body + b" "))

    assert (answer.status_code, answer.text) == (400, "wrong_signature")
    assert names["seen"] == set()


def test_the_receiver_loads_a_new_key_once_a_minute_at_most(published: list[SigningKeys]) -> None:
    names, post = receiver()
    run(post(sent(published[0])[0]))
    new = SigningKeys(FakeVersions(FakeVersion("v-2")))
    one = sent(new)[0]

    published.insert(0, new)
    assert run(post(one)).status_code == 400
    names["keys"]["loaded"] -= 61
    assert run(post(one)).status_code == 204


def test_the_pages_schedule_is_that_of_the_code() -> None:
    assert "| Wait | 5 s | 30 s | 2 min | 10 min | 30 min | 2 h | 5 h | 10 h each |" in DOC
    assert list(retry.DELAYS) == [5, 30, 120, 600, 1_800, 7_200, 18_000, *[36_000] * 4]
    assert "The twelfth failure in a row" in DOC
    assert retry.MAX_ATTEMPTS == 12


def test_the_page_names_every_failure_class() -> None:
    listed = set(re.findall(r"`(\w+)`", DOC.partition("## Failure classes")[2]))
    classes = {value for name, value in vars(retry).items() if name.isupper() and isinstance(value, str)}

    assert listed == classes - {retry.DELIVERED, retry.DISABLED_BY_RECEIVER}


def test_the_page_names_every_reason() -> None:

    for reason in Reason:
        assert f"`{reason.value}`" in DOC


def test_the_page_names_every_header_that_is_sent(published: list[SigningKeys]) -> None:
    shown = DOC.partition("```text")[2].partition("```")[0].lower()

    for name in sent(published[0])[0].headers:
        assert f"\n{name.lower()}: " in shown
