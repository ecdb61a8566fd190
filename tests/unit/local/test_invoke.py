"""What `make invoke` asks for, and what a function in a container is told."""

from __future__ import annotations

import pytest
from local import invoke
from local.environments import ROOT
from local.terminal import LocalError


def test_a_function_and_an_event_are_taken_as_they_are_named() -> None:
    event = "events/01-api-agent-card.json"
    assert invoke._asked({"FUNCTION": "ApiFunction", "EVENT": event}) == ("ApiFunction", ROOT / event)


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({}, "make invoke FUNCTION=ApiFunction EVENT=events/01-api-agent-card.json"),
        ({"FUNCTION": "ApiFunction"}, "make invoke FUNCTION=ApiFunction EVENT="),
        ({"FUNCTION": "ApiFunction", "EVENT": "events/no.json"}, "EVENT=events/no.json isn't there"),
    ],
)
def test_what_is_missing_is_said_with_an_example(environment: dict[str, str], complaint: str) -> None:
    with pytest.raises(LocalError, match=complaint):
        invoke._asked(environment)
