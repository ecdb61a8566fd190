"""The agents of docs/agents.md do what the page says."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders.api import ApiBench, sending
from builders.turns import Bench
from fakes.store import FakeTaskLog
from herald.agent import Agent, TaskContext

PAGE = (Path(__file__).parents[3] / "docs" / "agents.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def agent_of(name: str) -> Agent:
    source = next(example for example in EXAMPLES if f"class {name}(Agent)" in example)
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(source, "docs/agents.md", "exec"), names)  # noqa: S102 - our own page
    agent: Agent = names[name]()
    return agent


def after(name: str, *said: str) -> Bench:
    bench = Bench(agent_of(name))
    for number, message in enumerate(said):
        bench.send(message, message_id=f"m{number}")
        bench.run_on()
    return bench


def told(bench: Bench) -> tuple[str, str | None]:
    status = bench.task["status"]
    return status["state"], status["message"]["parts"][0]["text"] if "message" in status else None


def test_every_example_of_the_page_is_tried_here() -> None:
    named = re.findall(r"class (\w+)\(Agent\)", PAGE)
    assert named == ["Greeter", "Echo", "Reporter", "Writer", "Asker", "Listener", "Comparer", "Counter"]
    assert len(EXAMPLES) == len(named) + 1  # and reply.py


def test_the_reply_answers_with_a_message_and_leaves_the_rest_to_tasks() -> None:
    names: dict[str, Any] = {}
    exec(next(example for example in EXAMPLES if "def reply" in example), names)  # noqa: S102 - our own page
    api = ApiBench(reply=names["reply"])

    assert api.rpc("SendMessage", sending(text="ping"))["result"]["message"]["parts"] == [{"text": "pong"}]
    assert "task" in api.rpc("SendMessage", sending(text="something else"))["result"]


def test_the_greeter_delivers_its_greeting() -> None:
    bench = after("Greeter", "Ada")

    assert told(bench) == ("TASK_STATE_COMPLETED", None)
    assert bench.task["artifacts"] == [
        {"artifactId": "artifact-0-0-0", "name": "greeting", "parts": [{"text": "Hello, Ada!"}]}
    ]


def test_the_echo_says_what_it_was_told() -> None:
    assert told(after("Echo", "hi")) == ("TASK_STATE_COMPLETED", "hi")


def test_the_reporter_delivers_a_report_in_chunks_and_figures_in_parts() -> None:
    report, figures = after("Reporter", "go").task["artifacts"]

    assert "".join(part["text"] for part in report["parts"]) == "# Report\nRevenue grew.\nCosts fell.\n"
    assert [next(iter(part)) for part in figures["parts"]] == ["data", "raw"]


@pytest.mark.parametrize(
    ("accepted", "made"),
    [
        (None, "report.md"),
        (["text/*"], "report.md"),
        (["text/plain", "image/png"], "report.txt"),
        (["image/png"], None),
    ],
)
def test_the_writer_writes_what_the_client_takes_or_says_what_it_could(
    accepted: list[str] | None, made: str | None
) -> None:
    bench = Bench(agent_of("Writer"))
    bench.send("Revenue", accepted_output_modes=accepted)
    bench.run()

    assert [artifact["name"] for artifact in bench.task.get("artifacts", [])] == ([made] if made else [])
    state, said = told(bench)
    assert state == ("TASK_STATE_COMPLETED" if made else "TASK_STATE_REJECTED")
    assert made or (said or "").startswith("This agent answers in text/markdown or text/plain")


def test_the_listener_takes_up_what_comes_while_it_works() -> None:
    class Interrupted(FakeTaskLog):
        """A client speaks while the first page is written."""

        def commit(self, *args: Any, **more: Any) -> bool:
            done = super().commit(*args, **more)
            if len(bench.states) == 1 and len(bench.entries) == 3:
                bench.send("the last quarter only", message_id="m2")
            return done

    bench = Bench(agent_of("Listener"))
    bench.log = Interrupted(bench.world)
    bench.send("Revenue")
    bench.run()

    assert [update["statusUpdate"]["status"].get("message", {}).get("parts") for update in bench.updates] == [
        [{"text": "Page 1: Revenue"}],
        [{"text": "Page 2: Revenue, the last quarter only"}],
        [{"text": "Page 3: Revenue, the last quarter only"}],
        None,
    ]
    assert told(bench)[0] == "TASK_STATE_COMPLETED"


def test_an_agent_that_does_nothing_about_it_hears_a_message_in_its_next_turn() -> None:
    bench = Bench(agent_of("Echo"))
    bench.send("one")
    bench.send("two", message_id="m2")

    bench.run()
    assert told(bench) == ("TASK_STATE_WORKING", "one")
    bench.run()
    assert told(bench) == ("TASK_STATE_COMPLETED", "two")


def test_the_comparer_reads_what_the_message_refers_to() -> None:
    earlier = after("Greeter", "Ada")
    bench = Bench(agent_of("Comparer"), ref=replace(earlier.ref, task_id="task-2"))
    bench.world, bench.log = earlier.world, earlier.log
    bench.send("go", referenceTaskIds=["task-1", "gone"])
    bench.run()

    assert told(bench) == ("TASK_STATE_COMPLETED", "Compared 1 reports: greeting")


def test_the_asker_asks_once_and_answers_in_its_second_turn() -> None:
    assert told(after("Asker", "The revenue")) == ("TASK_STATE_INPUT_REQUIRED", "For which year?")
    assert told(after("Asker", "The revenue", "2024")) == ("TASK_STATE_COMPLETED", "The revenue, for 2024")


@pytest.mark.parametrize(("seconds", "runs"), [(900.0, 1), (59.0, 2)])
def test_the_counter_goes_on_where_its_time_ran_out(seconds: float, runs: int) -> None:
    bench = Bench(agent_of("Counter"))
    bench.send()

    outcomes = [bench.run(seconds_left=seconds).value]
    while outcomes[-1] == "again":
        outcomes.append(bench.run(seconds_left=900.0).value)

    assert len(outcomes) == runs
    assert told(bench) == ("TASK_STATE_COMPLETED", None)
    assert len(bench.states) == 6


def test_what_the_page_says_of_failures() -> None:
    class Fails(Agent):
        def run(self, task: TaskContext) -> None:
            raise ValueError("x")

    class Forgets(Agent):
        def run(self, task: TaskContext) -> None:
            task.working()

    text = " ".join(PAGE.split())
    for agent in (Fails(), Forgets()):
        bench = Bench(agent)
        bench.send()
        bench.run()
        assert f'"{told(bench)[1]}"' in text
