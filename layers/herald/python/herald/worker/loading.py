"""Finding the adopter's agent by the name that the deployment gives it."""

from __future__ import annotations

import importlib

from herald.agent import Agent


class AgentNotLoaded(Exception):
    """The agent can't be made; the message says which step failed, the cause says why."""


def load_agent(name: str) -> Agent:
    """An instance of the class that ``module:Class`` names.

    Raises:
        AgentNotLoaded: the module can't be imported, has no such class, or the class is no Agent.
    """
    module_name, colon, class_name = name.partition(":")
    if not (module_name and colon and class_name):
        raise AgentNotLoaded(f"HERALD_AGENT is {name!r}; it must read module:Class, like agent.my_agent:MyAgent")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise AgentNotLoaded(
            f"HERALD_AGENT is {name!r}, but importing {module_name} failed: {type(error).__name__}: {error}. "
            "Is the module in the agent layer, and are its packages in that layer's requirements.txt?"
        ) from error
    agent_class = getattr(module, class_name, None)
    if agent_class is None:
        raise AgentNotLoaded(f"HERALD_AGENT is {name!r}, but {module_name} has no {class_name}")
    if not (isinstance(agent_class, type) and issubclass(agent_class, Agent)):
        raise AgentNotLoaded(f"HERALD_AGENT is {name!r}, but {class_name} isn't a subclass of herald.agent.Agent")
    try:
        return agent_class()
    except Exception as error:
        raise AgentNotLoaded(
            f"HERALD_AGENT is {name!r}, but {class_name}() failed: {type(error).__name__}: {error}. "
            "An agent is made without arguments."
        ) from error
