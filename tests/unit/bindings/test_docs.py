"""docs/protocol.md says what the route tables say."""

from __future__ import annotations

import re
from pathlib import Path

from herald.bindings.rest import ROUTES

DOCS = Path(__file__).parents[3] / "docs" / "protocol.md"


def test_the_documented_routes_are_the_served_ones() -> None:
    rows = re.findall(r"^\| [^|]+ \| `(\w+)` \| `([A-Z]+) ([^`]+)` \|$", DOCS.read_text(), re.MULTILINE)

    documented = {(method, path, operation) for operation, method, path in rows}
    assert documented == {(route.method, route.path, route.operation) for route in ROUTES}
