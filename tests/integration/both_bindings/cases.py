"""How a row of a table is told: what a client asks, step by step, and what it must be answered.

Of a string in a request or an answer, ``{task}`` is the id of the task that was there before, and what a step keeps has
the name that it gives. ``ANY`` stands for a name that Herald makes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import ANY

from integration.both_bindings.stage import Client, Deployment, Reply

Json = dict[str, Any]

AT = "2026-01-01T00:00:00.000Z"


@dataclass(frozen=True)
class Refused:
    """An error by its reason, the wrong fields, and its metadata."""

    reason: str
    fields: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One request and its answer.

    Attributes:
        answer: the result, or the error.
        keep: names for members of the result, by their path: ``{"token": "nextPageToken"}``.
        work: then run the agent for the task, as its last message asks.
        echoed: the extensions that the answer names as those in use.
    """

    operation: str
    params: Json
    answer: Any
    keep: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    owner: str = ""
    tenant: str = ""
    work: bool = False
    echoed: str = ""


@dataclass(frozen=True)
class Case:
    """What a client lives through.

    Attributes:
        steps: in order.
        given: the words that the agent of the task before obeys; "": nobody has worked on it; None: there is no task.
        profile: how the API is deployed.
    """

    steps: Sequence[Step]
    given: str | None = None
    profile: str = "plain"
    tenant: str = ""


def case(*steps: Step, given: str | None = None, profile: str = "plain", tenant: str = "") -> Case:
    return Case(steps, given, profile, tenant)


def live(deployment: Deployment, name: str, told: Case) -> list[Reply]:
    """Live a case through over one binding, and compare each answer with what is told; the answers."""
    deployment.begin()
    owner = re.sub(r"\W", "-", name)
    client = Client(deployment, owner, told.tenant, told.profile)
    kept: dict[str, str] = {}
    if told.given is not None:
        kept["task"] = _given(client, told.given)
    replies = []
    for number, step in enumerate(told.steps, 1):
        reply = client.call(
            step.operation,
            _filled(step.params, kept),
            _filled(step.headers, kept),
            **({"owner": step.owner} if step.owner else {}),
            **({"tenant": step.tenant} if step.tenant else {}),
        )
        where = f"{name}, step {number}: {step.operation} gave {reply}"
        for kept_name, path in step.keep.items():
            kept[kept_name] = _member(reply.result, path)
        if isinstance(step.answer, Refused):
            assert reply.result is None, where
            assert (reply.reason, reply.fields) == (step.answer.reason, list(step.answer.fields)), where
            assert _filled(dict(step.answer.metadata), kept).items() <= reply.metadata.items(), where
        else:
            assert reply.reason == "", where
            assert reply.result == _filled(step.answer, kept), where
        assert dict(reply.headers).get("a2a-extensions", "") == step.echoed, where
        if step.work:
            deployment.work(step.owner or owner, step.tenant or told.tenant, kept["task"])
        replies.append(reply)
    return replies


def _given(client: Client, words: str) -> str:
    message = {"messageId": "m0", "contextId": "ctx", "role": "ROLE_USER", "parts": [{"text": words or "hi"}]}
    sent = client.call(
        "SendMessage",
        {"message": message, "configuration": {"returnImmediately": True}},
        {"A2A-Extensions": "https://example.com/extensions/a"} if client.profile == "requiring" else None,
    )
    task_id: str = sent.result["task"]["id"]
    if words:
        client.deployment.work(client.owner, client.tenant, task_id)
    return task_id


def _filled(value: Any, kept: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda found: kept.get(found[1], found[0]), value)
    if isinstance(value, Mapping):
        return {key: _filled(member, kept) for key, member in value.items()}
    if isinstance(value, list):
        return [_filled(member, kept) for member in value]
    return value


def _member(value: Any, path: str) -> Any:
    for step in path.split("."):
        value = value[int(step)] if step.isdigit() else value[step]
    return value


__all__ = ["ANY", "AT", "Case", "Json", "Refused", "Step", "case", "live"]
