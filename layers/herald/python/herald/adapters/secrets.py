"""The stack's two secrets in their versions, and the sealing of clients' secrets with one of them."""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from herald.adapters.aws import call, code_of
from herald.delivery.signing import Stage
from herald.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

STAGES: tuple[Stage, ...] = ("AWSCURRENT", "AWSPENDING", "AWSPREVIOUS")

FRESH_MS = 5 * 60_000
NONCE_BYTES = 12
INFO = b"herald/seal/v1"
# Of a version; Secrets Manager refuses to be asked for any other. Clients bring some along, in what we sealed for them.
VERSION_ID = re.compile(r"[A-Za-z0-9-]{32,64}")


@dataclass(frozen=True, slots=True)
class SecretVersion:
    """One version of a secret. ``text`` is the secret string; the representation doesn't show it."""

    version_id: str
    text: str = field(repr=False)


class SecretVersions:
    """One secret of Secrets Manager: its stages, each looked at anew after 5 minutes, and any version by its id.

    Args:
        client: makes the client, or hands out the one there is.
        secret_id: the secret's ARN.
    """

    def __init__(self, client: Callable[[], SecretsManagerClient], secret_id: str, clock: Clock) -> None:
        self._client = client
        self._secret_id = secret_id
        self._clock = clock
        self._stages: dict[Stage, tuple[int, SecretVersion | None]] = {}
        self._versions: dict[str, SecretVersion] = {}

    def current(self) -> SecretVersion:
        """The version to seal and sign with.

        Raises:
            LookupError: the secret has none.
            Unavailable: Secrets Manager doesn't answer.
        """
        if (found := self.stage("AWSCURRENT")) is None:
            raise LookupError("the secret has no current version")
        return found

    def stage(self, stage: Stage) -> SecretVersion | None:
        """The version in a stage, None when there is none: AWSPENDING and AWSPREVIOUS exist around a rotation only."""
        now = self._clock.now()
        if stage in self._stages:
            looked_at, known = self._stages[stage]
            if now - looked_at < FRESH_MS:
                return known
        found = self._fetch(VersionStage=stage)
        self._stages[stage] = (now, found)
        return found

    def all(self) -> list[SecretVersion]:
        """Current, pending and previous version, as far as there are such, each once."""
        found: dict[str, SecretVersion] = {}
        for stage in STAGES:
            if (version := self.stage(stage)) is not None:
                found.setdefault(version.version_id, version)
        return list(found.values())

    def by_id(self, version_id: str) -> SecretVersion | None:
        """A version by its id, None when it is gone. A version never changes, so it is kept."""
        known = self._versions.get(version_id)
        if known is not None or not VERSION_ID.fullmatch(version_id):
            return known
        return self._fetch(VersionId=version_id)

    def _fetch(self, **which: str) -> SecretVersion | None:
        try:
            answer = call(self._client().get_secret_value, SecretId=self._secret_id, **which)
        except ClientError as error:
            if code_of(error) == "ResourceNotFoundException":
                return None
            raise
        found = SecretVersion(answer["VersionId"], answer["SecretString"])
        self._versions[found.version_id] = found
        return found


class SecretsSealer:
    """Sealer with AES-256-GCM: ``v1.<version id>.<base64url of nonce, ciphertext and tag, unpadded>``.

    The key comes from a version of the sealing secret by HKDF-SHA256, and the text names that version, so that rotation
    leaves sealed texts readable as long as their version exists.
    """

    def __init__(self, versions: SecretVersions, random: Callable[[int], bytes] = os.urandom) -> None:
        self._versions = versions
        self._random = random
        self._ciphers: dict[str, AESGCM] = {}

    def seal(self, plain: str, place: str) -> str:
        version = self._versions.current()
        nonce = self._random(NONCE_BYTES)
        sealed = nonce + self._cipher(version).encrypt(nonce, plain.encode(), place.encode())
        return f"v1.{version.version_id}.{base64.urlsafe_b64encode(sealed).decode().rstrip('=')}"

    def open(self, sealed: str, place: str) -> str:
        form, _, rest = sealed.partition(".")
        version_id, _, text = rest.rpartition(".")
        if form != "v1" or not version_id:
            raise ValueError("this isn't a text that was sealed here")
        version = self._versions.by_id(version_id)
        if version is None:
            raise ValueError(f"version {version_id} of the sealing secret is gone; the client must register anew")
        try:
            raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            return self._cipher(version).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], place.encode()).decode()
        except (InvalidTag, binascii.Error, ValueError) as error:
            raise ValueError("this sealed text was changed, or belongs elsewhere") from error

    def _cipher(self, version: SecretVersion) -> AESGCM:
        cipher = self._ciphers.get(version.version_id)
        if cipher is None:
            key = HKDF(SHA256(), 32, salt=None, info=INFO).derive(version.text.encode())
            cipher = self._ciphers[version.version_id] = AESGCM(key)
        return cipher
