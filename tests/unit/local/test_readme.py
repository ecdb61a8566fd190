"""README.md shows what the commands print; what can drift is held to its source."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_list_of_verbs_is_the_makefiles_own() -> None:
    verbs = re.findall(r"^([a-z-]+):.*## (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)

    shown = re.findall(r"^  make (\S+) +(.*)$", README, re.MULTILINE)

    assert shown == verbs
    assert [name for name, _ in verbs][:2] == ["help", "demo"]


def test_every_file_that_is_linked_to_is_there() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    links = [
        page.parent / target
        for page in pages
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    ]

    assert len(links) > 10
    assert [link for link in links if not link.exists()] == []
