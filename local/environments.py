"""The virtual environments: .venv for our own code, .tools/emulator for MiniStack, .tools/aws for SAM and cfn-lint.

Each is made from a lock file by hash, with uv when it is on PATH and with pip otherwise, and again when its lock
changes. They are apart because their pins contradict each other, and because the emulator runs the functions with its
own Python.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from layers.build import find_interpreter

from local.terminal import LocalError, step

ROOT = Path(__file__).resolve().parent.parent

# The template's own runtime first, so that the local stack runs what Lambda runs; else the newest there is.
VERSIONS = ["3.13", "3.14", "3.12", "3.11"]


@dataclass(frozen=True)
class Environment:
    """A virtual environment: where it lies, the lock that fills it, and what it is called to a person."""

    folder: Path
    lock: Path
    purpose: str

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def program(self, name: str) -> str:
        return str(self.folder / "bin" / name)


OURS = Environment(ROOT / ".venv", ROOT / "requirements.lock", "Herald and its tests")
EMULATOR = Environment(ROOT / ".tools" / "emulator", ROOT / "local" / "emulator.lock", "the emulator (MiniStack)")
AWS = Environment(ROOT / ".tools" / "aws", ROOT / "local" / "aws.lock", "SAM and cfn-lint")
ENVIRONMENTS = {"ours": OURS, "emulator": EMULATOR, "aws": AWS}


def ensure(environment: Environment) -> Path:
    """Make or mend an environment if it isn't as its lock says; its Python.

    Raises:
        LocalError: no Python will do, or the packages couldn't be installed.
    """
    stamp = environment.folder / "herald.stamp"
    wanted = hashlib.sha256(environment.lock.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted and _runs(environment.python):
        return environment.python
    with step(f"Installing {environment.purpose} into {environment.folder.relative_to(ROOT)}"):
        if not _runs(environment.python):
            shutil.rmtree(environment.folder, ignore_errors=True)
            _create(environment)
        _install(environment)
        stamp.write_text(wanted, encoding="utf-8")
    return environment.python


def _runs(python: Path) -> bool:
    try:
        return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _create(environment: Environment) -> None:
    interpreter = next((found for found in map(find_interpreter, VERSIONS) if found), None)
    if interpreter is None:
        raise LocalError(f"No Python {VERSIONS[-1]} or newer was found. Install one.")
    environment.folder.parent.mkdir(parents=True, exist_ok=True)
    if uv := shutil.which("uv"):
        _run([uv, "venv", "--quiet", "--python", interpreter, str(environment.folder)])
        return
    hint = "If it speaks of ensurepip, install the package python3-venv."
    _run([interpreter, "-m", "venv", str(environment.folder)], hint)


def _install(environment: Environment) -> None:
    # A lock names everything, so nothing is looked up (and older pips stumble over extras when they do).
    lock = ["--no-deps", "--require-hashes", "--requirement", str(environment.lock)]
    python = str(environment.python)
    if uv := shutil.which("uv"):
        _run([uv, "pip", "install", "--quiet", "--python", python, *lock])
        return
    if subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        _run([python, "-m", "ensurepip"], "Install the package python3-venv.")
    _run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *lock])


def _run(command: list[str], hint: str = "") -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PIP_NO_INPUT": "1"})
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise LocalError(f"{' '.join(command[:4])} … failed:\n{said}\n{hint}".rstrip())
