"""Rings the doorbells of webhooks that are behind; see herald.entrypoints.ring_webhooks."""

import os

from herald import bootstrap
from herald.entrypoints.ring_webhooks import handler_for

handler = handler_for(bootstrap.ring_webhooks(bootstrap.Platform(os.environ)))
