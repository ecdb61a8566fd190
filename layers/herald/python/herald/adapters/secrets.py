"""The stack's two secrets in their versions, and the sealing of clients' secrets with one of them."""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from herald.adapters.aws import call, code_of
from herald.delivery.rotation import Stage, Staged
from herald.ports import Clock, Unavailable, Unopenable

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

FRESH_MS = 5 * 60_000
NONCE_BYTES = 12
INFO = b"herald/seal/v1"
# Of a version; Secrets Manager refuses to be asked for any other. Clients bring some along, in what we sealed for them.
VERSION_ID = re.compile(r"[A-Za-z0-9-]{32,64}")
# Whoever makes such texts up, with a new version in each, mustn't have Secrets Manager asked without end.
MISSES = 10
MISSES_MS = 60_000


@dataclass(frozen=True, slots=True)
class SecretVersion:
    """One version of a secret. ``text`` is the secret string; the representation doesn't show it.

    ``created_at`` is when it was made, in milliseconds since 1970, whatever stage it is in.
    """

    version_id: str
    text: str = field(repr=False)
    created_at: int


class SecretVersions:
    """One secret of Secrets Manager: its versions in their stages, looked at anew after 5 minutes, and any by its id.

    As the signing secret it says which versions sign and which are published.

    Args:
        client: makes the client, or hands out the one there is.
        secret_id: the secret's ARN.
    """

    def __init__(self, client: Callable[[], SecretsManagerClient], secret_id: str, clock: Clock) -> None:
        self._client = client
        self._secret_id = secret_id
        self._clock = clock
        self._current: tuple[int, SecretVersion] | None = None
        self._staged: dict[bool, tuple[int, Staged[SecretVersion]]] = {}
        self._versions: dict[str, SecretVersion] = {}
        self._misses: deque[int] = deque(maxlen=MISSES)  # when a version was asked for that isn't there

    def current(self) -> SecretVersion:
        """The version to seal with. One request every 5 minutes.

        Raises:
            LookupError: the secret has none.
            Unavailable: Secrets Manager doesn't answer.
        """
        now = self._clock.now()
        if self._current is None or now - self._current[0] >= FRESH_MS:
            self._current = now, self._present()
        return self._current[1]

    def signing(self) -> list[SecretVersion]:
        """The versions whose keys sign, the newest first. Two requests every 5 minutes. Raises as ``current`` does."""
        now = self._clock.now()
        return self._as_staged(now, pending=False).signing(now)

    def published(self) -> list[SecretVersion]:
        """The versions whose keys are published. Three requests every 5 minutes. Raises as ``current`` does."""
        now = self._clock.now()
        return self._as_staged(now, pending=True).published(now)

    def _as_staged(self, now: int, *, pending: bool) -> Staged[SecretVersion]:
        """All stages at one moment: one that is looked at alone might have been left, and the other not yet entered.

        They are read against the way that versions take, so that none slips through while it moves.
        """
        known = self._staged.get(pending)
        if known is None or now - known[0] >= FRESH_MS:
            waiting = self._stage("AWSPENDING") if pending else None
            current = self._present()
            known = self._staged[pending] = now, Staged(current, self._stage("AWSPREVIOUS"), waiting)
        return known[1]

    def _present(self) -> SecretVersion:
        if (found := self._stage("AWSCURRENT")) is None:
            raise LookupError("the secret has no current version")
        return found

    def _stage(self, stage: Stage) -> SecretVersion | None:
        return self._fetch(VersionStage=stage)

    def by_id(self, version_id: str) -> SecretVersion | None:
        """A version by its id, None when it is gone. A version never changes, so it is kept.

        Raises:
            Unavailable: ``MISSES`` versions that aren't there were asked for within a minute, or as ``current``.
        """
        known = self._versions.get(version_id)
        if known is not None or not VERSION_ID.fullmatch(version_id):
            return known
        now = self._clock.now()
        if len(self._misses) == MISSES and now - self._misses[0] < MISSES_MS:
            raise Unavailable("versions of a secret are asked for that aren't there, too often")
        found = self._fetch(VersionId=version_id)
        if found is None:
            self._misses.append(now)
        return found

    def _fetch(self, **which: str) -> SecretVersion | None:
        try:
            answer = call(self._client().get_secret_value, SecretId=self._secret_id, **which)
        except ClientError as error:
            if code_of(error) == "ResourceNotFoundException":
                return None
            raise
        created_at = int(answer["CreatedDate"].timestamp() * 1000)
        found = SecretVersion(answer["VersionId"], answer["SecretString"], created_at)
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
        version, text = self._read(sealed)
        try:
            raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            return self._cipher(version).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], place.encode()).decode()
        except (InvalidTag, binascii.Error, ValueError) as error:
            raise Unopenable("this sealed text was changed, or belongs elsewhere") from error

    def renewed(self, sealed: str, place: str) -> str:
        version, _ = self._read(sealed)
        # A process that doesn't know of the newest version yet must not take its texts back.
        if version.created_at >= self._versions.current().created_at:
            return sealed
        return self.seal(self.open(sealed, place), place)

    def _read(self, sealed: str) -> tuple[SecretVersion, str]:
        """The version that sealed a text, and what it made of it."""
        form, _, rest = sealed.partition(".")
        version_id, _, text = rest.rpartition(".")
        if form != "v1" or not version_id:
            raise ValueError("this isn't a text that was sealed here")
        # Known from the current version, mostly; and where there is none, the secret is gone and not that one version.
        current = self._versions.current()
        version = current if current.version_id == version_id else self._versions.by_id(version_id)
        if version is None:
            raise Unopenable(f"version {version_id} of the sealing secret is gone; the client must register anew")
        return version, text

    def _cipher(self, version: SecretVersion) -> AESGCM:
        cipher = self._ciphers.get(version.version_id)
        if cipher is None:
            key = HKDF(SHA256(), 32, salt=None, info=INFO).derive(version.text.encode())
            cipher = self._ciphers[version.version_id] = AESGCM(key)
        return cipher
