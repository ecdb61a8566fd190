"""moto's Secrets Manager, mended: it lists every version as made at this moment, and knows the real clock only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from unittest import mock

from moto.secretsmanager import models

from fakes.clock import FakeClock


@contextmanager
def dated(clock: FakeClock) -> Iterator[None]:
    """Inside, versions are made by the clock of the test, and listed with the dates of their making."""
    plain = models.SecretsManagerBackend.list_secret_version_ids

    def list_secret_version_ids(self: models.SecretsManagerBackend, secret_id: str) -> str:
        listed = json.loads(plain(self, secret_id))
        for row in listed["Versions"]:
            row["CreatedDate"] = self.secrets[secret_id].versions[row["VersionId"]]["createdate"]
        return json.dumps(listed)

    with (
        mock.patch.object(models, "time", SimpleNamespace(time=lambda: clock.now() / 1000)),
        mock.patch.object(models.SecretsManagerBackend, "list_secret_version_ids", list_secret_version_ids),
    ):
        yield
