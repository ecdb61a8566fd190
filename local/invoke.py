"""`make invoke`: one function, one sample event, in a container that talks to the local stack.

It is `sam local invoke` with everything it asks for: layers for Lambda's Python on this machine's architecture, the
names of the deployed table, queue and secrets, and the emulator's credentials.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from local import stack
from local.environments import AWS, EMULATOR, ROOT
from local.terminal import LocalError, say

REACHED = {"AWS_ENDPOINT_URL", "HERALD_QUEUE_URL"}  # variables with an address that the function itself calls
DOOR = "172.17.0.1" if platform.system() == "Linux" else "host.docker.internal"  # this machine, seen from a container


def main() -> int:
    try:
        function, event = _asked(dict(os.environ))
        place = stack.place_from(dict(os.environ))
        addresses = stack.up(place)
        stack.build_for_containers(place)
        variables = place.folder / "invoke.json"
        variables.write_text(json.dumps(_variables(addresses)), encoding="utf-8")
    except LocalError as error:
        print(error, file=sys.stderr)
        return 1
    command = [AWS.program("sam"), "local", "invoke", function, "--event", str(event)]
    command += ["--template", str(place.container_build / "template.yaml"), "--env-vars", str(variables)]
    command += ["--parameter-overrides", f"Architecture={stack.architecture()}", "--region", addresses["region"]]
    command += os.environ.get("ARGS", "").split()
    say(" ".join(command))
    credentials = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "SAM_CLI_TELEMETRY": "0"}
    return subprocess.run(command, cwd=ROOT, env=os.environ | credentials, check=False).returncode


def _asked(environment: dict[str, str]) -> tuple[str, Path]:
    """The function and the event that FUNCTION and EVENT name."""
    function, event = environment.get("FUNCTION", ""), environment.get("EVENT", "")
    if not function or not event:
        raise LocalError("Say which: make invoke FUNCTION=ApiFunction EVENT=events/01-api-agent-card.json")
    if not (ROOT / event).exists():
        raise LocalError(f"EVENT={event} isn't there; see events/README.md for those that are.")
    return function, ROOT / event


def _variables(addresses: dict[str, str]) -> dict[str, dict[str, str]]:
    where = [addresses["endpointUrl"], addresses["region"], addresses["stackName"]]
    asked = subprocess.run(
        [EMULATOR.python, "-m", "local.variables", *where], cwd=ROOT, capture_output=True, text=True, check=True
    )
    door = addresses["endpointUrl"].replace("localhost", DOOR)
    return {
        name: variables
        | {key: variables[key].replace(addresses["endpointUrl"], door) for key in REACHED & set(variables)}
        for name, variables in json.loads(asked.stdout).items()
    }


if __name__ == "__main__":
    raise SystemExit(main())
