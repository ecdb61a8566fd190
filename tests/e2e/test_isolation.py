"""Invariant 6, on the deployed stack with real tokens: a stranger's questions about another's task are answered byte
for byte like those about one that never existed; and what the door itself says to tokens that it doesn't take."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from a2a.client import A2AClientError, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as a2a

from builders.questions import NEVER, QUESTIONS, Heard, Question, over_rest, over_rpc, without_made
from e2e.client import Client, message, script
from e2e.loopback import Receiver

Json = dict[str, Any]
NewClient = Callable[..., Client]

ACME = "acme"

SIGNATURE = re.compile(r'(?<="signature":")[\w-]{86}')  # each process signs its card, and no two signatures are equal

# Those that begin tasks of the strangers' own come last: lists show them.
IN_ORDER = [each for each in QUESTIONS if not each.makes] + [each for each in QUESTIONS if each.makes]


@dataclass(frozen=True)
class Scene:
    """Alice of acme has a task that waits for her, with a webhook; strangers have heard of it."""

    heard: Heard
    alice: Client
    strangers: Mapping[str, tuple[Client, str]]  # and the tenant that the request names


@pytest.fixture(scope="module")
def scene(new_client: NewClient) -> Scene:
    alice = new_client("alice", tenant=ACME)
    said = message(script({"require_input": "Which one?"}), contextId="alice's context of tasks")
    sent: Json = {"message": said, "metadata": {"idempotencyKey": "alice's key"}}
    task_id = alice.call("POST", "/message:send", sent)["task"]["id"]
    alice.wait_for_state(task_id, "TASK_STATE_INPUT_REQUIRED")
    alice.register(task_id, {"id": "alices-hook", "url": "http://127.0.0.1:9/hook"})
    alice.start({"complete": "Done"})
    page = alice.call("GET", "/tasks?pageSize=1")["nextPageToken"]
    return Scene(
        Heard(task_id, "alice's context of tasks", "alices-hook", page, "alice's key"),
        alice,
        {
            "another owner of the tenant": (new_client("bob", tenant=ACME), ""),
            "another owner without a tenant that names this one": (new_client("bob"), ACME),
            "the same subject without a tenant": (new_client("alice"), ""),
            "the same subject of another tenant that names this one": (new_client("alice", tenant="globex"), ACME),
        },
    )


def ask(client: Client, tenant: str, question: Question, heard: Heard) -> list[tuple[int, str, str]]:
    """Status, media type and body of the answers, over both bindings."""
    params = heard.fill(question.params)
    requests = [
        ("POST", "/", over_rpc(question.operation, params, tenant)),
        *over_rest(question.operation, params, tenant),
    ]
    answers = [client.answer(*request) for request in requests]
    return [(answer.status_code, answer.headers["content-type"], answer.text) for answer in answers]


def masked(question: Question, heard: Heard, answers: list[tuple[int, str, str]]) -> list[tuple[int, str, str]]:
    def mask(text: str) -> str:
        text = SIGNATURE.sub("<signature>", heard.mask(text))
        return without_made(text) if question.makes else text

    return [(status, kind, mask(body)) for status, kind, body in answers]


@pytest.mark.parametrize("question", IN_ORDER, ids=lambda question: question.operation)
def test_e9_e11_what_is_anothers_is_answered_like_what_never_existed(scene: Scene, question: Question) -> None:
    before = scene.alice.task(scene.heard.task)

    for name, (client, tenant) in scene.strangers.items():
        theirs = ask(client, tenant, question, scene.heard)
        never = ask(client, tenant, question, NEVER)

        assert masked(question, scene.heard, theirs) == masked(question, NEVER, never), name
        assert {status for status, _, _ in theirs} <= {200, 400, 404}, name
    assert scene.alice.task(scene.heard.task) == before


def test_the_task_is_there_for_whom_it_is_of(scene: Scene) -> None:
    for tenant in ("", ACME):
        [(_, _, over_json_rpc), (status, _, over_http)] = ask(
            scene.alice, tenant, Question("GetTask", {"id": "{task}"}), scene.heard
        )
        assert (status, json.loads(over_http)["id"]) == (200, scene.heard.task)
        assert json.loads(over_json_rpc)["result"] == json.loads(over_http)


def test_c13_a_webhook_is_sent_to_whoever_its_owner_is(new_client: NewClient, receiver: Receiver) -> None:
    bob = new_client("bob", tenant="globex")

    task_id = bob.start({"working": "On it"}, {"complete": "Done"}, webhook=receiver.config)

    assert receiver.wait_for_end(task_id)[-1].state == "TASK_STATE_COMPLETED"


# ---- the door ----


def refused(client: Client) -> tuple[int, str, str, str]:
    """Status, challenge, reason and message of GetTask."""
    answer = client.answer("GET", "/tasks/x")
    error = answer.json()["error"]
    return answer.status_code, answer.headers["www-authenticate"], error["details"][0]["reason"], error["message"]


REALM = 'Bearer realm="herald"'


def test_e23_without_a_token_the_answer_says_how_to_authenticate(addresses: Mapping[str, str]) -> None:
    client = Client(addresses["baseUrl"])
    try:
        status, challenge, reason, sentence = refused(client)
    finally:
        client.close()

    assert (status, challenge, reason) == (401, REALM, "UNAUTHENTICATED")
    assert "Authorization: Bearer" in sentence


def test_e23_the_extended_card_is_for_callers(addresses: Mapping[str, str]) -> None:
    answer = httpx.get(f"{addresses['baseUrl']}/extendedAgentCard", timeout=60, trust_env=False)

    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, REALM)


def test_a_token_that_has_expired_is_told_so(new_client: NewClient) -> None:
    assert refused(new_client("alice", seconds=-61)) == (
        401,
        f'{REALM}, error="invalid_token"',
        "UNAUTHENTICATED",
        "The access token has expired: get a new one.",
    )


def test_a_token_that_was_changed_is_told_so(addresses: Mapping[str, str], token: str) -> None:
    header, payload, signature = token.split(".")
    changed = Client(addresses["baseUrl"], f"{header}.{payload}.{signature[::-1][1:]}A")
    try:
        status, challenge, reason, sentence = refused(changed)
    finally:
        changed.close()

    assert (status, challenge, reason) == (401, f'{REALM}, error="invalid_token"', "UNAUTHENTICATED")
    assert sentence == "The access token wasn't signed by its issuer."


def test_a_missing_scope_is_named_over_both_bindings(new_client: NewClient) -> None:
    client = new_client("alice", scope="profile email")

    rest = client.answer("GET", "/tasks/x")
    rpc = client.answer("POST", "/", over_rpc("GetTask", {"id": "x"}))

    assert (rest.status_code, rpc.status_code) == (403, 403)
    assert rest.json()["error"]["details"] == rpc.json()["error"]["data"]
    assert rest.json()["error"]["details"][0]["metadata"]["scope"] == "herald/call"


def test_one_token_is_good_for_every_method(new_client: NewClient) -> None:
    """API Gateway keeps the authorizer's answer; a policy for the first method would refuse the second."""
    client = new_client("carol")

    task_id = client.start({"require_input": "Which one?"})
    client.wait_for_state(task_id, "TASK_STATE_INPUT_REQUIRED")
    config_id = client.register(task_id, {"url": "http://127.0.0.1:9/hook"})
    client.unregister(task_id, config_id)

    assert client.cancel(task_id)["status"]["state"] == "TASK_STATE_CANCELED"


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize(
    ("what", "status", "challenge"),
    [
        (None, 401, REALM),
        ({"seconds": -61}, 401, f'{REALM}, error="invalid_token"'),
        ({"scope": "profile"}, 403, f'{REALM}, error="insufficient_scope", scope="herald/call"'),
    ],
    ids=["no token", "expired", "no scope"],
)
def test_a2a_sdk_s_client_raises_with_the_status_and_the_challenge_at_hand(
    binding: str, what: Json | None, status: int, challenge: str, addresses: Mapping[str, str], mint: Callable[..., str]
) -> None:
    headers = {} if what is None else {"Authorization": f"Bearer {mint('alice', **what)}"}

    async def ask_sdk() -> None:
        async with httpx.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
            config = ClientConfig(httpx_client=http, streaming=False, supported_protocol_bindings=[binding])
            sdk = await ClientFactory(config).create_from_url(addresses["baseUrl"])  # the card is public
            await sdk.get_task(a2a.GetTaskRequest(id="x"))

    with pytest.raises(A2AClientError, match=f"HTTP Error {status}") as raised:
        asyncio.run(ask_sdk())

    cause = raised.value.__cause__
    assert isinstance(cause, httpx.HTTPStatusError)
    assert cause.response.headers["www-authenticate"] == challenge
