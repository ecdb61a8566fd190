"""`make test`: every check in turn, the cheap ones first. All of them run, so that one failure doesn't hide another."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field

from local import environments
from local.environments import AWS, EMULATOR, OURS, ROOT
from local.terminal import LocalError, say

CODE = ["layers", "functions", "local", "tests", "bench", "demo", "clients", "examples"]


@dataclass(frozen=True)
class Check:
    """A command that must end with 0."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)


def checks() -> list[Check]:
    code = [folder for folder in CODE if any((ROOT / folder).rglob("*.py"))]
    packages = "layers/herald/python:layers/agent/python"
    # cfn-lint and sam ask for a region, and for nothing of it.
    region = {"AWS_DEFAULT_REGION": "us-east-1"}
    return [
        Check("ruff", [OURS.program("ruff"), "check", *code]),
        Check("ruff format", [OURS.program("ruff"), "format", "--check", *code]),
        Check("mypy", [OURS.program("mypy"), "--strict", *_typed()]),
        Check("import-linter", [OURS.program("lint-imports"), "--no-cache"], {"PYTHONPATH": packages}),
        Check(
            "agent card",
            [str(OURS.python), "layers/check_card.py", "layers/agent/python/agent"],
            {"PYTHONPATH": packages},
        ),
        Check("sam validate", [AWS.program("sam"), "validate", "--lint"], region),
        Check("cfn-lint", [AWS.program("cfn-lint"), "template.yaml"], region),
        Check("pytest", [str(OURS.python), "-m", "pytest", "-q", "--durations=10"]),
    ]


def _typed() -> list[str]:
    """What mypy reads: everything but the functions' app.py, since seven modules of one name are too many."""
    return [folder for folder in CODE if folder != "functions" and any((ROOT / folder).rglob("*.py"))]


def main() -> int:
    os.chdir(ROOT)
    try:
        environments.ensure(AWS)
        environments.ensure(EMULATOR)
    except LocalError as error:
        print(error, file=sys.stderr)
        return 1
    results = []
    for check in checks():
        say(f"\n--- {check.name}")
        start = time.monotonic()
        done = subprocess.run(check.command, env=os.environ | check.environment, check=False)
        results.append((check.name, done.returncode, time.monotonic() - start))
    say("")
    for name, code, seconds in results:
        say(f"  {name:14} {'ok' if code == 0 else 'FAILED':6} {seconds:6.1f} s")
    return 1 if any(code for _, code, _ in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
