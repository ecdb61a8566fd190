"""Invariant 6, on the deployed api function: whatever a stranger asks about another's task, it is answered byte for
byte like the same question about one that never existed. Only the names that were asked for are masked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from builders.events import LambdaContext
from builders.front_door import event
from builders.questions import HOOK, NEVER, QUESTIONS, Heard, Question, over_rest, over_rpc, without_made
from herald.bindings.jsonrpc import METHODS
from integration.both_bindings.stage import BINDINGS, Binding, Client, Deployment, deployments

Json = dict[str, Any]

ALICE, ACME = "https://issuer.example.com#alice", "acme"
BOB = "https://issuer.example.com#bob"


@dataclass(frozen=True)
class Stranger:
    """Somebody who isn't alice of acme: a subject, the tenant of its token, and the tenant that its request names."""

    owner: str
    tenant: str = ""
    names: str = ""


STRANGERS = {
    "another owner of the tenant": Stranger(BOB, ACME),
    "another owner of the tenant, which it names": Stranger(BOB, ACME, ACME),
    "another owner without a tenant": Stranger(BOB),
    "another owner that names the tenant": Stranger(BOB, names=ACME),
    "another owner of another tenant that names this one": Stranger(BOB, "globex", ACME),
    "the same subject without a tenant": Stranger(ALICE),
    "the same subject without a tenant that names this one": Stranger(ALICE, names=ACME),
    "the same subject of another tenant": Stranger(ALICE, "globex"),
    "the same subject of another tenant that names this one": Stranger(ALICE, "globex", ACME),
    "a subject whose name begins alike": Stranger(f"{ALICE}#", ACME),
    "the same subject of another issuer": Stranger("https://issuer.example.com/#alice", ACME),
}
THERE = Stranger(ALICE, ACME, ACME)

Answer = tuple[int, tuple[tuple[str, str], ...], str]


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Binding, Deployment]]:
    with deployments(tmp_path_factory.mktemp("cards")) as found:
        yield found


@pytest.fixture(params=BINDINGS)
def deployment(request: pytest.FixtureRequest, deployed: dict[Binding, Deployment]) -> Deployment:
    found: Deployment = deployed[request.param]
    found.begin()
    return found


def told(words: str, **members: Any) -> Json:
    return {"messageId": f"m-{words}", "role": "ROLE_USER", "parts": [{"text": words}], **members}


def lived(deployment: Deployment, state: str = "") -> Heard:
    """Alice of acme has had three tasks, one with a webhook; what a stranger may have heard of that one."""
    alice = Client(deployment, ALICE, ACME)
    sent: Json = {"message": told("alice's secret"), "configuration": {"returnImmediately": True}}
    for number in range(2):
        message = {**sent["message"], "messageId": f"m-{number}", "contextId": "alice's context of tasks"}
        alice.call("SendMessage", {**sent, "message": message})
    inline = {"id": "alices-hook", "url": HOOK, "token": "alices-token"}
    sent["configuration"]["taskPushNotificationConfig"] = inline
    sent["message"]["contextId"] = "alice's context of tasks"
    sent["metadata"] = {"idempotencyKey": "alice's key"}
    task = alice.call("SendMessage", sent).result["task"]
    if state:
        sent_again = {"message": told(state, taskId=task["id"]), "configuration": {"returnImmediately": True}}
        alice.call("SendMessage", sent_again)
        deployment.work(ALICE, ACME, task["id"])
    page = alice.call("ListTasks", {"pageSize": 1}).result["nextPageToken"]
    assert page
    return Heard(task["id"], "alice's context of tasks", "alices-hook", page, "alice's key")


def ask(deployment: Deployment, who: Stranger, question: Question, heard: Heard) -> list[Answer]:
    """The answers, as they go out, to each way in which it can be asked over this binding."""
    params = heard.fill(question.params)
    requests: list[tuple[str, str, Json | None]] = [("POST", "/", over_rpc(question.operation, params, who.names))]
    if deployment.binding == "HTTP+JSON":
        requests = list(over_rest(question.operation, params, who.names))
    return [_answer(deployment, who, *request) for request in requests]


def _answer(deployment: Deployment, who: Stranger, method: str, target: str, body: Json | None) -> Answer:
    headers = {"A2A-Version": "1.0", "Content-Type": "application/json"}
    sent = event(
        method,
        target,
        headers.items(),
        b"" if body is None else json.dumps(body).encode(),
        owner=who.owner,
        tenant=who.tenant,
    )
    answer: Json = deployment.handler("extended")(sent, LambdaContext())
    headers_sent: Mapping[str, str] = answer["headers"]
    return answer["statusCode"], tuple(sorted(headers_sent.items())), answer["body"]


