"""A plugin for the kit's pytest: writes down how each test went, with the binding and the level it is about.

It runs in the kit's own environment, so it imports nothing of Herald. ``HERALD_OUTCOMES`` names the file: a JSON array
of ``{"test", "binding", "level", "outcome", "reason"}``, see ``conformance.outcomes``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

TESTS = "tests/compatibility/"
TRANSPORTS = ("jsonrpc", "http_json", "grpc")
LEVELS = ("must", "should", "may")
BY_NAME = {"_jsonrpc": "jsonrpc", "_rest": "http_json", "_http_json": "http_json"}


class Outcomes:
    """What is known of each test, by its id."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._told: dict[str, dict[str, str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            level = next((level for level in LEVELS if item.get_closest_marker(level)), "")
            test = item.nodeid.removeprefix(TESTS)
            told = {"test": test, "binding": _binding(item), "level": level, "outcome": "", "reason": ""}
            self._told[item.nodeid] = told

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = self._told[report.nodeid]
        if report.failed:
            told |= {"outcome": "failed", "reason": _crash(report)}
        elif report.skipped and hasattr(report, "wasxfail"):
            told |= {"outcome": "failed", "reason": report.wasxfail.removeprefix("reason: ")}
        elif report.skipped:
            told |= {"outcome": "skipped", "reason": _skip(report)}
        elif report.when == "call":
            told |= {"outcome": "passed"}

    def pytest_sessionfinish(self) -> None:
        self._file.write_text(json.dumps(list(self._told.values()), indent=1), encoding="utf-8")


def _binding(item: pytest.Item) -> str:
    """The transport that a test is about; "" for the card and the data model, one for all."""
    asked = getattr(item, "callspec", None)
    told = asked.params.get("transport") if asked else None
    marked = next((transport for transport in TRANSPORTS if item.get_closest_marker(transport)), None)
    named = next((transport for end, transport in BY_NAME.items() if item.name.endswith(end)), "")
    return str(told or marked or named)


def _crash(report: pytest.TestReport) -> str:
    crash: Any = getattr(report.longrepr, "reprcrash", None)
    said = crash.message if crash else str(report.longrepr)
    return str(said).split("\nassert ")[0].removeprefix("AssertionError: ").strip()


def _skip(report: pytest.TestReport) -> str:
    told = report.longrepr
    return str(told[2] if isinstance(told, tuple) else told).removeprefix("Skipped: ")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Outcomes(Path(os.environ["HERALD_OUTCOMES"])))
