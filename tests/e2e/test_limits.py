"""What callers are held to, which sites' scripts may call, a name of the agent's own: a second stack shows them.

And an erasure on the first one, by the operator's own verb.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest
from local import stack as local_stack
from local.environments import ROOT
from local.stack import Place

from e2e.client import HEADERS, Client, message
from e2e.cloud import Cloud
from e2e.loopback import Receiver

SITE = "https://app.example.com"
NAME = "agent.example.test"
LIMITS = {
    "ThrottleRate": "2",
    "ThrottleBurst": "20",
    "OpenTasksPerOwner": "2",
    "OriginsPerOwner": "1",
    "CorsOrigin": SITE,
    "DomainName": NAME,
    "CertificateArn": "arn:aws:acm:us-east-1:000000000000:certificate/of-nobody",
    "PublicUrl": "",
}
ASKING = [{"data": {"script": [{"require_input": "Which one?"}]}}]


@pytest.fixture(scope="module")
def limited(addresses: Mapping[str, str], place: Place) -> Mapping[str, str]:
    """A stack with low limits in the same emulator."""
    issuer = local_stack.AUTH["jwt"](addresses["endpointUrl"])
    return local_stack.beside(place, "herald-limited", {**issuer, "Agent": "agent.scripted:Scripted", **LIMITS})


def call(stack: Mapping[str, str], method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
    sent = {**HEADERS, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return httpx.request(method, stack["baseUrl"] + path, json=body, headers=sent, timeout=60, trust_env=False)


def send(stack: Mapping[str, str], token: str, hook: str = "") -> httpx.Response:
    """A message whose task waits for its client."""
    settings: dict[str, Any] = {"returnImmediately": True}
    if hook:
        settings["taskPushNotificationConfig"] = {"url": hook}
    body = {"message": message(*ASKING), "configuration": settings}
    return call(stack, "POST", "/message:send", body, authorization=f"Bearer {token}")


def test_an_owner_with_too_many_open_tasks_is_told_when_to_come_back(
    limited: Mapping[str, str], mint: Callable[..., str]
) -> None:
    ada, bob = mint("ada"), mint("bob")
    assert [send(limited, ada).status_code for _ in range(2)] == [200, 200]
    refused = send(limited, ada)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    assert refused.json()["error"]["details"][0]["metadata"] == {"limit": "2"}
    assert send(limited, bob).status_code == 200


def test_an_owners_webhooks_point_at_so_many_origins_and_no_more(
    limited: Mapping[str, str], mint: Callable[..., str]
) -> None:
    eve = mint("eve")
    assert send(limited, eve, "http://127.0.0.1:9/a").status_code == 200
    refused = send(limited, eve, "http://127.0.0.1:10/a")
    assert refused.status_code == 400
    (violation,) = refused.json()["error"]["details"][1]["fieldViolations"]
    assert violation["field"] == "configuration.taskPushNotificationConfig.url"
    assert send(limited, eve, "http://127.0.0.1:9/b").status_code == 200


def test_more_requests_than_the_stage_lets_through_are_told_to_come_back(limited: Mapping[str, str]) -> None:
    answer = call(limited, "GET", "/.well-known/agent-card.json")
    for _ in range(500):
        if answer.status_code != 200:
            break
        answer = call(limited, "GET", "/.well-known/agent-card.json", origin=SITE)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    error = answer.json()["error"]
    assert (error["code"], error["details"][0]["reason"]) == (429, "RESOURCE_EXHAUSTED")
    assert answer.headers["access-control-allow-origin"] == SITE


def test_a_browser_asks_without_a_token_and_can_read_refusals(limited: Mapping[str, str]) -> None:
    asked = call(limited, "OPTIONS", "/message:send", origin=SITE, access_control_request_method="POST")
    assert asked.status_code == 204
    assert asked.headers["access-control-allow-origin"] == SITE
    assert "A2A-Version" in asked.headers["access-control-allow-headers"]

    refused = call(limited, "GET", "/tasks/t", origin=SITE)
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == SITE
    assert "WWW-Authenticate" in refused.headers["access-control-expose-headers"]


def test_no_site_is_let_in_by_default(addresses: Mapping[str, str]) -> None:
    for method, path in (("OPTIONS", "/message:send"), ("GET", "/tasks/t"), ("GET", "/.well-known/agent-card.json")):
        answer = call(addresses, method, path, origin=SITE, access_control_request_method="POST")
        assert [name for name in answer.headers if name.startswith(("access-control", "vary"))] == [], path


def test_the_agents_own_name_serves_the_card_at_its_root_and_everything_else_below(
    limited: Mapping[str, str], mint: Callable[..., str]
) -> None:
    named = {**limited, "baseUrl": limited["endpointUrl"]}  # the emulator goes by the Host header
    keys = call(named, "GET", "/.well-known/jwks.json", host=NAME)
    assert keys.status_code == 200
    openapi = call(named, "GET", "/openapi.json", host=NAME).json()
    assert openapi["servers"][0]["url"] == f"https://{NAME}"
    missing = call(named, "GET", "/tasks/t", host=NAME, authorization=f"Bearer {mint('ada')}")
    assert (missing.status_code, missing.json()["error"]["status"]) == (404, "NOT_FOUND")


def test_a_task_with_a_webhook_is_erased_by_the_operators_verb(
    client: Client, cloud: Cloud, place: Place, new_receiver: Callable[..., Receiver]
) -> None:
    receiver = new_receiver()
    task_id = client.start(
        {"artifact": {"id": "a", "text": "x" * 400_000}}, {"require_input": "Which one?"}, webhook=receiver.config
    )
    client.wait_for_state(task_id, "TASK_STATE_INPUT_REQUIRED")

    erased = erase(place, TASK=task_id, NO_WAIT="1", YES="1")

    assert erased.returncode == 3, erased.stderr  # the last pass is to come when nobody can write any more
    assert f"task {task_id}: canceled, removed" in erased.stdout
    assert "1 webhook" in erased.stdout
    assert "2 large bodies" in erased.stdout  # the artifact, and the message that asks for it
    assert [item["sk"]["S"] for item in cloud.task_items(task_id)] == ["TASK"]
    assert client.refused("GET", f"/tasks/{task_id}")[0] == 404
    assert task_id not in [task["id"] for task in client.call("GET", "/tasks")["tasks"]]


def erase(place: Place, **variables: str) -> subprocess.CompletedProcess[str]:
    """``make erase``, once its environment is there."""
    environment = {**os.environ, "LOCAL_DIR": str(place.folder), "PORT": str(place.port), **variables}
    command = [sys.executable, "-m", "local.ops", "erase"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)
