"""What properties are tried on: few examples and always the same ones, or as many as EXAMPLES says."""

from __future__ import annotations

import os
from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings

from herald.bindings import openapi, schemas
from herald.bindings.jsonrpc import METHODS

EXAMPLES = int(os.environ.get("EXAMPLES", "0"))
SECONDS = 300 + 2 * EXAMPLES  # for a property: a bound for what hangs, on a busy machine too

bounded = settings(
    max_examples=EXAMPLES or 25,
    derandomize=not EXAMPLES,
    database=None,
    deadline=None,  # the machine may be busy; what hangs meets the test's timeout
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)


def requests_of_operations() -> Any:
    """The operations' requests for schemathesis: a document with a path for each operation, ``/GetTask``."""
    kinds = {method: openapi.SHAPES[method].request for method in METHODS}
    paths = {
        f"/{method}": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": schemas.reference(kind)}},
                },
                "responses": {"200": {"description": "The result."}},
            }
        }
        for method, kind in kinds.items()
    }
    info = {"title": "The operations", "version": "1"}
    components = {"schemas": schemas.closure(kinds.values())}
    return schemathesis.openapi.from_dict({"openapi": "3.1.1", "info": info, "paths": paths, "components": components})
