"""A card that can't be served isn't built: what a build says of it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from layers import build, check_card

from builders.api import CARD

AGENT = Path(build.__file__).parent / "agent" / "python" / "agent"
WRONG = CARD.replace("tags: [test]", "tags: []")


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    folder.mkdir()
    (folder / "card.yaml").write_text(CARD, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages are those of this interpreter."""
    monkeypatch.setattr(build, "_install_cached", lambda *_: None)


def test_the_card_that_ships_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_card.main([str(AGENT)]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"card.yaml": WRONG}, "agent/card.yaml: skills[0].tags: must not be empty\n"),
        ({"card.yaml": b"\xff\xfe"}, "agent/card.yaml: isn't UTF-8\n"),
        ({"card.yaml": None}, "agent/card.yaml: is missing; write one beside the agent's code\n"),
        ({"extended_card.yaml": "skills: 5"}, "agent/extended_card.yaml: skills: must be an array\n"),
    ],
)
def test_e20_what_is_wrong_is_said_with_the_file_and_the_field(
    agent: Path, files: dict[str, str | bytes | None], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in files.items():
        if content is None:
            (agent / name).unlink()
        else:
            (agent / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    assert check_card.main([str(agent)]) == 1
    assert capsys.readouterr().err == told


def test_e20_a_build_runs_the_check_in_a_process_that_has_only_herald(agent: Path) -> None:
    build.check_card(agent, None)
    (agent / "card.yaml").write_text(WRONG, encoding="utf-8")

    with pytest.raises(build.BuildError, match=r"^agent/card.yaml: skills\[0\].tags: must not be empty$"):
        build.check_card(agent, None)


def test_e20_a_wrong_card_ends_the_build_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    layers = tmp_path / "layers"
    shutil.copytree(Path(build.__file__).parent, layers, ignore=shutil.ignore_patterns("__pycache__"))
    (layers / "agent/python/agent/card.yaml").write_text(WRONG, encoding="utf-8")
    monkeypatch.setattr(build, "HERE", layers)
    monkeypatch.setenv("HOST_PYTHON", sys.executable)

    assert build.main(["agent", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == "agent layer: agent/card.yaml: skills[0].tags: must not be empty\n"
    assert not (tmp_path / "out").exists()
