"""Build one layer: `python3 build.py <layer> <artifacts folder>`, called by the Makefile that `sam build` calls.

A layer is a folder beside this file: ``requirements.txt`` (pinned by hash; may be missing or empty) is installed, and
``python/`` is copied over it. The agent's card is checked first, so that a wrong one isn't deployed. Any Python from
3.11 builds for any target. Settings come from the environment:

    ARCHITECTURE    arm64 (default) or x86_64, as the template's parameter
    PYTHON          version of the Lambda runtime, default 3.13, as the template's parameter Runtime
    HOST_PYTHON     path of an interpreter: build for it and this machine instead, for the local stack
    LAYER_CACHE     folder in which installed requirements are kept for the next build

A layer is read-only on Lambda: without byte code every cold start compiles everything anew, which costs about as much
as the rest of it. Byte code belongs to a minor version, not to an architecture, so any interpreter of the target's
version will do; a machine that has none is told so.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Wheels that run on Amazon Linux 2023 (glibc 2.34), by the template's name of the architecture.
PLATFORMS = {
    "arm64": ("aarch64", ["manylinux2014_aarch64", "manylinux_2_28_aarch64"]),
    "x86_64": ("x86_64", ["manylinux2014_x86_64", "manylinux_2_28_x86_64"]),
}

# Nothing at run time reads these: scripts for a shell, tests, and pip's own bookkeeping. METADATA and entry_points.txt
# stay, importlib.metadata reads them; so do licences.
UNUSED = ["bin", "**/tests", "**/*.pyi"] + [f"**/*.dist-info/{name}" for name in ("RECORD", "INSTALLER", "REQUESTED")]


@dataclass(frozen=True)
class Target:
    """What a layer is built for: a version of Python and either a Lambda architecture or this host's interpreter."""

    version: str
    architecture: str | None  # None: this host
    interpreter: str | None  # one of the target's version, for byte code

    @property
    def label(self) -> str:
        return f"python{self.version}-{self.architecture or 'host'}"


class BuildError(Exception):
    """A build that can't go on; the message says what to do."""


def target_from(environment: dict[str, str]) -> Target:
    """The target that the environment asks for; see the module's text."""
    host = environment.get("HOST_PYTHON")
    if host:
        version = _version_of(host)
        if version is None:
            raise BuildError(f"HOST_PYTHON={host} isn't a Python interpreter.")
        return Target(version, None, host)
    version = environment.get("PYTHON", "3.13")
    architecture = environment.get("ARCHITECTURE", "arm64")
    if architecture not in PLATFORMS:
        raise BuildError(f"ARCHITECTURE={architecture} isn't one of {', '.join(PLATFORMS)}.")
    return Target(version, architecture, find_interpreter(version))


def find_interpreter(version: str) -> str | None:
    """An interpreter of this minor version: this one, one on PATH, or one that pyenv or uv has put aside."""
    return next((path for path in _interpreters(version) if _version_of(path) == version), None)


