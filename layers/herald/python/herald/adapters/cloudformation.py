"""Where a deployed stack's parts are, by its outputs or by the names that its template gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from herald.adapters.aws import call

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import StackTypeDef


class NoSuchStack(LookupError):
    """There is no stack of this name in this account and region."""


def outputs(client: Callable[[], CloudFormationClient], stack: str) -> dict[str, str]:
    """The outputs of a stack, its id among them as ``StackId``.

    Raises:
        NoSuchStack: there is none of this name.
        Unavailable: CloudFormation didn't answer.
    """
    found = _described(client(), stack)
    told = {row["OutputKey"]: row["OutputValue"] for row in found.get("Outputs", [])}
    return {**told, "StackId": found.get("StackId", "")}


@dataclass(frozen=True, slots=True)
class Parts:
    """What a stack consists of.

    Attributes:
        stack_id: its ARN.
        parameters: the parameters that it was deployed with.
        resources: the physical id of each resource, by its name in the template.
        types: the type of each resource, like ``AWS::SQS::Queue``.
    """

    stack_id: str
    parameters: Mapping[str, str]
    resources: Mapping[str, str]
    types: Mapping[str, str]


def parts(client: Callable[[], CloudFormationClient], stack: str) -> Parts:
    """The parts of a stack. Two requests and one more for every hundred resources.

    Raises:
        NoSuchStack: there is none of this name.
        Unavailable: CloudFormation didn't answer.
    """
    found = _described(client(), stack)
    told = {row["ParameterKey"]: row["ParameterValue"] for row in found.get("Parameters", [])}
    resources: dict[str, str] = {}
    types: dict[str, str] = {}
    page = call(client().list_stack_resources, StackName=stack)
    while True:
        for row in page["StackResourceSummaries"]:
            resources[row["LogicalResourceId"]] = row.get("PhysicalResourceId", "")
            types[row["LogicalResourceId"]] = row["ResourceType"]
        if not (token := page.get("NextToken")):
            return Parts(found.get("StackId", ""), told, resources, types)
        page = call(client().list_stack_resources, StackName=stack, NextToken=token)


def _described(client: CloudFormationClient, stack: str) -> StackTypeDef:
    try:
        (found,) = call(client.describe_stacks, StackName=stack)["Stacks"]
    except ClientError as error:
        if "does not exist" in error.response.get("Error", {}).get("Message", ""):
            raise NoSuchStack(stack) from error
        raise
    return found
