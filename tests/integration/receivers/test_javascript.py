"""The JavaScript verifier: its own suite, its types, and the package that npm makes of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from clients.vectors import make

import herald
from builders.js_verifier import PACKAGE, js_verifier
from builders.node import Program

VECTORS = make.vectors()


@pytest.fixture(scope="module")
def program() -> Program:
    return js_verifier()


def test_its_own_suite_holds(program: Program) -> None:
    suites = [f"test/{path.name}" for path in sorted((PACKAGE / "test").glob("*.test.js"))]

    told = program.run("--test", "--test-reporter=tap", *suites, VECTORS=str(make.FILE))

    [passed] = re.findall(r"^# pass (\d+)$", told, re.MULTILINE)
    assert int(passed) >= len(VECTORS["cases"]) + len(VECTORS["walks"]) + 15
    assert "\n# fail 0\n" in told


def test_its_types_compile_strictly(program: Program) -> None:
    strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit"]
    module = ["--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable"]

    program.run("node_modules/typescript/bin/tsc", *strict, *module, "test/types.ts")


def test_the_package_holds_the_module_its_types_and_nothing_else_and_needs_nothing(
    program: Program, tmp_path: Path
) -> None:
    npm = shutil.which("npm")
    assert npm is not None  # js_verifier has seen to it
    pack = [npm, "pack", "--json", "--pack-destination", str(tmp_path)]
    [made] = json.loads(subprocess.run(pack, cwd=PACKAGE, check=True, capture_output=True, timeout=100).stdout)

    assert made["filename"] == f"herald-webhooks-{herald.__version__}.tgz"
    assert {each["path"] for each in made["files"]} == {"package.json", "README.md", "webhooks.js", "webhooks.d.ts"}

    install = [npm, "install", "--offline", "--no-audit", "--no-fund", f"./{made['filename']}"]
    (tmp_path / "package.json").write_text('{"private": true}')
    subprocess.run(install, cwd=tmp_path, check=True, capture_output=True, timeout=100)
    source = "import('herald-webhooks').then((m) => console.log(Object.keys(m).join(' ')))"
    told = subprocess.run([program.node, "-e", source], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert told.stdout == "Jwks Reason TOLERANCE VerificationError verify verifyJwt\n"
    assert [path.name for path in (tmp_path / "node_modules").iterdir() if path.is_dir()] == ["herald-webhooks"]


def test_the_module_imports_node_s_crypto_and_nothing_else() -> None:
    assert re.findall(r"^import .* from \"(.*)\";$", (PACKAGE / "webhooks.js").read_text(), re.MULTILINE) == [
        "node:crypto"
    ]


def test_its_dependencies_are_pinned_by_hash_and_name_no_registry() -> None:
    lock = json.loads((PACKAGE / "package-lock.json").read_text())
    package = json.loads((PACKAGE / "package.json").read_text())

    assert "dependencies" not in package
    assert lock["packages"][""]["version"] == package["version"] == herald.__version__
    for name, entry in lock["packages"].items():
        assert not name or (entry["integrity"].startswith("sha512-") and "resolved" not in entry), name
