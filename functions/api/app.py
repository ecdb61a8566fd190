"""Serves A2A over JSON-RPC and HTTP+JSON; see herald.entrypoints.api."""

import os

from herald.bootstrap import Platform
from herald.entrypoints.api import handler_for

handler = handler_for(Platform(os.environ))
