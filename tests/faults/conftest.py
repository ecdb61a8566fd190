"""The fault matrix: its figures are printed when its tests are over."""

from __future__ import annotations

import pytest
from _pytest.terminal import TerminalReporter

from faults.figures import Figures

FIGURES = pytest.StashKey[Figures]()


@pytest.fixture(scope="session")
def figures(request: pytest.FixtureRequest) -> Figures:
    return request.config.stash.setdefault(FIGURES, Figures())


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    found = config.stash.get(FIGURES, Figures())
    if found.cells:
        terminalreporter.section("fault matrix: cells that came to their expected end")
        for line in found.lines():
            terminalreporter.write_line(line)
