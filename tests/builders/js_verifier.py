"""The JavaScript verifier as a receiver's author has it: the package, and the example beside it."""

from __future__ import annotations

from local.environments import ROOT

from builders.node import Program, program

PACKAGE = ROOT / "clients" / "js"
EXAMPLE = ROOT / "examples" / "receivers" / "express_receiver.mjs"
FILES = ["package.json", "package-lock.json", ".npmrc", "webhooks.js", "webhooks.d.ts"]


def js_verifier() -> Program:
    """The package with its tests and the packages that these need. The test is skipped where there is no Node."""
    tests = [path.relative_to(PACKAGE).as_posix() for path in sorted((PACKAGE / "test").iterdir())]
    files = {name: PACKAGE / name for name in [*FILES, *tests]}
    purpose = "the JavaScript verifier isn't tried here"
    return program("herald-webhooks", {**files, EXAMPLE.name: EXAMPLE}, purpose=purpose)
