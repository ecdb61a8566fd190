"""Starts the execution of each new turn; see herald.entrypoints.start_worker."""

import os

from herald import bootstrap
from herald.entrypoints.start_worker import handler_for

handler = handler_for(bootstrap.start_worker(bootstrap.Platform(os.environ)))
