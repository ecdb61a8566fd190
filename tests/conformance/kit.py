"""The official conformance kit, a2aproject/a2a-tck: a checkout of it, and a run of its tests."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from local.terminal import LocalError

BRANCH = "1.0-dev"
PLUGIN = Path(__file__).parent / "plugin"

HOW = f"""\
make conformance TCK=path runs the official conformance kit, and takes a checkout of it:

  git clone --branch {BRANCH} https://github.com/a2aproject/a2a-tck.git path
  python3 -m venv path/.venv
  path/.venv/bin/python -m pip install --editable path"""


@dataclass(frozen=True)
class Kit:
    """A checkout of the kit, with its dependencies in a .venv of its own."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / ".venv" / "bin" / "python"

    def version(self) -> str:
        """The commit that is checked out; "" where that can't be told."""
        told = subprocess.run(
            ["git", "-C", str(self.folder), "rev-parse", "--short", "HEAD"],  # noqa: S607 - git is where PATH says
            capture_output=True,
            text=True,
            check=False,
        )
        return told.stdout.strip()

    def run(self, base_url: str, outcomes: Path, log: Path) -> None:
        """Run the kit's tests of both bindings against an agent; how each went is written to ``outcomes``.

        Raises:
            LocalError: the tests didn't run.
        """
        outcomes.unlink(missing_ok=True)
        command = [str(self.python), "-m", "pytest", "tests/compatibility", "-q", "-p", "no:cacheprovider"]
        command += ["-p", "herald_outcomes", "--sut-host", base_url, "--transport", "jsonrpc,http_json"]
        environment = os.environ | {
            "HERALD_OUTCOMES": str(outcomes),
            "PYTHONPATH": str(PLUGIN),
            "NO_PROXY": "127.0.0.1,localhost",
        }
        with log.open("w", encoding="utf-8") as told:
            done = subprocess.run(
                command, cwd=self.folder, env=environment, stdout=told, stderr=subprocess.STDOUT, check=False
            )
        if done.returncode not in (0, 1) or not outcomes.exists():
            raise LocalError(f"The kit didn't run to its end; {log} has what it said.")


def kit_at(path: str) -> Kit:
    """The kit at a path that a person named.

    Raises:
        LocalError: there is none, or it isn't installed; the message says how to get one.
    """
    if not path:
        raise LocalError(HOW)
    kit = Kit(Path(path).expanduser().resolve())
    if not (kit.folder / "tests" / "compatibility").is_dir():
        raise LocalError(f"TCK={path} is no checkout of the kit's branch {BRANCH}.\n\n{HOW}")
    if not kit.python.exists():
        raise LocalError(f"The kit's dependencies aren't installed: {kit.python} is missing.\n\n{HOW}")
    return kit
