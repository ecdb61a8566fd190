"""a2a-js's own client, an independent implementation, drives the demo's road over both bindings; see road.mjs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from local.environments import ROOT

from builders.node import Program, program

HERE = Path(__file__).parent
FILE = ROOT / "examples" / "fjordlight-instruments.csv"
PROGRAM = ["package.json", "package-lock.json", ".npmrc", "road.mjs", "receiver.mjs"]


@pytest.fixture(scope="module")
def node() -> Program:
    """Node, with the client installed from the lock file by hash."""
    return program("a2a-js", {name: HERE / name for name in PROGRAM}, purpose="a2a-js's client isn't tried here")


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
def test_a2a_js_s_client_completes_the_road(
    binding: str, node: Program, addresses: Mapping[str, str], token: str
) -> None:
    told = node.run(
        "road.mjs",
        CARD_URL=addresses["cardUrl"],
        TOKEN=token,
        JWKS_URL=addresses["jwksUrl"],
        BINDING=binding,
        STATEMENT=str(FILE),
        NO_PROXY="127.0.0.1,localhost",
    )

    assert told.splitlines()[-1] == f"{binding}: met the errors that it should"
