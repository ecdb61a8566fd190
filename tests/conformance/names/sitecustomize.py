"""Makes the kit's placeholder of a receiver, example.com, lead to this machine, in the emulator and its functions.

So the kit can register it on a machine without DNS, and nobody's server is sent notifications on one with.
"""

from __future__ import annotations

import socket
from typing import Any

PLACEHOLDER = "example.com"

_lookup = socket.getaddrinfo


def _getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
    return _lookup("127.0.0.1" if host == PLACEHOLDER else host, *args, **kwargs)


socket.getaddrinfo = _getaddrinfo
