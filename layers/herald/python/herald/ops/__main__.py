"""``python -m herald.ops``: the operator's commands."""

from __future__ import annotations

import os
import sys

from herald.ops.commands import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
