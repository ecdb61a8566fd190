"""The stack that the official conformance kit runs against is what the kit needs."""

from __future__ import annotations

import pytest

from conformance.__main__ import VARIANT
from e2e.overlay.agent import scenarios


def test_w16_it_asks_for_no_credentials_and_takes_the_kits_receivers_and_repeated_messages() -> None:
    assert VARIANT.parameters["AuthMode"] == "none"
    assert "localhost:*" in VARIANT.parameters["WebhookAllow"].split(",")
    assert VARIANT.parameters["IdempotentSend"] == "key"


@pytest.mark.parametrize(
    ("message_id", "last"),
    [
        ("tck-complete-task-1", {"complete": "Hello from TCK"}),
        ("tck-reject-task", {"reject": "rejected"}),
        ("tck-input-required-x", {"require_input": "What next?"}),
        ("tck-artifact-text-7", {"complete": None}),
        ("tck-anything", {"complete": "Nothing special is asked for."}),
    ],
)
def test_w16_its_agent_does_what_a_messages_id_begins_with(message_id: str, last: dict[str, str | None]) -> None:
    script = scenarios.script(message_id)

    assert script is not None
    assert script[-1] == last


def test_w16_its_agent_leaves_other_messages_alone() -> None:
    assert scenarios.script("m1") is None
