"""AuthMode=jwt without an issuer: the stack's own Cognito user pool, by the commands of README.md. A stack beside."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest
from local import stack as local_stack
from local.environments import ROOT
from local.stack import Place

# The AWS CLI may not be on this machine; of it the README needs a call of an operation and a query into its answer.
AWS = f"""
    #!{sys.executable}
    import sys
    import boto3, jmespath
    service, operation, *words = sys.argv[1:]
    told = {{name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2], strict=True)}}
    query, shape = told.pop("query"), told.pop("output")
    assert shape == "text"
    client = boto3.client(service)
    named = {{member.lower(): member for member in client.meta.service_model.operation_model(
        "".join(part.title() for part in operation.split("-"))).input_shape.members}}
    given = {{named[name.replace("-", "")]: value for name, value in told.items()}}
    found = jmespath.search(query, getattr(client, operation.replace("-", "_"))(**given))
    print(found[0] if isinstance(found, list) else found)
"""


@pytest.fixture(scope="module")
def pool_stack(addresses: Mapping[str, str], place: Place) -> Mapping[str, str]:
    """A stack with a user pool of its own in the same emulator."""
    parameters = local_stack.AUTH["cognito"](addresses["endpointUrl"])
    return local_stack.beside(place, "herald-pool", parameters)


def test_the_readme_s_commands_lead_from_nothing_to_a_task(pool_stack: Mapping[str, str], tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = [
        text for text in re.findall(r"```sh\n(.*?)```", readme, re.DOTALL) if "describe-user-pool-client" in text
    ]
    block, replaced = re.subn(r"BASE_URL=.*", f"BASE_URL='{pool_stack['baseUrl']}'", block)
    assert replaced == 1
    program = tmp_path / "aws"
    program.write_text(textwrap.dedent(AWS).lstrip(), encoding="utf-8")
    program.chmod(0o700)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "STACK": pool_stack["stackName"],
        "AWS_ENDPOINT_URL": pool_stack["endpointUrl"],
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": pool_stack["region"],
        "no_proxy": "127.0.0.1,localhost",
    }

    done = subprocess.run(
        ["/bin/sh", "-euc", block], env=environment, capture_output=True, text=True, check=True, timeout=90
    )

    assert json.loads(done.stdout)["task"]["status"]["state"] == "TASK_STATE_SUBMITTED"


def test_the_card_says_where_to_get_a_token(pool_stack: Mapping[str, str]) -> None:
    card = httpx.get(pool_stack["cardUrl"], timeout=60, trust_env=False).json()

    assert pool_stack["tokenUrl"] in json.dumps(card["securitySchemes"])
    assert "herald/call" in json.dumps(card["securityRequirements"])


def test_a_secret_that_is_wrong_gets_no_token(pool_stack: Mapping[str, str]) -> None:
    answer = httpx.post(
        pool_stack["tokenUrl"],
        auth=(pool_stack["clientId"], "not the secret"),
        data={"grant_type": "client_credentials"},
        timeout=60,
        trust_env=False,
    )

    assert answer.status_code in {400, 401}
    assert "access_token" not in answer.text
