"""One secret of Secrets Manager in memory, under a clock that a test moves: versions, their stages and their dates."""

# ruff: noqa: N803 - the names are AWS's own
from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from fakes.clock import FakeClock
from fakes.faults import Faults


@dataclass
class _Version:
    text: str
    made_at: int
    stages: set[str] = field(default_factory=set)


class FakeSecretsManager(Faults):
    """What boto3's client does for one secret, in the calls that Herald makes of it."""

    def __init__(self, clock: FakeClock, text: str = "the first text", made_at: int | None = None) -> None:
        super().__init__()
        self._clock = clock
        made = clock.now() if made_at is None else made_at
        self.versions = {"v" * 32: _Version(text, made, {"AWSCURRENT"})}

    def get_secret_value(
        self, *, SecretId: str, VersionStage: str = "AWSCURRENT", VersionId: str = ""
    ) -> dict[str, Any]:
        with self._call("get_secret_value"):
            name = VersionId if VersionId in self.versions else "" if VersionId else self.staged(VersionStage)
            if not name:
                raise _error("ResourceNotFoundException", "GetSecretValue")
            found = self.versions[name]
            return {"VersionId": name, "SecretString": found.text, "CreatedDate": _date(found.made_at)}

    def put_secret_value(
        self, *, SecretId: str, SecretString: str, ClientRequestToken: str, VersionStages: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        with self._call("put_secret_value"):
            known = self.versions.get(ClientRequestToken)
            if known is not None and known.text != SecretString:
                raise _error("ResourceExistsException", "PutSecretValue")
            if known is None:
                self.versions[ClientRequestToken] = _Version(SecretString, self._clock.now())
                for stage in VersionStages or ("AWSCURRENT",):
                    self._move(stage, ClientRequestToken)
            return {"VersionId": ClientRequestToken}

    def update_secret_version_stage(
        self, *, SecretId: str, VersionStage: str, RemoveFromVersionId: str = "", MoveToVersionId: str = ""
    ) -> dict[str, Any]:
        with self._call("update_secret_version_stage"):
            if RemoveFromVersionId:
                self.versions[RemoveFromVersionId].stages.remove(VersionStage)
            if MoveToVersionId:
                self._move(VersionStage, MoveToVersionId, left=RemoveFromVersionId)
            return {}

    def list_secret_version_ids(
        self, *, SecretId: str, IncludeDeprecated: bool = False, NextToken: str = ""
    ) -> dict[str, Any]:
        """One version a page."""
        with self._call("list_secret_version_ids"):
            shown = [
                {"VersionId": name, "CreatedDate": _date(one.made_at), "VersionStages": sorted(one.stages)}
                for name, one in self.versions.items()
                if one.stages or IncludeDeprecated
            ]
            at = int(NextToken or 0)
            more = {"NextToken": str(at + 1)} if at + 1 < len(shown) else {}
            return {"Versions": shown[at : at + 1], **more}

    def staged(self, stage: str) -> str:
        """The version in a stage; "" when there is none."""
        return next((name for name, one in self.versions.items() if stage in one.stages), "")

    def delete_forgotten(self) -> None:
        """As Secrets Manager does in time with versions that are in no stage."""
        self.versions = {name: one for name, one in self.versions.items() if one.stages}

    def _move(self, stage: str, to: str, left: str = "") -> None:
        before = left or self.staged(stage)
        for one in self.versions.values():
            one.stages.discard(stage)
        self.versions[to].stages.add(stage)
        if stage == "AWSCURRENT" and before and before != to:
            self._move("AWSPREVIOUS", before)


def _date(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC)


def _error(code: str, operation: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": ""}}, operation)
