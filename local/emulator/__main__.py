"""Start the emulator: `python -m local.emulator`, settings as for `ministack` itself."""

from __future__ import annotations

import gc
import sys
from importlib.metadata import version

from ministack.app import main

from local.emulator import (
    authorizer_context,
    batch_permissions,
    bridge,
    error_names,
    event_conditions,
    fifo_groups,
    gateway_responses,
    issuer,
    kms_conditions,
    metric_math,
    paced_starts,
    quick_calls,
    running_executions,
    shared_packages,
    stream_mappings,
)

KNOWN = "1.5.33"
MENDS = [
    authorizer_context,
    batch_permissions,
    error_names,
    event_conditions,
    fifo_groups,
    gateway_responses,
    kms_conditions,
    metric_math,
    paced_starts,
    quick_calls,
    running_executions,
    shared_packages,
    stream_mappings,
]

if version("ministack") != KNOWN:
    sys.exit(f"This mends MiniStack {KNOWN}, and {version('ministack')} is installed: see local/emulator.in.")
for mend in MENDS:
    mend.apply()
gc.set_threshold(100_000, 10, 1_000)  # all data lies in memory, and to look through it takes half a second
issuer.serve()
bridge.open_door()
main()
