"""A local stand-in for AWS's JSON services that answers each call at once with a canned body."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from bench.service import Service, apart

Canned = dict[str, Any]  # operation (the part of X-Amz-Target after the dot) -> answer


def _serve(pipe: Connection, canned: Canned) -> None:
    bodies = {name: json.dumps(answer).encode() for name, answer in canned.items()}
    with Service(lambda target, _: bodies.get(target, b"{}")) as service:
        pipe.send(service.port)
        service.serve_forever()


@contextmanager
def stub(canned: Canned) -> Iterator[str]:
    """The address of a running stub, e.g. ``http://127.0.0.1:41234``."""
    with apart(_serve, canned) as port:
        yield f"http://127.0.0.1:{port}"
