"""`python -m demo`, from the repository's root: run the demo against the local stack that is up."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "layers" / "herald" / "python"))

from demo.run import main  # noqa: E402 - the path comes first

if __name__ == "__main__":
    raise SystemExit(main(ROOT))
