"""Rules of the whole template: how it reads, how it is named, that it deploys in any partition, that it is watched."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Select = Callable[[str], dict[str, Any]]

CHAPTERS = [
    "parameters", "conditions", "rules", "globals", "data", "layers", "callers", "API", "workers", "delivery",
    "watching", "outputs",
]  # fmt: skip

# Properties that fix the name of what CloudFormation would name itself.
NAMES = {
    "AlarmName", "BucketName", "FunctionName", "LogGroupName", "ManagedPolicyName", "QueueName", "RoleName",
    "StateMachineName", "TableName", "TopicName",
}  # fmt: skip
NAMED = {"TaskWorker"}  # its name breaks a circle and ends in the stack's id; see test_workers.py


def test_the_template_reads_like_a_chapter(text: str) -> None:
    assert re.findall(r"^\s*# -{20,} (\w+) ----$", text, flags=re.MULTILINE) == CHAPTERS


def test_a_line_of_why_stands_above_each_resource(text: str, template: dict[str, Any]) -> None:
    lines = text.splitlines()
    resources = lines[lines.index("Resources:") :]
    bare = [
        line.strip(" :")
        for before, line in pairwise(resources)
        if re.fullmatch(r"  \w+:", line) and line.strip(" :") in template["Resources"]
        if not before.startswith("  #")
    ]
    assert bare == []


def test_every_parameter_says_what_it_is_and_has_a_default(template: dict[str, Any]) -> None:
    for name, parameter in template["Parameters"].items():
        assert parameter["Description"].endswith("."), name
        assert "Default" in parameter, name


def test_cloudformation_names_everything(resources: dict[str, Any]) -> None:
    named = {
        name
        for name, row in resources.items()
        if row["Type"] != "AWS::Lambda::Permission"  # there, FunctionName says whose it is
        and row["Type"] != "AWS::Lambda::EventSourceMapping"
        and NAMES & set(row.get("Properties", {}))
    }
    assert named == NAMED


def test_arns_and_addresses_hold_in_every_partition(text: str) -> None:
    assert "arn:aws" not in text
    hosts = set(re.findall(r"[\w.-]*amazonaws\.com\S*", text))
    assert hosts == {"apigateway.amazonaws.com", "lambda.amazonaws.com},", "states.amazonaws.com},"}


def test_an_alarm_topic_exists_only_with_an_address(resources: dict[str, Any]) -> None:
    assert resources["AlarmTopic"]["Condition"] == "HasAlarmEmail"
    assert resources["AlarmTopic"]["Properties"]["Subscription"] == [
        {"Protocol": "email", "Endpoint": {"Ref": "AlarmEmail"}}
    ]


def test_samconfig_has_a_section_for_each_place() -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    assert {"default", "local", "prod"} <= set(config)
    assert "local_invoke" in config["local"]
    assert "AuthMode=jwt" in config["prod"]["deploy"]["parameters"]["parameter_overrides"]
    for place in ("default", "local", "prod"):
        deploy = config[place]["deploy"]["parameters"]
        assert deploy["capabilities"] == ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
        assert deploy["resolve_s3"] is True
