"""Large bodies in the stack's bucket."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from herald.adapters.aws import call, code_of
from herald.adapters.dynamodb import keys
from herald.ports import Unavailable
from herald.records import TaskRef

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class S3Bodies:
    """JSON texts by key.

    Args:
        client: makes the client, or hands out the one there is: most functions never meet a large body.
    """

    def __init__(self, client: Callable[[], S3Client], bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def put(self, key: str, body: str, expires_second: int) -> None:
        """Store a body. ``Expires`` tells when its task is gone; the bucket's lifecycle rule deletes it."""
        call(
            self._client().put_object,
            Bucket=self._bucket,
            Key=key,
            Body=body.encode(),
            ContentType="application/json",
            Expires=datetime.fromtimestamp(expires_second, UTC),
        )

    def get(self, key: str) -> str:
        """A stored body.

        Raises:
            Unavailable: it isn't there, or the bucket doesn't answer.
        """
        return _read(self._client(), self._bucket, key).decode()

    def list(self, prefix: str) -> list[str]:
        """The keys that begin with this."""
        found: list[str] = []
        request = {"Bucket": self._bucket, "Prefix": prefix}
        while True:
            page = call(self._client().list_objects_v2, **request)  # type: ignore[arg-type]
            found += [row["Key"] for row in page.get("Contents", [])]
            if not page.get("IsTruncated"):
                return found
            request["ContinuationToken"] = page["NextContinuationToken"]

    def delete(self, keys: Sequence[str]) -> None:
        """Delete bodies; one that isn't there is the same.

        Raises:
            Unavailable: some couldn't be deleted.
        """
        for start in range(0, len(keys), 1_000):  # what one request takes
            named: Any = {"Objects": [{"Key": key} for key in keys[start : start + 1_000]], "Quiet": True}
            answer = call(self._client().delete_objects, Bucket=self._bucket, Delete=named)
            if left := answer.get("Errors"):
                raise Unavailable(f"DeleteObjects: {len(left)} bodies, the first for {left[0].get('Code')}")


class S3KeptBodies:
    """KeptBodies in the bucket, beside a task's large bodies: what erases or expires those takes these, too.

    Args:
        client: makes the client, or hands out the one there is.
    """

    def __init__(self, client: Callable[[], S3Client], bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def keep(self, ref: TaskRef, name: str, body: bytes, expires_second: int) -> str:
        key = keys.body_prefix(keys.pk(ref)) + name
        try:
            call(
                self._client().put_object,
                Bucket=self._bucket,
                Key=key,
                Body=body,
                ContentType="application/a2a+json",
                Expires=datetime.fromtimestamp(expires_second, UTC),
                IfNoneMatch="*",
            )
        except ClientError as error:
            if code_of(error) == "ConditionalRequestConflict":  # two at once, and neither has won yet
                raise Unavailable("PutObject: ConditionalRequestConflict") from error
            if code_of(error) != "PreconditionFailed":
                raise
        return key

    def get(self, key: str) -> bytes:
        return _read(self._client(), self._bucket, key)

    def link(self, key: str, seconds: int) -> str:
        where = {"Bucket": self._bucket, "Key": key}
        return self._client().generate_presigned_url("get_object", Params=where, ExpiresIn=seconds)


def _read(client: S3Client, bucket: str, key: str) -> bytes:
    try:
        return call(lambda: client.get_object(Bucket=bucket, Key=key)["Body"].read())
    except ClientError as error:
        # To a role that may not list the bucket, as ours may not, a key that isn't there is denied.
        if code_of(error) in {"NoSuchKey", "AccessDenied"}:
            raise Unavailable(f"body {key} isn't in the bucket") from error
        raise
