"""How many examples a property is tried on: few and always the same ones, or as many as EXAMPLES says."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("EXAMPLES", "0"))

bounded = settings(
    max_examples=EXAMPLES or 25,
    derandomize=not EXAMPLES,
    database=None,
    deadline=None,  # the machine may be busy; what hangs meets the test's timeout
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
