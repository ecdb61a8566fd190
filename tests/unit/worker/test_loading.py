"""Finding the adopter's agent; each mistake is named with the way out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from herald.agent import Agent
from herald.worker.loading import AgentNotLoaded, load_agent

MODULE = """
from herald.agent import Agent

class Good(Agent):
    def run(self, task):
        task.complete()

class Needy(Agent):
    def __init__(self, key):
        self.key = key
    def run(self, task): ...

class Unfinished(Agent):
    pass

class Stranger:
    def run(self, task): ...

number = 3
"""


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "given_agent.py").write_text(MODULE)
    (tmp_path / "broken_agent.py").write_text("import a_package_that_nobody_has\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "given_agent", raising=False)


def test_an_agent_is_found_by_module_and_class() -> None:
    agent = load_agent("given_agent:Good")

    assert isinstance(agent, Agent)
    assert type(agent).__name__ == "Good"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("given_agent", "HERALD_AGENT is 'given_agent'; it must read module:Class, like agent.my_agent:MyAgent"),
        (":Good", "HERALD_AGENT is ':Good'; it must read module:Class, like agent.my_agent:MyAgent"),
        (
            "nowhere_agent:X",
            (
                "HERALD_AGENT is 'nowhere_agent:X', but importing nowhere_agent failed: ModuleNotFoundError: "
                "No module named 'nowhere_agent'. Is the module in the agent layer, and are its packages in "
                "that layer's requirements.txt?"
            ),
        ),
        (
            "broken_agent:X",
            (
                "HERALD_AGENT is 'broken_agent:X', but importing broken_agent failed: ModuleNotFoundError: "
                "No module named 'a_package_that_nobody_has'. Is the module in the agent layer, and are its "
                "packages in that layer's requirements.txt?"
            ),
        ),
        ("given_agent:Bad", "HERALD_AGENT is 'given_agent:Bad', but given_agent has no Bad"),
        (
            "given_agent:Stranger",
            "HERALD_AGENT is 'given_agent:Stranger', but Stranger isn't a subclass of herald.agent.Agent",
        ),
        (
            "given_agent:number",
            "HERALD_AGENT is 'given_agent:number', but number isn't a subclass of herald.agent.Agent",
        ),
    ],
)
def test_a_wrong_name_is_explained(name: str, message: str) -> None:
    with pytest.raises(AgentNotLoaded) as raised:
        load_agent(name)

    assert str(raised.value) == message


@pytest.mark.parametrize("name", ["Needy", "Unfinished"])
def test_a_class_that_cannot_be_made_is_explained(name: str) -> None:
    with pytest.raises(
        AgentNotLoaded, match=rf"but {name}\(\) failed: TypeError: .*An agent is made without arguments"
    ):
        load_agent(f"given_agent:{name}")
