"""a2a-js's own client, an independent implementation, drives the demo's road over both bindings; see road.mjs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from local.environments import ROOT

HERE = Path(__file__).parent
PLACE = ROOT / ".tools" / "a2a-js"
FILE = ROOT / "examples" / "fjordlight-instruments.csv"
NODE = 20  # what the package asks for
PROGRAM = ["package.json", "package-lock.json", ".npmrc", "road.mjs", "receiver.mjs"]


def run(*command: str, **environment: str) -> str:
    """What a program said; the test fails with it when the program does."""
    done = subprocess.run(
        command, cwd=PLACE, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=250
    )
    assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def node() -> str:
    """Node, with the client installed from the lock file by hash."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        pytest.skip(f"node {NODE} or newer, with npm, isn't on PATH: a2a-js's client isn't tried here")
    PLACE.mkdir(parents=True, exist_ok=True)
    version = run(found, "--version").strip()
    if int(version.removeprefix("v").partition(".")[0]) < NODE:
        pytest.skip(f"node {version} is older than {NODE}: a2a-js's client isn't tried here")
    lock, installed = HERE / "package-lock.json", PLACE / "installed.lock"
    for name in PROGRAM:
        shutil.copyfile(HERE / name, PLACE / name)
    if not installed.exists() or installed.read_bytes() != lock.read_bytes():
        run(npm, "ci")
        shutil.copyfile(lock, installed)
    return found


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
def test_a2a_js_s_client_completes_the_road(binding: str, node: str, addresses: Mapping[str, str], token: str) -> None:
    told = run(
        node,
        "road.mjs",
        CARD_URL=addresses["cardUrl"],
        TOKEN=token,
        JWKS_URL=addresses["jwksUrl"],
        BINDING=binding,
        STATEMENT=str(FILE),
        NO_PROXY="127.0.0.1,localhost",
    )

    assert told.splitlines()[-1] == f"{binding}: met the errors that it should"
