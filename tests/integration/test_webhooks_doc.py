"""docs/webhooks.md: its code runs as it is printed there, and its numbers are those of the code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Any

import pytest

from builders.deliveries import URL, Road
from builders.js_verifier import js_verifier
from builders.jwt_profile import TokenKey
from fakes.secret_versions import FakeVersions
from fakes.world import Post
from herald import webhooks
from herald.client_secrets import Secrets
from herald.delivery import retry
from herald.delivery.signing import SigningKeys
from herald.webhooks import Reason, VerificationError

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs/webhooks.md").read_text()
JWKS_URL = "https://agent.example/.well-known/jwks.json"
SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
PROFILES = {"v1a": "By the agent's keys: `v1a`", "v1": "By your own secret: `v1`", "jwt": "By a JWT"}

KEYS, TOKENS = SigningKeys(FakeVersions()), TokenKey()
JWKS = {"keys": [*(key.jwk for key in KEYS.public("acme")), TOKENS.jwk]}


def sent() -> list[Post]:
    """The notifications of a short task, signed at this moment, in every profile."""
    road = Road(signer=KEYS)
    road.clock.set(int(time() * 1000))
    road.register(snapshot_due=True, secrets=Secrets(token=SECRET))
    road.working(1)
    road.artifact(2)
    road.completed(3)
    road.run()
    posts = road.posts(URL)
    for post in posts:
        token = TOKENS.token(post.headers["webhook-id"], post.body, int(time()))
        post.headers["Authorization"] = f"Bearer {token}"
    return posts


def code(profile: str, language: str) -> str:
    [block] = re.findall(
        rf"^### {re.escape(PROFILES[profile])}$.*?```{language}\n(.*?)```", DOC, re.DOTALL | re.MULTILINE
    )
    return str(block)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_pages_python_takes_what_is_genuine_and_nothing_else(profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "_get", {JWKS_URL: json.dumps(JWKS).encode()}.__getitem__)
    names: dict[str, Any] = {"__name__": "receiver"}
    exec(compile(code(profile, "python"), "docs/webhooks.md", "exec"), names)  # noqa: S102 - the page's own example
    read: Callable[..., webhooks.Notification] = names["read"]

    posts = sent()

    assert [(got.number, got.kind) for got in (read(post.body, post.headers) for post in posts)] == [
        (0, "task"),
        (1, "statusUpdate"),
        (2, "artifactUpdate"),
        (3, "statusUpdate"),
    ]
    with pytest.raises(VerificationError):
        read(posts[0].body + b" ", posts[0].headers)


# As a receiver's author would: the page's code in a module, and the notifications as they came.
TRY = """
globalThis.fetch = async (url) => new Response(url === process.env.JWKS_URL ? process.env.JWKS : null);
const { read } = await import(process.env.MODULE);
for (const { headers, body } of JSON.parse(process.env.SENT)) {
  const { number, kind } = await read(Buffer.from(body), headers);
  const changed = await read(Buffer.from(`${body} `), headers).catch(({ reason }) => reason);
  console.log(number, kind, changed);
}
"""


@pytest.mark.parametrize("profile", PROFILES)
def test_the_pages_javascript_takes_what_is_genuine_and_nothing_else(profile: str) -> None:
    program = js_verifier()
    (program.place / f"page-{profile}.mjs").write_text(code(profile, "js"))
    posts = [{"headers": post.headers, "body": post.body.decode()} for post in sent()]

    told = program.run(
        "--input-type=module",
        "--eval",
        TRY,
        JWKS_URL=JWKS_URL,
        JWKS=json.dumps(JWKS),
        MODULE=f"./page-{profile}.mjs",
        SENT=json.dumps(posts),
    )

    reason = {"v1a": "wrong_signature", "v1": "wrong_signature", "jwt": "wrong_body"}[profile]
    assert told.splitlines() == [
        f"0 task {reason}",
        f"1 statusUpdate {reason}",
        f"2 artifactUpdate {reason}",
        f"3 statusUpdate {reason}",
    ]


@pytest.mark.parametrize(
    ("language", "mark", "file"),
    [("python", "FastAPI()", "fastapi_receiver.py"), ("js", "express()", "express_receiver.mjs")],
)
def test_the_pages_complete_receivers_are_those_of_the_examples(language: str, mark: str, file: str) -> None:
    """tests/integration/receivers runs these."""
    [block] = [found for found in re.findall(rf"```{language}\n(.*?)```", DOC, re.DOTALL) if mark in found]

    assert block == (ROOT / "examples" / "receivers" / file).read_text()


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


def test_the_page_names_every_header_that_is_sent() -> None:
    shown = DOC.partition("```text")[2].partition("```")[0].lower()

    for name in sent()[0].headers:
        assert f"\n{name.lower()}: " in shown


def test_the_page_names_every_claim() -> None:
    [claims] = re.findall(r"^\| Claim \|.*?\n\n", DOC, re.DOTALL | re.MULTILINE)

    assert re.findall(r"^\| `(\w+)`", claims, re.MULTILINE) == [
        "iat",
        "exp",
        "iss",
        "jti",
        "taskId",
        "request_body_sha256",
        "aud",
    ]
