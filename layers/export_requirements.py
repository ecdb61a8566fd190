"""The parts of requirements.lock that the layers need: the package herald's, and those that check a card in a build.

`python layers/export_requirements.py` (what `make lock` runs after locking) writes them; a test compares. It runs where
the lock is installed, because the installed packages say what they require.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "layers" / "dependencies" / "requirements.txt"
CARD_TARGET = ROOT / "layers" / "check_card.txt"

# The Lambda runtimes that the template offers; what any of them needs is named, and the lock's markers decide.
RUNTIMES = ["3.11", "3.12", "3.13", "3.14"]

HEADER = """\
# Third-party packages of the layer, pinned by hash. Made from requirements.lock by `make lock`; not edited by hand.
"""
CARD_HEADER = """\
# What layers/check_card.py imports, pinned by hash. Made from requirements.lock by `make lock`; not edited by hand.
"""


def export(root: Path = ROOT) -> str:
    """The text of the dependencies layer's requirements.txt."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return HEADER + _with_theirs(project["dependencies"], root)


def export_for_cards(root: Path = ROOT) -> str:
    """The text of check_card.txt."""
    return CARD_HEADER + _with_theirs(["pydantic", "pyyaml"], root)


def _with_theirs(packages: list[str], root: Path) -> str:
    """The lock's lines of some packages and of everything that these need."""
    locked = _blocks((root / "requirements.lock").read_text(encoding="utf-8"))
    wanted: set[str] = set()
    waiting = [Requirement(text) for text in packages]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in wanted:
            continue
        wanted.add(name)
        extras = requirement.extras or {""}
        for text in requires(name) or []:
            child = Requirement(text)
            if any(_holds(child, runtime, extra) for runtime in RUNTIMES for extra in extras):
                waiting.append(child)
    return "".join(locked[name] for name in sorted(wanted))


def _holds(requirement: Requirement, runtime: str, extra: str) -> bool:
    if requirement.marker is None:
        return True
    return requirement.marker.evaluate(
        {
            "extra": extra,
            "python_version": runtime,
            "python_full_version": f"{runtime}.0",
            "platform_system": "Linux",
            "sys_platform": "linux",
            "os_name": "posix",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
        }
    )


def _blocks(lock: str) -> dict[str, str]:
    """Name -> the lock's lines of it: the pin and its hashes."""
    blocks = re.findall(r"^\S.*(?:\n\s+--hash.*)+\n", lock, flags=re.MULTILINE)
    return {canonicalize_name(block.split("==")[0].split("[")[0]): block for block in blocks}


if __name__ == "__main__":
    for target, text in {TARGET: export(), CARD_TARGET: export_for_cards()}.items():
        target.write_text(text, encoding="utf-8")
        print(f"{target.relative_to(ROOT)} written")
