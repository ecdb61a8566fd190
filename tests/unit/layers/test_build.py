"""Building a layer: for which target, what it carries, and what is said when byte code can't be made."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import zipfile
from pathlib import Path

import pytest
from layers.build import BuildError, Target, build, target_from

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
HERE = Target(VERSION, None, sys.executable)


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    """A layer with one module, and the leavings of somebody who imported it."""
    package = tmp_path / "layer" / "python" / "shop"
    (package / "__pycache__").mkdir(parents=True)
    (package / "till.py").write_text("OPEN = True\n", encoding="utf-8")
    (package / "__pycache__" / "old.cpython-39.pyc").write_bytes(b"stale")
    return tmp_path / "layer"


def test_without_settings_the_target_is_lambdas_default() -> None:
    target = target_from({})
    assert (target.version, target.architecture, target.label) == ("3.13", "arm64", "python3.13-arm64")


def test_another_runtime_and_architecture_can_be_asked_for() -> None:
    target = target_from({"PYTHON": "3.12", "ARCHITECTURE": "x86_64"})
    assert target.label == "python3.12-x86_64"


def test_a_host_build_is_for_the_interpreter_that_is_named() -> None:
    target = target_from({"HOST_PYTHON": sys.executable, "ARCHITECTURE": "arm64"})
    assert target == HERE


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({"ARCHITECTURE": "arm"}, "ARCHITECTURE=arm isn't one of arm64, x86_64."),
        ({"HOST_PYTHON": "/nowhere/python"}, "HOST_PYTHON=/nowhere/python isn't a Python interpreter."),
    ],
)
def test_a_wrong_setting_is_named(environment: dict[str, str], complaint: str) -> None:
    with pytest.raises(BuildError, match=complaint):
        target_from(environment)


def test_a_layer_ships_byte_code_that_is_never_checked(layer: Path, tmp_path: Path) -> None:
    build(layer, tmp_path / "out", HERE, None)
    source = tmp_path / "out" / "python" / "shop" / "till.py"
    code = Path(importlib.util.cache_from_source(str(source))).read_bytes()
    assert code[:4] == importlib.util.MAGIC_NUMBER
    assert int.from_bytes(code[4:8], "little") == 0b01  # by hash, unchecked (PEP 552)


def test_what_an_import_left_behind_stays_out(layer: Path, tmp_path: Path) -> None:
    build(layer, tmp_path / "out", HERE, None)
    assert not list((tmp_path / "out").rglob("old.*.pyc"))


def test_a_machine_without_the_targets_python_is_told_so_loudly(
    layer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(layer, tmp_path / "out", Target("3.99", "arm64", None), None)
    told = capsys.readouterr().out  # `sam build` swallows what goes to stderr
    assert "WARNING: No Python 3.99 on this machine, so the layers carry no byte code" in told
    assert "Install python3.99 and build again." in told
    assert not list((tmp_path / "out").rglob("*.pyc"))
    assert (tmp_path / "out/python/shop/till.py").exists()


def test_requirements_that_only_comment_install_nothing(layer: Path, tmp_path: Path) -> None:
    (layer / "requirements.txt").write_text("# nothing\n\n", encoding="utf-8")
    build(layer, tmp_path / "out", HERE, None)
    assert [path.name for path in (tmp_path / "out/python").iterdir()] == ["shop"]


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel with one module and a test, and the only place that pip and uv may look at."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    info = "herald_test_wares-1.0.dist-info"
    files = {
        "wares.py": "STOCK = 3\n",
        "tests/test_wares.py": "",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: herald-test-wares\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    path = folder / "herald_test_wares-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return path


def test_a_requirement_without_its_hash_is_refused(layer: Path, tmp_path: Path, wheel: Path) -> None:
    (layer / "requirements.txt").write_text("herald-test-wares==1.0\n", encoding="utf-8")
    with pytest.raises(BuildError, match="hash"):
        build(layer, tmp_path / "out", HERE, None)


def test_a_requirement_is_installed_without_what_nobody_reads_and_kept_for_the_next_build(
    layer: Path, tmp_path: Path, wheel: Path
) -> None:
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    pin = f"herald-test-wares==1.0 --hash=sha256:{digest}\n"
    (layer / "requirements.txt").write_text(pin, encoding="utf-8")
    build(layer, tmp_path / "first", HERE, tmp_path / "cache")
    wheel.unlink()  # the second build has nowhere to install from
    build(layer, tmp_path / "second", HERE, tmp_path / "cache")
    for name in ("first", "second"):
        files = {str(path.relative_to(tmp_path / name / "python")) for path in (tmp_path / name).rglob("*")}
        assert {"wares.py", "shop/till.py", "herald_test_wares-1.0.dist-info/METADATA"} <= files
        assert f"__pycache__/wares.cpython-{VERSION.replace('.', '')}.pyc" in files
        assert not [file for file in files if "test_wares.py" in file or "RECORD" in file]
