"""What Herald costs, measured: ``make bench-quick``."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = [str(ROOT / "layers" / name / "python") for name in ("herald", "agent")]
sys.path[:0] = [*PACKAGES, str(ROOT / "tests")]
