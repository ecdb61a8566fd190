"""What the functions around a turn load: start_worker and sweep nothing of an agent, none of them a web framework."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {
    "AWS_DEFAULT_REGION": "eu-central-1",
    "HERALD_OIDC_ISSUER": "https://issuer.example.com",
    "HERALD_TABLE": "tasks",
    "HERALD_BUCKET": "bodies",
    "HERALD_SEALING_SECRET": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:sealing",
    "HERALD_SIGNING_SECRET": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:signing",
    "HERALD_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/123456789012/doorbells.fifo",
    "HERALD_STATE_MACHINE_ARN": "arn:aws:states:eu-central-1:123456789012:stateMachine:task-worker",
}


@pytest.mark.parametrize(
    ("function", "without"),
    [
        ("authorize", {"agent", "herald.operations", "herald.delivery", "herald.worker", "boto3", "fastapi"}),
        ("start_worker", {"agent", "herald.agent", "herald.worker", "herald.operations", "herald.delivery", "fastapi"}),
        (
            "send_webhooks",
            {"agent", "herald.agent", "herald.worker", "herald.operations", "herald.bindings", "fastapi"},
        ),
        ("sweep", {"agent", "herald.agent", "herald.worker", "herald.operations", "fastapi"}),
        ("run_agent", {"agent", "herald.operations", "herald.delivery", "herald.upkeep", "fastapi"}),
    ],
)
def test_a_function_loads_its_own_part_only(function: str, without: set[str]) -> None:
    paths = [ROOT / "functions" / function, ROOT / "layers/herald/python", ROOT / "layers/agent/python"]
    environ = {**ENVIRONMENT, "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, paths))}
    program = "import app, json, sys; assert callable(app.handler); print(json.dumps(sorted(sys.modules)))"

    done = subprocess.run(
        [sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True, timeout=60
    )

    assert without.isdisjoint(json.loads(done.stdout))
