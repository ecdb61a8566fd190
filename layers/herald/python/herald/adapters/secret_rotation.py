"""The versions of a secret as an operator sees them, who may make a new one and read none."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from botocore.exceptions import ClientError

from herald.adapters.aws import call, code_of

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_secretsmanager.type_defs import ListSecretVersionIdsRequestTypeDef, SecretVersionsListEntryTypeDef

BYTES = 48  # of randomness in a version: 384 bits, 64 characters


@dataclass(frozen=True, slots=True)
class VersionDates:
    """A version by its name and when it was made, in milliseconds since 1970."""

    version_id: str
    created_at: int


@dataclass(frozen=True, slots=True)
class SecretState:
    """The version that is current, and the one before it unless nothing may need that any more.

    ``count`` is how many versions are known, forgotten ones included.
    """

    current: VersionDates
    previous: VersionDates | None
    count: int


class RotatableSecret:
    """A secret of Secrets Manager that gets new versions.

    Needs the rights ListSecretVersionIds, PutSecretValue and UpdateSecretVersionStage, and not GetSecretValue.

    Args:
        client: makes the client, or hands out the one there is.
        secret_id: the secret's ARN.
    """

    def __init__(self, client: Callable[[], SecretsManagerClient], secret_id: str) -> None:
        self._client = client
        self._secret_id = secret_id

    def state(self) -> SecretState:
        """Which versions there are.

        Raises:
            LookupError: none is current.
            Unavailable: Secrets Manager doesn't answer.
        """
        rows = list(self._rows())
        staged: dict[str, VersionDates] = {}
        for row in rows:
            made = VersionDates(row["VersionId"], int(row["CreatedDate"].timestamp() * 1000))
            staged |= dict.fromkeys(row.get("VersionStages", []), made)
        if "AWSCURRENT" not in staged:
            raise LookupError("the secret has no current version")
        return SecretState(staged["AWSCURRENT"], staged.get("AWSPREVIOUS"), len(rows))

    def _rows(self) -> Iterator[SecretVersionsListEntryTypeDef]:
        more = True
        request: ListSecretVersionIdsRequestTypeDef = {"SecretId": self._secret_id, "IncludeDeprecated": True}
        while more:
            page = call(self._client().list_secret_version_ids, **request)
            yield from page["Versions"]
            request["NextToken"] = page.get("NextToken", "")
            more = bool(request["NextToken"])

    def renew(self, seen: SecretState) -> None:
        """Make a new version the current one, and the current one the previous; once, whoever else does it too.

        The name of the new version follows from what was seen, so that of two who see the same only one makes it.
        """
        name = str(uuid5(NAMESPACE_URL, f"{self._secret_id}/{seen.current.version_id}/{seen.count}"))
        try:
            call(
                self._client().put_secret_value,
                SecretId=self._secret_id,
                ClientRequestToken=name,
                SecretString=secrets.token_urlsafe(BYTES),
            )
        except ClientError as error:
            if code_of(error) != "ResourceExistsException":
                raise

    def forget(self, previous: VersionDates) -> None:
        """Take the stage AWSPREVIOUS from a version; Secrets Manager deletes one without a stage in time."""
        call(
            self._client().update_secret_version_stage,
            SecretId=self._secret_id,
            VersionStage="AWSPREVIOUS",
            RemoveFromVersionId=previous.version_id,
        )
