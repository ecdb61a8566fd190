"""Sends a webhook what it is owed; see herald.entrypoints.send_webhooks."""

import os

from herald import bootstrap
from herald.entrypoints.send_webhooks import DeliveryWatch, handler_for

watch = DeliveryWatch(bootstrap.meter(os.environ))
handler = handler_for(bootstrap.send_webhooks(bootstrap.Platform(os.environ), watch), watch)