def masked(question: Question, heard: Heard, answers: list[Answer]) -> list[Answer]:
    def mask(text: str) -> str:
        text = heard.mask(text)
        return without_made(text) if question.makes else text

    return [(status, headers, mask(body)) for status, headers, body in answers]


def kept(deployment: Deployment, *, of: str = "") -> list[Any]:
    """The items of a task, or of all of them."""
    found = deployment.tables.scan(TableName=deployment.environ["HERALD_TABLE"])["Items"]
    return sorted(
        (item for item in found if of in item["pk"]["S"]), key=lambda item: (item["pk"]["S"], item["sk"]["S"])
    )


def test_every_operation_is_asked() -> None:
    assert {question.operation for question in QUESTIONS} == set(METHODS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.operation)
@pytest.mark.parametrize("state", ["", "complete"], ids=["submitted", "completed"])
def test_e9_e11_what_is_anothers_is_answered_like_what_never_existed(
    deployment: Deployment, question: Question, state: str
) -> None:
    heard = lived(deployment, state)
    of = heard.task if question.makes else ""
    before = kept(deployment, of=of)

    for name, who in STRANGERS.items():
        theirs = ask(deployment, who, question, heard)
        never = ask(deployment, who, question, NEVER)

        assert masked(question, heard, theirs) == masked(question, NEVER, never), name
        assert "secret" not in heard.mask(str(theirs)), name
    assert kept(deployment, of=of) == before


@pytest.mark.parametrize(
    "question", [each for each in QUESTIONS if each.says_something], ids=lambda each: each.operation
)
def test_whom_it_is_of_is_answered_otherwise(deployment: Deployment, question: Question) -> None:
    """Else the questions above would ask for nothing."""
    heard = lived(deployment)

    own = ask(deployment, THERE, question, heard)
    never = ask(deployment, THERE, question, NEVER)

    assert masked(question, heard, own) != masked(question, NEVER, never)


@pytest.mark.parametrize("who", STRANGERS.values(), ids=STRANGERS.keys())
def test_g12_the_same_idempotency_key_of_a_stranger_is_another_key(deployment: Deployment, who: Stranger) -> None:
    heard = lived(deployment)
    stranger = Client(deployment, who.owner, who.tenant)
    sent = {"message": told("mine"), "configuration": {"returnImmediately": True}}

    reply = stranger.call("SendMessage", {**sent, "metadata": {"idempotencyKey": heard.key}})

    assert reply.result["task"]["id"] != heard.task
    assert reply.result["task"]["history"][0]["parts"] == [{"text": "mine"}]


@pytest.mark.parametrize("who", STRANGERS.values(), ids=STRANGERS.keys())
def test_a_strangers_list_has_its_own_tasks_alone(deployment: Deployment, who: Stranger) -> None:
    lived(deployment)
    stranger = Client(deployment, who.owner, who.tenant)
    sent = {"message": told("mine", contextId="alice's context of tasks"), "configuration": {"returnImmediately": True}}
    own = stranger.call("SendMessage", sent).result["task"]["id"]

    for params in ({}, {"contextId": "alice's context of tasks"}, {"status": "TASK_STATE_SUBMITTED"}):
        listed = stranger.call("ListTasks", params).result
        assert [task["id"] for task in listed["tasks"]] == [own]
        assert listed["totalSize"] == 1


FOREIGN = [name for name, who in STRANGERS.items() if who.names and who.names != who.tenant]


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize(
    "question",
    [
        Question("SendMessage", {"message": told("hello"), "configuration": {"returnImmediately": True}}),
        Question("ListTasks", {}),
        Question("GetExtendedAgentCard", {}),
    ],
    ids=lambda question: question.operation,
)
def test_a_tenant_that_is_anothers_is_answered_like_one_that_never_existed(
    deployment: Deployment, question: Question, name: str
) -> None:
    lived(deployment)
    who = STRANGERS[name]
    count = deployment.tables.scan(TableName=deployment.environ["HERALD_TABLE"])["Count"]

    [theirs] = ask(deployment, who, question, NEVER)
    [never] = ask(deployment, Stranger(who.owner, who.tenant, "nobodys"), question, NEVER)

    assert theirs == never
    assert "INVALID_PARAMS" in theirs[2]
    assert '"field":"tenant"' in theirs[2]
    assert deployment.tables.scan(TableName=deployment.environ["HERALD_TABLE"])["Count"] == count


def test_the_own_tenant_may_be_named_or_left_out(deployment: Deployment) -> None:
    heard = lived(deployment)
    question = Question("GetTask", {"id": "{task}"})

    assert ask(deployment, Stranger(ALICE, ACME), question, heard) == ask(deployment, THERE, question, heard)
