"""What a fresh interpreter pays to load one function: run as ``python fresh.py FUNCTION_FOLDER``.

Prints JSON: ``{"ms": import time, "mb": resident memory afterwards}``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def resident_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    begun = time.perf_counter()
    import app  # type: ignore[import-not-found]  # noqa: F401

    print(json.dumps({"ms": (time.perf_counter() - begun) * 1000, "mb": resident_mb()}))
