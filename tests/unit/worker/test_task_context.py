"""What an agent is told, and what its reports look like on the wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from builders.turns import Bench
from herald.agent import Agent, AgentError, Checkpoint, Message, Part, TaskContext, checkpoint, data, raw, text, url
from herald.protocol.model import Role
from herald.records import TaskRef


class Does(Agent):
    """A synchronous agent that does what a test says; what the deed returns or raises is kept."""

    def __init__(self, deed: Callable[[TaskContext], Any]) -> None:
        self.deed = deed
        self.result: Any = None
        self.error: Exception | None = None

    def run(self, task: TaskContext) -> None:
        try:
            self.result = self.deed(task)
        except AgentError as error:
            self.error = error
            raise


def done(deed: Callable[[TaskContext], Any], **sent: Any) -> tuple[Bench, Does]:
    agent = Does(deed)
    bench = Bench(agent)
    bench.send(sent.pop("parts", "hi"), **sent)
    bench.run()
    return bench, agent


def complaint(deed: Callable[[TaskContext], Any]) -> str:
    bench, agent = done(deed)
    assert bench.task["status"]["state"] == "TASK_STATE_FAILED"
    assert agent.error is not None
    return str(agent.error)


def test_an_agent_is_told_what_the_client_said() -> None:
    seen: dict[str, Any] = {}

    def look(task: TaskContext) -> None:
        seen.update(
            text=task.text,
            kinds=[part.kind for part in task.parts],
            raw=task.parts[1].raw,
            message_id=task.message.message_id,
            message_metadata=task.message.metadata,
            metadata=dict(task.metadata),
            modes=task.accepted_output_modes,
            extensions=task.extensions,
            references=task.reference_task_ids,
            ids=(task.task_id, task.context_id),
            place=(task.turn, task.step, task.attempt, task.checkpoint),
            history=task.history,
            artifacts=task.artifacts,
        )
        task.complete()

    done(
        look,
        parts=[{"text": "one"}, {"raw": "YSxi", "mediaType": "text/csv"}, {"text": "two"}, {"data": None}],
        metadata={"locale": "de"},
        accepted_output_modes=["text/markdown"],
        extensions=["https://example.com/ext/v1"],
        referenceTaskIds=["task-0"],
    )

    assert seen == {
        "text": "one\ntwo",
        "kinds": ["text", "raw", "text", "data"],
        "raw": b"a,b",
        "message_id": "m1",
        "message_metadata": None,
        "metadata": {"locale": "de"},
        "modes": ("text/markdown",),
        "extensions": ("https://example.com/ext/v1",),
        "references": ("task-0",),
        "ids": ("task-1", "context-1"),
        "place": (0, 0, 1, None),
        "history": [],
        "artifacts": [],
    }


def test_a_later_turn_is_told_the_earlier_ones() -> None:
    seen: list[tuple[int, list[tuple[str, str]], list[str]]] = []

    def talk(task: TaskContext) -> None:
        said = [(message.role.value, message.parts[0].text or "") for message in task.history]
        seen.append((task.turn, said, [artifact.artifact_id for artifact in task.artifacts]))
        if task.turn:
            task.complete()
        else:
            task.working("Reading")
            task.artifact("a draft", artifact_id="draft")
            task.require_input("For whom?")

    bench, _ = done(talk)
    bench.send("Ada", message_id="m2")
    bench.run()

    told = [("ROLE_USER", "hi"), ("ROLE_AGENT", "Reading"), ("ROLE_AGENT", "For whom?")]
    assert seen == [(0, [], []), (5, told, ["draft"])]


def test_a_status_on_the_wire() -> None:
    bench, _ = done(lambda task: task.complete(["See", data({"pages": 3})], metadata={"cost": 1.5}))

    assert bench.updates == [
        {
            "statusUpdate": {
                "taskId": "task-1",
                "contextId": "context-1",
                "status": {
                    "state": "TASK_STATE_COMPLETED",
                    "message": {
                        "messageId": "aaaaaaadaaaaaaaaaaaaaaaaaa",
                        "contextId": "context-1",
                        "taskId": "task-1",
                        "role": "ROLE_AGENT",
                        "parts": [{"text": "See"}, {"data": {"pages": 3}}],
                    },
                    "timestamp": "2026-01-01T00:00:00.000Z",
                },
                "metadata": {"cost": 1.5},
            }
        }
    ]


def test_b4_a_message_of_the_agents_own_making_gets_the_tasks_ids_and_the_agents_role() -> None:
    message = Message(
        message_id="mine", context_id="elsewhere", task_id="another", role=Role.USER, parts=[Part(text="Done")]
    )

    bench, _ = done(lambda task: task.complete(message))

    assert bench.updates[0]["statusUpdate"]["status"]["message"] == {
        "messageId": "mine",
        "contextId": "context-1",
        "taskId": "task-1",
        "role": "ROLE_AGENT",
        "parts": [{"text": "Done"}],
    }


def test_an_artifact_on_the_wire() -> None:
    def deliver(task: TaskContext) -> None:
        task.artifact(
            [
                text("# R", media_type="text/markdown"),
                raw(b"\x00\xff", "image/png", "chart.png"),
                url("https://example.com/a", metadata={"sha256": "ab"}),
                data([1, None, "x"]),
            ],
            artifact_id="report",
            name="Report",
            description="All of it",
            last_chunk=True,
            metadata={"rows": 2},
        )
        task.complete()

    bench, _ = done(deliver)

    assert bench.updates[0] == {
        "artifactUpdate": {
            "taskId": "task-1",
            "contextId": "context-1",
            "artifact": {
                "artifactId": "report",
                "name": "Report",
                "description": "All of it",
                "parts": [
                    {"text": "# R", "mediaType": "text/markdown"},
                    {"raw": "AP8=", "filename": "chart.png", "mediaType": "image/png"},
                    {"url": "https://example.com/a", "metadata": {"sha256": "ab"}},
                    {"data": [1, None, "x"]},
                ],
                "metadata": {"rows": 2},
            },
            "lastChunk": True,
        }
    }


def test_b18_chunks_are_joined_and_their_metadata_merged() -> None:
    def deliver(task: TaskContext) -> None:
        report = task.artifact("one", metadata={"a": 1})
        task.artifact("two", artifact_id=report, append=True, metadata={"b": 2})
        task.complete()

    bench, _ = done(deliver)

    assert bench.task["artifacts"] == [
        {"artifactId": "artifact-0-0-0", "parts": [{"text": "one"}, {"text": "two"}], "metadata": {"a": 1, "b": 2}}
    ]
    assert bench.updates[1]["artifactUpdate"]["append"] is True


def test_b19_history_keeps_every_message() -> None:
    def chat(task: TaskContext) -> None:
        task.working("one")
        task.working()
        task.working("two")
        task.complete("three")

    bench, _ = done(chat)

    said = [message["parts"][0]["text"] for message in bench.task["history"]]
    assert said == ["hi", "one", "two"]
    assert bench.task["status"]["message"]["parts"] == [{"text": "three"}]


def test_b14_b16_each_report_is_stored_when_its_call_returns() -> None:
    counts: list[int] = []
    bench = Bench(Does(lambda _: None))

    def report(task: TaskContext) -> None:
        counts.append(len(bench.entries))
        task.working()
        counts.append(len(bench.entries))
        task.artifact("x")
        counts.append(len(bench.entries))
        task.complete()
        counts.append(len(bench.entries))

    bench.agent = Does(report)
    bench.send()
    bench.run()

    assert counts == [2, 3, 4, 5]


def test_awaiting_a_report_and_calling_it_are_the_same() -> None:
    ids: list[str] = []

    class Async(Agent):
        async def run(self, task: TaskContext) -> None:
            await task.working("x")
            ids.append(await task.artifact("a"))
            ids.append(task.artifact("b"))
            await task.complete()

    bench = Bench(Async())
    bench.send()
    bench.run()

    assert ids == ["artifact-0-0-0", "artifact-0-0-1"]
    assert [entry.kind for entry in bench.entries] == ["message", "run", "status", "artifact", "artifact", "status"]


@pytest.mark.parametrize(
    ("deed", "message"),
    [
        (lambda task: task.artifact([]), "artifact(): parts must not be empty"),
        (lambda task: task.working([]), "working(): parts must not be empty"),
        (
            lambda task: task.artifact([3]),
            "artifact(): a part is a string or a Part, not int; make one with text(), data(), raw() or url()",
        ),
        (
            lambda task: task.artifact("x", append=True),
            "artifact(): append needs the artifact_id that an earlier artifact() returned",
        ),
        (
            lambda task: task.artifact("x", artifact_id="no", append=True),
            "artifact(): append to 'no', which this task doesn't have",
        ),
        (
            lambda task: task.artifact("x", artifact_id=task.artifact("y", last_chunk=True), append=True),
            "artifact(): append to 'artifact-0-0-0' after its last_chunk",
        ),
        (lambda task: task.artifact("x", artifact_id=""), "artifact(): artifact_id must not be empty"),
        (lambda task: task.artifact("x", name=7), "artifact(): artifact.name: must be a string"),
        (lambda task: task.artifact(text(7)), "text(): text: must be a string"),  # type: ignore[arg-type]
        (lambda task: task.artifact(data({1})), "data(): data: must hold JSON values only, not set"),
        (lambda task: task.artifact(data(float("nan"))), "data(): data: must not hold NaN or Infinity"),
        (
            lambda task: task.working(metadata={"x": {1}}),
            "working(): metadata: must be JSON (Object of type set is not JSON serializable)",
        ),
        (
            lambda task: checkpoint("x" * 1_000_000),
            "checkpoint(): 1,000,002 bytes of JSON are more than 1,000,000",
        ),
    ],
)
def test_a_mistake_is_named_and_the_task_failed(deed: Callable[[TaskContext], Any], message: str) -> None:
    assert complaint(deed) == message


@pytest.mark.parametrize("ending", ["complete", "fail", "reject", "require_input", "require_auth"])
@pytest.mark.parametrize("report", ["working", "artifact", "complete"])
def test_a_report_after_the_run_ended_its_turn_is_a_mistake(ending: str, report: str) -> None:
    def twice(task: TaskContext) -> None:
        getattr(task, ending)("first")
        getattr(task, report)("second")

    bench, agent = done(twice)

    assert str(agent.error).startswith(f"{report}(): this run has already ended its turn with TASK_STATE_")
    assert len(bench.states) == 1  # the mistake comes too late to change what was said
    assert [entry.kind for entry in bench.entries] == ["message", "run", "status"]


def test_a_task_of_more_than_5_mb_is_refused_and_the_way_out_told() -> None:
    big = "x" * 1_000_000

    def grow(task: TaskContext) -> None:
        for _ in range(4):
            task.artifact(big)
        task.artifact(big)

    message = complaint(grow)

    assert message.startswith("the task would have 5,00")
    assert message.endswith("more than 4,900,000: store what is large elsewhere and deliver it as a url() part")


def test_replaced_artifacts_do_not_count() -> None:
    big = "x" * 2_000_000

    def replace(task: TaskContext) -> None:
        for _ in range(5):
            task.artifact(big, artifact_id="same")
        task.complete("small")

    bench, _ = done(replace)

    assert bench.task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert len(bench.task["artifacts"]) == 1


def test_a_full_task_can_still_be_ended() -> None:
    def fill(task: TaskContext) -> None:
        task.artifact("x" * 4_899_000)
        task.complete("y" * 50_000)

    bench, agent = done(fill)

    assert agent.error is None
    assert bench.task["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_checkpoint_is_json_digit_for_digit() -> None:
    assert checkpoint({"a": 1.5, "b": [None, "é"]}) == Checkpoint('{"a":1.5,"b":[null,"é"]}')


@pytest.mark.parametrize(
    ("accepted", "media_type", "taken"),
    [
        (None, "text/markdown", True),
        ([], "text/markdown", True),
        (["text/markdown"], "text/markdown", True),
        (["Text/Markdown; charset=utf-8"], "text/markdown;variant=GFM", True),
        (["text/*"], "text/markdown", True),
        (["*/*"], "image/png", True),
        (["image/png", "text/plain"], "text/markdown", False),
        (["text"], "text/markdown", False),
        (["*/markdown"], "text/markdown", False),
        (["text/*"], "text", False),
        (["text/*"], "text/*", False),
    ],
)
def test_an_agent_can_ask_what_the_client_takes(accepted: list[str] | None, media_type: str, taken: bool) -> None:
    seen: list[bool] = []

    def ask(task: TaskContext) -> None:
        seen.append(task.accepts(media_type))
        task.complete()

    done(ask, accepted_output_modes=accepted)

    assert seen == [taken]


def test_an_agent_that_makes_nothing_the_client_takes_rejects_with_both_lists() -> None:
    bench, _ = done(
        lambda task: task.reject_output_modes("text/markdown", "application/json"),
        accepted_output_modes=["image/png", "image/*"],
    )

    status = bench.task["status"]
    assert status["state"] == "TASK_STATE_REJECTED"
    assert status["message"]["parts"] == [
        {
            "text": "This agent answers in text/markdown or application/json, and acceptedOutputModes asks for "
            "image/png, image/*: send the message again with a media type that the agent has, or without "
            "acceptedOutputModes."
        }
    ]


def test_e11_an_agent_reads_a_task_of_the_same_owner_and_of_nobody_else() -> None:
    seen: list[Any] = []

    def look(task: TaskContext) -> None:
        seen.extend(task.referenced(task_id) for task_id in task.reference_task_ids)
        task.complete()

    bench = Bench(Does(look))
    for ref in (replace(bench.ref, task_id="mine"), TaskRef("tenant", "bob", "theirs"), TaskRef("", "alice", "hers")):
        other = Bench(Does(lambda task: (task.artifact("a chart", artifact_id="c"), task.complete("Done"))), ref=ref)
        other.world, other.log = bench.world, bench.log
        other.send()
        other.run()
    bench.send(referenceTaskIds=["mine", "theirs", "hers", "nowhere"])
    bench.run()

    mine, *others = seen
    assert (mine.id, mine.status.state.value) == ("mine", "TASK_STATE_COMPLETED")
    assert [part.text for part in mine.artifacts[0].parts] == ["a chart"]
    assert others == [None, None, None]


def test_an_agent_sees_metadata_of_extensions_untouched() -> None:
    uri = "https://example.com/extensions/citations/v1"
    given = {uri: {"style": "APA", "n": 0, "no": False, "none": None, "nested": [{"": 1.5}]}, "other": ""}
    seen: list[Any] = []

    def look(task: TaskContext) -> None:
        seen.extend([dict(task.metadata), task.message.metadata])
        task.complete("see", metadata={uri: {"cited": 3}})

    bench = Bench(Does(look))
    bench.send([{"text": "hi"}], metadata=given, message_metadata=given)
    bench.run()

    assert seen == [given, given]
    assert bench.task["metadata"] == {uri: {"cited": 3}}
