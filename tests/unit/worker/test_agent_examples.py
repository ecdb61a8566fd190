"""The examples in herald.agent's docstrings run, and no public name is without one."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator

import pytest

from builders.turns import Bench
from herald import agent
from herald.agent import Agent, TaskContext

FROM_THE_PROTOCOL = {"Artifact", "Message", "Part", "Task"}


def documented() -> Iterator[tuple[str, str]]:
    yield "herald.agent", agent.__doc__ or ""
    for name in agent.__all__:
        if name in FROM_THE_PROTOCOL or name == "Content":  # a type alias has no docstring at run time
            continue
        thing = getattr(agent, name)
        yield name, inspect.getdoc(thing) or ""
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    yield f"{name}.{member}", inspect.getdoc(value) or ""


DOCUMENTED = dict(documented())


class Examples(Agent):
    """Runs one docstring's examples with a task of its own."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.results = doctest.TestResults(0, 0)
        self.report: list[str] = []

    def run(self, task: TaskContext) -> None:
        names = {**vars(agent), "task": task}
        example = doctest.DocTestParser().get_doctest(self.text, names, self.name, None, None)
        self.results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=self.report.append)


def test_every_public_name_of_the_agent_module_has_an_example() -> None:
    assert [name for name, text in DOCUMENTED.items() if ">>> " not in text] == []
    assert {"TaskContext.artifact", "TaskContext.require_auth", "Agent.run", "checkpoint", "url"} <= DOCUMENTED.keys()


@pytest.mark.parametrize("name", DOCUMENTED)
def test_an_example_does_what_it_shows(name: str) -> None:
    examples = Examples(name, DOCUMENTED[name])
    bench = Bench(examples)
    bench.send("Ada")

    bench.run()

    assert examples.results.failed == 0, "".join(examples.report)
    assert examples.results.attempted > 0
