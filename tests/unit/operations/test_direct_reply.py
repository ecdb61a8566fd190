"""A reply without a task, from the adopter's agent/reply.py."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from builders.api import ApiBench
from herald.operations import direct_reply
from herald.protocol.errors import InvalidAgentResponseError
from herald.protocol.model import Message, Part, Role
from herald.protocol.requests import SendMessageRequest
from herald.protocol.states import TaskState


async def greet(request: SendMessageRequest) -> Message | None:
    if request.message.parts[0].text != "hello":
        return None
    return Message(message_id="r1", role=Role.AGENT, parts=[Part(text="Hello!")])


def test_f10_a_reply_is_answered_as_a_message_and_no_task_is_stored() -> None:
    api = ApiBench(reply=greet)

    answer = api.rpc("SendMessage", {"message": _message("hello", contextId="c")})

    assert answer["result"] == {
        "message": {
            "messageId": "r1",
            "contextId": "c",
            "role": "ROLE_AGENT",
            "parts": [{"text": "Hello!"}],
        }
    }
    assert not api.world.items


def test_a_reply_without_a_context_is_given_one() -> None:
    answer = ApiBench(reply=greet).rpc("SendMessage", {"message": _message("hello")})

    assert len(answer["result"]["message"]["contextId"]) == 26


def test_a_reply_of_none_makes_a_task() -> None:
    api = ApiBench(reply=greet)

    assert api.send(text="analyse this")["status"]["state"] == "TASK_STATE_SUBMITTED"


def test_a_follow_up_is_never_replied_to_directly() -> None:
    api = ApiBench(reply=greet)
    task_id = api.send(text="analyse this")["id"]
    api.put_status(api.ref(task_id), TaskState.INPUT_REQUIRED)

    assert api.send(text="hello", messageId="m2", taskId=task_id)["id"] == task_id


def test_what_is_no_message_is_an_invalid_agent_response() -> None:
    async def wrong(request: SendMessageRequest) -> Message | None:
        return {"text": "Hello!"}  # type: ignore[return-value]

    with pytest.raises(InvalidAgentResponseError):
        ApiBench(reply=wrong).send()


def test_e24_an_exception_of_a_reply_is_an_internal_error_without_its_text() -> None:
    async def broken(request: SendMessageRequest) -> Message | None:
        raise RuntimeError("secret")

    answer = ApiBench(reply=broken).rpc("SendMessage", {"message": _message("hello")})

    assert answer["error"]["code"] == -32603
    assert answer["error"]["message"] == "Internal error"
    assert "secret" not in str(answer)


def _message(text: str, **members: str) -> dict[str, object]:
    return {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": text}], **members}


# ---- loading ----


@pytest.fixture
def agent_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An agent layer of its own in front of the one that ships, and forgotten afterwards."""
    package = tmp_path / "agent"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in _agent_modules():
        monkeypatch.delitem(sys.modules, name)
    yield package
    for name in _agent_modules():
        del sys.modules[name]


def _agent_modules() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "agent"]


def test_the_example_that_adopters_are_shown_works() -> None:
    example: dict[str, Any] = {}
    code = (direct_reply.__doc__ or "").partition("without a task:\n\n")[2]
    exec(textwrap.dedent(code), example)  # noqa: S102 - of our own docstring
    api = ApiBench(reply=example["reply"])

    assert api.rpc("SendMessage", {"message": _message("hello")})["result"]["message"]["parts"] == [{"text": "Hello!"}]
    assert "task" in api.rpc("SendMessage", {"message": _message("something else")})["result"]


def test_without_reply_py_there_is_no_reply_and_the_agent_is_not_imported(agent_layer: Path) -> None:
    (agent_layer / "__init__.py").write_text("raise RuntimeError('heavy')")

    assert direct_reply.load() is None


def test_reply_py_is_found(agent_layer: Path) -> None:
    (agent_layer / "reply.py").write_text("async def reply(request):\n    return None\n")

    assert direct_reply.load() is not None


@pytest.mark.parametrize(
    ("code", "sentence"),
    [("import nothing_like_it", "importing agent/reply.py failed"), ("x = 1", "must define: async def reply")],
)
def test_a_reply_py_that_cannot_be_used_says_why(agent_layer: Path, code: str, sentence: str) -> None:
    (agent_layer / "reply.py").write_text(code)

    with pytest.raises(direct_reply.ReplyNotLoaded, match=sentence):
        direct_reply.load()


def test_f11_what_a_reply_takes_is_taken_from_the_time_that_a_call_blocks() -> None:
    async def slow(request: SendMessageRequest) -> Message | None:
        api.clock.advance(10)
        return None

    api = ApiBench(reply=slow)
    began = api.clock.now()

    api.rpc("SendMessage", {"message": _message("analyse this")})

    assert api.clock.now() - began == 25_000
