"""Publishes the keys of webhooks' signatures; see herald.entrypoints.publish_keys."""

import os

from herald import bootstrap
from herald.entrypoints.publish_keys import handler_for

handler = handler_for(bootstrap.publish_keys(bootstrap.Platform(os.environ)))
