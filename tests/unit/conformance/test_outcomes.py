"""What a run of the conformance kit amounts to: figures, names, and whether anything unexpected failed."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from local.terminal import LocalError

from conformance.kit import kit_at
from conformance.known import KNOWN
from conformance.outcomes import Outcome, Verdict, read

PASSED = Outcome("a.py::test_a[jsonrpc]", "jsonrpc", "must", "passed", "")
OF_EACH = [PASSED, replace(PASSED, test="a.py::test_a[http_json]", binding="http_json"), replace(PASSED, binding="")]
FAILED = Outcome("a.py::test_b[http_json]", "http_json", "must", "failed", "got 409")
SKIPPED = Outcome("a.py::test_c[jsonrpc]", "jsonrpc", "should", "skipped", "no streams")


def test_a_run_in_which_nothing_failed_is_good() -> None:
    verdict = Verdict([*OF_EACH, SKIPPED, SKIPPED], {})

    assert verdict.good
    assert verdict.lines() == [
        "               passed   failed  skipped",
        "JSON-RPC            1        0        2",
        "HTTP+JSON           1        0        0",
        "Card, model         1        0        0",
        "",
        "Skipped",
        "    2  no streams",
    ]


def test_a_failure_that_nobody_has_named_is_told_with_what_the_kit_says() -> None:
    verdict = Verdict([*OF_EACH, FAILED], {})

    assert not verdict.good
    assert verdict.lines()[4:] == [
        "",
        "Failed",
        "  HTTP+JSON, MUST: a.py::test_b[http_json]",
        "    NOT EXPECTED: got 409",
    ]


def test_a_known_failure_is_told_with_its_reason_and_spoils_nothing() -> None:
    verdict = Verdict([*OF_EACH, FAILED], {FAILED.test: "the kit adds wrongly"})

    assert verdict.good
    assert "    known: the kit adds wrongly" in verdict.lines()


def test_a_known_failure_that_passes_is_told() -> None:
    verdict = Verdict(OF_EACH, {PASSED.test: "it used to fail"})

    assert verdict.good
    assert verdict.lines()[-1] == "Passes, although it is known to fail: a.py::test_a[jsonrpc]"


def test_a_binding_of_which_nothing_passed_spoils_the_run() -> None:
    verdict = Verdict([SKIPPED, *OF_EACH[1:]], {})

    assert not verdict.good
    assert verdict.lines()[-1] == "Nothing passed for JSON-RPC: something stands in the way of the whole run."


def test_what_the_plugin_wrote_is_read_without_grpc(tmp_path: Path) -> None:
    file = tmp_path / "outcomes.json"
    file.write_text(json.dumps([asdict(FAILED), asdict(replace(FAILED, binding="grpc"))]), encoding="utf-8")

    assert read(file) == [FAILED]


def test_every_known_failure_has_a_reason() -> None:
    assert [test for test, reason in KNOWN.items() if "::test_" not in test or len(reason) < 40] == []


@pytest.mark.parametrize("path", ["", "nowhere"])
def test_without_a_kit_it_says_how_to_get_one(path: str) -> None:
    with pytest.raises(LocalError, match=r"git clone --branch 1\.0-dev https://github\.com/a2aproject/a2a-tck\.git"):
        kit_at(path)


def test_a_kit_that_isn_t_installed_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "tests" / "compatibility").mkdir(parents=True)

    with pytest.raises(LocalError, match="dependencies aren't installed"):
        kit_at(str(tmp_path))
