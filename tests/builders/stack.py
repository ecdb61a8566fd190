"""The stack's own template as data, and its Tasks table made wherever a client points."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TEMPLATE = Path(__file__).parents[2] / "template.yaml"


class _Loader(yaml.SafeLoader):
    """Reads CloudFormation's short forms (``!Ref x``) as ``{"Ref": "x"}``, ``!Sub x`` as ``{"Fn::Sub": "x"}``."""


def _intrinsic(loader: yaml.SafeLoader, tag: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        value = loader.construct_mapping(node, deep=True)
    return {tag if tag in {"Ref", "Condition"} else f"Fn::{tag}": value}


_Loader.add_multi_constructor("!", _intrinsic)


@cache
def template() -> dict[str, Any]:
    """template.yaml, intrinsic functions as single-membered objects."""
    loaded: dict[str, Any] = yaml.load(TEMPLATE.read_text(), Loader=_Loader)  # noqa: S506 - derived from SafeLoader
    return loaded


def create_tasks_table(client: DynamoDBClient, name: str = "tasks") -> str:
    """Make the table as template.yaml's Tasks resource says; its name."""
    properties = template()["Resources"]["Tasks"]["Properties"]
    client.create_table(
        TableName=name,
        BillingMode=properties["BillingMode"],
        AttributeDefinitions=properties["AttributeDefinitions"],
        KeySchema=properties["KeySchema"],
        GlobalSecondaryIndexes=properties["GlobalSecondaryIndexes"],
        StreamSpecification={
            "StreamEnabled": True,
            "StreamViewType": properties["StreamSpecification"]["StreamViewType"],
        },
    )
    return name
