"""`make conformance TCK=path`: the official kit's tests of both bindings, against a stack of their own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import httpx
from local import stack
from local.environments import ROOT
from local.stack import Variant
from local.terminal import LocalError, say, step

from conformance.kit import Kit, kit_at
from conformance.known import KNOWN
from conformance.outcomes import Verdict, read
from e2e.client import HEADERS, message
from e2e.places import ended_like_ctrl_c, own_place

VARIANT = Variant(
    parameters={
        "Agent": "agent.scripted:Scripted",
        "AuthMode": "none",  # the kit sends no credentials
        # The kit sends one messageId with the same content again and again, and each must be a task of its own.
        "IdempotentSend": "key",
        "WebhookAllow": "127.0.0.1:*,localhost:*,example.com:443",
    },
    agent_overlay=ROOT / "tests" / "e2e" / "overlay",
    environment={"PYTHONPATH": str(Path(__file__).parent / "names")},
)


def verdict(kit: Kit) -> Verdict:
    """Run the kit against a stack that is down again when this returns."""
    with own_place("conformance") as place, ended_like_ctrl_c():
        try:
            addresses = stack.up(place, VARIANT)
            with step("Waking the functions (first calls start cold)"):
                wake(addresses["baseUrl"])
            outcomes = place.folder / "outcomes.json"
            with step(f"Running the kit ({kit.version()})"):
                kit.run(addresses["baseUrl"], outcomes, place.folder / "kit.log")
        finally:
            stack.down(place)
    return Verdict(read(outcomes), KNOWN)


def wake(base_url: str) -> None:
    """One task from end to end: the kit gives each of its calls 5 seconds, and a first one may take longer."""
    said = {"message": message({"text": "Good morning"}, messageId="tck-complete-task-wake")}
    answer = httpx.post(f"{base_url}/message:send", json=said, headers=HEADERS, timeout=60, trust_env=False)
    if answer.is_error:
        raise LocalError(f"The agent doesn't take a message: {answer.status_code} {answer.text}")


def main() -> int:
    try:
        found = verdict(kit_at(os.environ.get("TCK", "")))
    except LocalError as error:
        print(error, file=sys.stderr)  # noqa: T201 - a command of make
        return 2
    except KeyboardInterrupt:
        return 130
    say("")
    for line in found.lines():
        say(line)
    return 0 if found.good else 1


if __name__ == "__main__":
    raise SystemExit(main())