def _interpreters(version: str) -> Iterator[str]:
    yield sys.executable
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield on_path
    home = Path.home()
    for folder, pattern in [
        (Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions", f"{version}.*/bin/python{version}"),
        (home / ".local/share/uv/python", f"cpython-{version}.*/bin/python{version}"),
    ]:
        yield from map(str, sorted(folder.glob(pattern), reverse=True))


def _version_of(interpreter: str) -> str | None:
    """Its minor version, "3.13"; None when it doesn't run (pyenv's shims may lead nowhere)."""
    try:
        done = subprocess.run(
            [interpreter, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def build(layer: Path, artifacts: Path, target: Target, cache: Path | None) -> None:
    """Fill ``artifacts/python`` with a layer's requirements and its own code, with byte code."""
    python = artifacts / "python"
    requirements = layer / "requirements.txt"
    if requirements.exists() and _asks_for_something(requirements):
        _install_cached(requirements, python, target, cache)
    if (layer / "python").exists():
        shutil.copytree(layer / "python", python, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        _compile(python, target)
    python.mkdir(exist_ok=True)


def check_card(agent: Path, cache: Path | None) -> None:
    """Have Herald read the card of an agent, as its function would when it starts.

    That takes packages which a machine that builds needn't have, so they are installed for this interpreter.

    Raises:
        BuildError: the card is wrong: names the file, the field and what is wrong with it.
    """
    here = Target(f"{sys.version_info.major}.{sys.version_info.minor}", None, sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        _install_cached(HERE / "check_card.txt", Path(folder), here, cache)
        packages = os.pathsep.join([folder, str(HERE / "herald" / "python")])
        done = subprocess.run(
            [sys.executable, "-B", str(HERE / "check_card.py"), str(agent)],
            env=os.environ | {"PYTHONPATH": packages},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise BuildError(done.stderr.strip())


def _asks_for_something(requirements: Path) -> bool:
    lines = (line.split("#")[0].strip() for line in requirements.read_text(encoding="utf-8").splitlines())
    return any(lines)


def _install_cached(requirements: Path, python: Path, target: Target, cache: Path | None) -> None:
    if cache is None:
        _install(requirements, python, target)
        return
    content = hashlib.sha256(requirements.read_bytes() + Path(__file__).read_bytes()).hexdigest()[:16]
    kept = cache / f"{target.label}-{content}"
    if not kept.exists():
        partial = kept.with_name(f"{kept.name}.{os.getpid()}")
        _install(requirements, partial, target)
        try:
            partial.rename(kept)
        except OSError:  # another build has come first
            shutil.rmtree(partial)
    shutil.copytree(kept, python, dirs_exist_ok=True)


def _install(requirements: Path, into: Path, target: Target) -> None:
    into.mkdir(parents=True, exist_ok=True)
    commands = list(_installers(requirements, into, target))
    if not commands:
        raise BuildError("Neither pip nor uv was found. Install one of them (python3-pip).")
    for number, command in enumerate(commands, start=1):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
        if number == len(commands):
            raise BuildError(f"{' '.join(command[:4])} failed:\n{done.stderr.strip()}")
    for pattern in UNUSED:
        for path in into.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    _compile(into, target)


def _installers(requirements: Path, into: Path, target: Target) -> Iterator[list[str]]:
    """The commands that can install the requirements, the fastest first."""
    common = ["install", "--quiet", "--require-hashes", "--requirement", str(requirements), "--target", str(into)]
    binary = ["--only-binary=:all:"] if target.architecture else []
    if uv := shutil.which("uv"):
        name = PLATFORMS[target.architecture][0] if target.architecture else ""
        place = ["--python-version", target.version, "--python-platform", f"{name}-manylinux_2_28"] if name else []
        yield [uv, "pip", *common, *place, *binary, "--python", target.interpreter or sys.executable]
    place = []
    if target.architecture:
        place = ["--implementation", "cp", "--python-version", target.version]
        place += [f"--platform={name}" for name in PLATFORMS[target.architecture][1]]
    # Foreign wheels can be installed by any pip; those for this host by the host interpreter's.
    for interpreter in [target.interpreter, sys.executable, "python3"]:
        if interpreter and _has_pip(interpreter) and (target.architecture or interpreter == target.interpreter):
            yield [interpreter, "-m", "pip", *common, "--no-compile", "--no-warn-conflicts", *place, *binary]
            return


def _has_pip(interpreter: str) -> bool:
    try:
        return subprocess.run([interpreter, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _compile(folder: Path, target: Target) -> None:
    """Byte code that is never checked against its source: nothing changes on Lambda, and dates get lost in a zip."""
    if target.interpreter is None:
        _warn(
            f"No Python {target.version} on this machine, so the layers carry no byte code: cold starts will take",
            f"two to three times as long. Install python{target.version} and build again.",
        )
        return
    command = [target.interpreter, "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    # What a package ships for another Python (templates, old syntax) may not compile and is left alone, as pip does.
    subprocess.run([*command, "-s", str(folder), "-p", "/opt/python", str(folder)], capture_output=True, check=False)


def _warn(*lines: str) -> None:
    """Say something that can't be overlooked. On stdout, the one of the two that `sam build` shows."""
    rule = "*" * 100
    print("\n".join(["", rule, *(f"WARNING: {line}" for line in lines), rule, ""]), flush=True)


def main(arguments: list[str]) -> int:
    layer, artifacts = HERE / arguments[0], Path(arguments[1])
    cache = os.environ.get("LAYER_CACHE")
    kept = Path(cache) if cache else None
    try:
        if layer.name == "agent":
            check_card(layer / "python" / "agent", kept)
        build(layer, artifacts, target_from(dict(os.environ)), kept)
    except BuildError as error:
        print(f"{arguments[0]} layer: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
