"""The operator's commands by `make`: `python -m local.ops erase` with TASK, OWNER, TENANT, STACK, DRY_RUN and so on.

Any command is taken as it is typed, too: `python -m local.ops task 2mlq…`, or from ARGS: `make ops ARGS="task 2mlq…"`.

Without STACK they are for the local stack; with it for a deployed one, with whatever AWS credentials there are.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping

from local import process, stack
from local.environments import ROOT
from local.terminal import LocalError

VALUES = {
    "erase": {"TASK": "--task", "OWNER": "--owner", "TENANT": "--tenant"},
    "rotate-keys": {"ONLY": "--only"},
}
SWITCHES = {
    "erase": {"DRY_RUN": "--dry-run", "NO_WAIT": "--no-wait", "YES": "--yes"},
    "rotate-keys": {"DRY_RUN": "--dry-run", "LEAVE": "--leave", "JSON": "--json"},
}


def typed(environment: Mapping[str, str]) -> list[str]:
    """The words of ARGS, as a shell would split them; the help where there are none.

    Raises:
        LocalError: a quote isn't closed.
    """
    try:
        return shlex.split(environment.get("ARGS", "")) or ["--help"]
    except ValueError as error:
        raise LocalError(f"ARGS can't be read: {error}.") from error


def words(command: str, environment: Mapping[str, str], name: str) -> list[str]:
    """The arguments of a command for a stack."""
    given = [f"{option}={environment[word]}" for word, option in VALUES[command].items() if environment.get(word)]
    switches = [option for word, option in SWITCHES[command].items() if environment.get(word)]
    return [f"--stack={name}", *given, *switches]


def local_stack(environment: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The local stack's name, and the variables by which boto3 finds it.

    Raises:
        LocalError: none is up.
    """
    place = stack.place_from(environment)
    if not place.answer.exists() or process.running(place.record) is None:
        raise LocalError("No local stack is up. Start it (make up), or name a deployed one: STACK=…")
    answer: dict[str, str] = json.loads(place.answer.read_text(encoding="utf-8"))
    return answer["stackName"], {
        "AWS_ENDPOINT_URL": answer["endpointUrl"],
        "AWS_REGION": answer["region"],
        "AWS_DEFAULT_REGION": answer["region"],
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }


def main(command: list[str]) -> int:
    environment = dict(os.environ)
    try:
        name, variables = environment.get("STACK", ""), environment
        if not name:
            name, found = local_stack(environment)
            variables = {key: value for key, value in environment.items() if not key.startswith("AWS_")} | found
        path = str(ROOT / "layers" / "herald" / "python")
        given = command or typed(environment)
        if len(given) == 1 and given[0] in VALUES:
            given += words(given[0], environment, name)
        arguments = [sys.executable, "-m", "herald.ops", *given]
        return subprocess.run(
            arguments, env=variables | {"PYTHONPATH": path, "HERALD_STACK": name}, check=False
        ).returncode
    except LocalError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
