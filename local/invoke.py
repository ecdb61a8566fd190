"""`make invoke`: one function, one sample event, in a container that talks to the local stack.

It is `sam local invoke` with everything it asks for: layers for Lambda's Python on this machine's architecture, the
names of the deployed table, queue and secrets, and the emulator's credentials. The command that it runs is printed, and
works alone from then on.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import subprocess
import sys

from local import stack
from local.environments import AWS, EMULATOR, ROOT
from local.terminal import LocalError, say

REACHED = {"AWS_ENDPOINT_URL", "HERALD_QUEUE_URL"}  # variables with an address that the function itself calls
# Neither the issuer of the samples' tokens nor their webhook's host exists; the local issuer has the public key.
SAMPLES = {
    "HERALD_AUDIENCE": "https://agents.example.com",
    "HERALD_AUTH_MODE": "jwt",
    "HERALD_JWKS_URL": "{endpoint}/_issuer/samples.json",
    "HERALD_OIDC_ISSUER": "https://issuer.example.com",
    "HERALD_WEBHOOK_ALLOW": "client.example.com",
}
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
DOOR = "172.17.0.1" if platform.system() == "Linux" else "host.docker.internal"  # this machine, seen from a container


def main() -> int:
    try:
        function, event = _asked(dict(os.environ))
        place = stack.place_from(dict(os.environ))
        addresses = stack.up(place, stack.variant_from(dict(os.environ)))
        stack.build_for_containers(place)
        place.variables.write_text(json.dumps(_variables(addresses)), encoding="utf-8")
    except LocalError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    command = _command(place, function, event) + os.environ.get("ARGS", "").split()
    say(shlex.join([f"{name}={value}" for name, value in CREDENTIALS.items()] + command))
    mine = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment = mine | CREDENTIALS | {"SAM_CLI_TELEMETRY": "0"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _command(place: stack.Place, function: str, event: str) -> list[str]:
    """The command, to be run in ROOT. samconfig.toml says the rest, for the usual place its paths, too."""
    sam = os.path.relpath(AWS.program("sam"), ROOT)
    command = [sam, "local", "invoke", function, "--config-env", "local", "--event", event]
    if place.folder != ROOT / ".local":
        command += ["--template", str(place.container_build / "template.yaml"), "--env-vars", str(place.variables)]
    return command


def _asked(environment: dict[str, str]) -> tuple[str, str]:
    """The function and the event that FUNCTION and EVENT name."""
    function, event = environment.get("FUNCTION", ""), environment.get("EVENT", "")
    if not function or not event:
        raise LocalError("Say which: make invoke FUNCTION=ApiFunction EVENT=events/01-api-agent-card.json")
    if not (ROOT / event).exists():
        raise LocalError(f"EVENT={event} isn't there; see events/README.md for those that are.")
    return function, event


def _variables(addresses: dict[str, str]) -> dict[str, dict[str, str]]:
    where = [addresses["endpointUrl"], addresses["region"], addresses["stackName"]]
    asked = subprocess.run(
        [EMULATOR.python, "-m", "local.variables", *where], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name: _inside(told, addresses["endpointUrl"]) for name, told in json.loads(asked.stdout).items()}


def _inside(variables: dict[str, str], endpoint: str) -> dict[str, str]:
    """A deployed function's variables as its container needs them."""
    door = endpoint.replace("localhost", DOOR)
    reached = {name: variables[name].replace(endpoint, door) for name in REACHED & set(variables)}
    samples = {name: value.replace("{endpoint}", door) for name, value in SAMPLES.items() if name in variables}
    return variables | reached | samples


if __name__ == "__main__":
    raise SystemExit(main())
