"""Running a kit, and what our plugin writes of it: a small one stands in for the official kit."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest
from local.terminal import LocalError

from conformance.kit import Kit
from conformance.outcomes import Outcome, read

CONFTEST = """
    def pytest_addoption(parser):
        parser.addoption("--sut-host")
        parser.addoption("--transport")

    def pytest_configure(config):
        for name in ("must", "should", "jsonrpc", "grpc"):
            config.addinivalue_line("markers", name)
"""

TESTS = """
    import pytest

    @pytest.mark.must
    def test_card(request):
        assert request.config.getoption("sut_host") == "http://agent"

    @pytest.mark.must
    @pytest.mark.parametrize("transport", ["jsonrpc", "http_json", "grpc"])
    def test_send(transport, request):
        if transport not in request.config.getoption("transport"):
            pytest.skip("not configured")
        assert transport == "jsonrpc", "the state is wrong"

    @pytest.mark.should
    @pytest.mark.jsonrpc
    def test_history():
        pytest.xfail("no history")

    @pytest.fixture
    def stream():
        pytest.skip("no streams")

    def test_stream_rest(stream):
        pass
"""


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    python = tmp_path / "kit" / ".venv" / "bin" / "python"
    tests = tmp_path / "kit" / "tests" / "compatibility"
    python.parent.mkdir(parents=True)
    # This Python with what it has installed; a link would lose that.
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    tests.mkdir(parents=True)
    (tests / "conftest.py").write_text(textwrap.dedent(CONFTEST), encoding="utf-8")
    (tests / "test_it.py").write_text(textwrap.dedent(TESTS), encoding="utf-8")
    return Kit(tmp_path / "kit")


def test_how_each_test_went_is_told_with_its_binding_level_and_reason(kit: Kit, tmp_path: Path) -> None:
    kit.run("http://agent", tmp_path / "outcomes.json", tmp_path / "kit.log")

    assert read(tmp_path / "outcomes.json") == [
        Outcome("test_it.py::test_card", "", "must", "passed", ""),
        Outcome("test_it.py::test_send[jsonrpc]", "jsonrpc", "must", "passed", ""),
        Outcome("test_it.py::test_send[http_json]", "http_json", "must", "failed", "the state is wrong"),
        Outcome("test_it.py::test_history", "jsonrpc", "should", "failed", "no history"),
        Outcome("test_it.py::test_stream_rest", "http_json", "", "skipped", "no streams"),
    ]


def test_a_kit_that_doesn_t_run_is_no_run_without_failures(kit: Kit, tmp_path: Path) -> None:
    (kit.folder / "tests" / "compatibility" / "test_it.py").write_text("import nothing_of_that_name", encoding="utf-8")

    with pytest.raises(LocalError, match=r"didn't run to its end; .*kit\.log"):
        kit.run("http://agent", tmp_path / "outcomes.json", tmp_path / "kit.log")
