"""What the deployed functions find in their environment, in the form that `sam local invoke --env-vars` reads.

Runs in the emulator's environment, which has boto3: `python -m local.variables <endpoint> <region> <stack>`.
"""

from __future__ import annotations

import json
import sys

import boto3


def main(endpoint: str, region: str, stack: str) -> None:
    session = boto3.session.Session("test", "test", region_name=region)
    rows = session.client("cloudformation", endpoint_url=endpoint).describe_stack_resources(StackName=stack)
    functions = session.client("lambda", endpoint_url=endpoint)
    found = {
        row["LogicalResourceId"]: functions.get_function_configuration(FunctionName=row["PhysicalResourceId"])
        for row in rows["StackResources"]
        if row["ResourceType"] == "AWS::Lambda::Function"
    }
    print(json.dumps({name: function["Environment"]["Variables"] for name, function in found.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
