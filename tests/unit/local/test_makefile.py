"""What make hands to every program that it runs."""

from __future__ import annotations

import subprocess

from local.environments import ROOT


def test_sam_keeps_its_notes_in_this_folder_and_not_in_the_home_of_whoever_runs_it() -> None:
    rule = "told:\n\t@echo $$__SAM_CLI_APP_DIR $$SAM_CLI_TELEMETRY"
    command = ["make", "--no-print-directory", "--eval", rule, "told"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == f"{ROOT}/.tools/sam 0"
