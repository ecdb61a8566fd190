"""The conformance kit's scenarios, as scripts of the e2e stack's agent."""

from __future__ import annotations

import pytest

from e2e.overlay.agent import scenarios
from e2e.overlay.agent.scripted import STEPS


@pytest.mark.parametrize(
    ("message_id", "expected"),
    [
        ("tck-complete-task-1a2b-jsonrpc", [{"complete": "Hello from TCK"}]),
        ("tck-artifact-file-url-1a2b", scenarios.SCRIPTS["tck-artifact-file-url"]),
        ("tck-artifact-file-1a2b", scenarios.SCRIPTS["tck-artifact-file"]),
        ("tck-multi-004-1a2b", [{"complete": "Nothing special is asked for."}]),
    ],
)
def test_the_longest_prefix_counts(message_id: str, expected: scenarios.Script) -> None:
    assert scenarios.script(message_id) == expected


def test_a_message_that_isn_t_the_kit_s_has_no_script() -> None:
    assert scenarios.script("m-1") is None


def test_every_step_is_one_that_the_agent_knows_and_every_script_ends_its_turn() -> None:
    for prefix, script in scenarios.SCRIPTS.items():
        names = [name for step in script for name in step]
        assert set(names) <= set(STEPS), prefix
        assert names[-1] in ("complete", "require_input", "reject"), prefix
