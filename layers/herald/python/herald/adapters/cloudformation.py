"""Where a deployed stack's parts are, by its outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from herald.adapters.aws import call

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient


class NoSuchStack(LookupError):
    """There is no stack of this name in this account and region."""


def outputs(client: Callable[[], CloudFormationClient], stack: str) -> dict[str, str]:
    """The outputs of a stack, its id among them as ``StackId``.

    Raises:
        NoSuchStack: there is none of this name.
        Unavailable: CloudFormation didn't answer.
    """
    try:
        (found,) = call(client().describe_stacks, StackName=stack)["Stacks"]
    except ClientError as error:
        if "does not exist" in error.response.get("Error", {}).get("Message", ""):
            raise NoSuchStack(stack) from error
        raise
    told = {row["OutputKey"]: row["OutputValue"] for row in found.get("Outputs", [])}
    return {**told, "StackId": found.get("StackId", "")}
