"""Programs for Node: laid out below .tools with the packages of their lock file, by hash, and run there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from local.environments import ROOT

OLDEST = 20  # the oldest Node that the packages and our own module ask for
LOCK = "package-lock.json"


@dataclass(frozen=True)
class Program:
    """Files in a folder of their own, with their packages beside them. ``run`` runs Node there."""

    node: str
    place: Path

    def run(self, *arguments: str, **environment: str) -> str:
        """What Node said; the test fails with it when Node does."""
        return _run(self.place, self.node, *arguments, **environment)


def program(name: str, files: Mapping[str, Path], *, purpose: str) -> Program:
    """The program ``name``, which lies in ``.tools/name``. The test is skipped where there is no Node that would do.

    Args:
        files: where each file of it comes from, by its path in the place; package-lock.json among them.
        purpose: what isn't tried without Node, as a sentence.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip(f"node {OLDEST} or newer, with npm, isn't on PATH: {purpose}")
    place = ROOT / ".tools" / name
    place.mkdir(parents=True, exist_ok=True)
    version = _run(place, node, "--version").strip()
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST:
        pytest.skip(f"node {version} is older than {OLDEST}: {purpose}")
    for path, source in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place / path)
    installed = place / "installed.lock"
    if not installed.exists() or installed.read_bytes() != files[LOCK].read_bytes():
        _run(place, npm, "ci")
        shutil.copyfile(files[LOCK], installed)
    return Program(node, place)


def _run(place: Path, *command: str, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=place, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=250
    )
    assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout
