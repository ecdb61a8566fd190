"""Publishes the keys of webhooks' signatures; see herald.entrypoints.publish_keys."""

import os

from herald import bootstrap
from herald.bindings.cors import Cors
from herald.entrypoints.publish_keys import handler_for
from herald.settings import PublishKeysSettings

allowed = Cors.parse(PublishKeysSettings.read(os.environ).cors_origin)
handler = handler_for(bootstrap.publish_keys(bootstrap.Platform(os.environ)), allowed)
