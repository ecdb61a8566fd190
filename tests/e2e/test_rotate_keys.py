"""The rotation of keys by the operator's verb, on the deployed stack, while notifications go on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from local.environments import ROOT
from local.stack import Place

from e2e.client import Client, message
from e2e.cloud import Cloud
from e2e.loopback import Receiver


def test_receivers_notice_nothing_of_a_rotation(
    client: Client,
    cloud: Cloud,
    place: Place,
    new_receiver: Callable[..., Receiver],
    jwks: Callable[[], Mapping[str, Any]],
) -> None:
    known = jwks()  # as a receiver keeps it
    receiver = new_receiver()
    task_id = client.start({"require_input": "Which one?"}, webhook=receiver.config)
    receiver.wait_for_state(task_id, "TASK_STATE_INPUT_REQUIRED")
    before = set(cloud.own_secrets())

    started, waiting = rotate(place), rotate(place)

    assert started.returncode == 0, started.stderr
    assert json.loads(started.stdout)["step"] == "started"
    assert waiting.returncode == 3, waiting.stderr
    assert json.loads(waiting.stdout)["step"] == "waiting"
    after = set(cloud.own_secrets())
    assert (len(before), len(after), before < after) == (2, 4, True)
    assert [one for one in after if one in started.stdout + started.stderr + waiting.stdout + waiting.stderr] == []

    client.send(message({"text": "this one"}, taskId=task_id))
    receiver.wait_for_end(task_id)
    assert known == jwks()
    assert [arrival.fault for arrival in receiver.of(task_id)] == [""] * len(receiver.of(task_id))


def rotate(place: Place) -> subprocess.CompletedProcess[str]:
    """``make rotate-keys JSON=1``, once its environment is there."""
    environment = {**os.environ, "LOCAL_DIR": str(place.folder), "PORT": str(place.port), "JSON": "1"}
    command = [sys.executable, "-m", "local.ops", "rotate-keys"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)
