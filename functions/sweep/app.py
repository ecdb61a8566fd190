"""Looks after what is due and what has stopped; see herald.entrypoints.sweep."""

import os

from herald import bootstrap
from herald.entrypoints.sweep import handler_for

meter = bootstrap.meter(os.environ)
handler = handler_for(bootstrap.sweep(bootstrap.Platform(os.environ), meter), meter)
