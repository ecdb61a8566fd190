"""`make logs`: what the functions of the local stack have logged, one readable line each.

In a terminal it goes on with what comes; through a pipe it ends with what is there.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from local import process
from local.stack import place_from
from local.terminal import LocalError, say

CREDENTIALS = ("test", "test")  # key and secret that the emulator takes
PAUSE = 1.0  # seconds between two looks
NOISE = re.compile(r"^(START|END|REPORT|INIT_START) ")
# What Lambda or Powertools adds to each line and nobody reads here.
KNOWN = {
    "timestamp", "level", "message", "location", "service", "requestId", "logger", "cold_start", "function_name",
    "function_arn", "function_memory_size", "function_request_id", "xray_trace_id", "exception", "exception_name",
    "stack_trace", "taskName",
}  # fmt: skip


def main() -> int:
    try:
        for line in _lines(_stack(), follow=sys.stdout.isatty()):
            say(line)
    except LocalError as error:
        print(error, file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError):
        print("The local stack was stopped or is being deployed. Start it: make up", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    return 0


def _stack() -> dict[str, str]:
    place = place_from(dict(os.environ))
    if not place.answer.exists() or process.running(place.record) is None:
        raise LocalError("No local stack is up. Start it: make up")
    answer: dict[str, str] = json.loads(place.answer.read_text(encoding="utf-8"))
    return answer


def _lines(stack: dict[str, str], *, follow: bool) -> Iterator[str]:
    session = boto3.session.Session(*CREDENTIALS, region_name=stack["region"])
    logs = session.client("logs", endpoint_url=stack["endpointUrl"])
    groups = _groups(session.client("cloudformation", endpoint_url=stack["endpointUrl"]), stack["stackName"])
    seen: set[object] = set()
    while True:
        pages = logs.get_paginator("filter_log_events").paginate
        events = [
            (event["timestamp"], name, event)
            for name, group in groups.items()
            for page in pages(logGroupName=group)
            for event in page["events"]
        ]
        fresh = [row for row in events if _identity(row[2]) not in seen]
        seen.update(_identity(event) for _, _, event in fresh)
        for at, name, event in sorted(fresh, key=lambda row: row[0]):
            if line := readable(at, name, event["message"]):
                yield line
        if not follow:
            return
        time.sleep(PAUSE)


def _identity(event: dict[str, Any]) -> object:
    """What tells an event from every other; the emulator gives it no id."""
    return event.get("logStreamName"), event["timestamp"], event.get("ingestionTime"), event["message"]


def _groups(cloudformation: Any, stack: str) -> dict[str, str]:
    """What each log group belongs to, "run_agent" for RunAgentLog, and the group."""
    rows = cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
    return {
        re.sub(r"(?<!^)([A-Z])", r"_\1", row["LogicalResourceId"].removesuffix("Log")).lower(): row[
            "PhysicalResourceId"
        ]
        for row in rows
        if row["ResourceType"] == "AWS::Logs::LogGroup"
    }


def readable(at: int, name: str, message: str) -> str | None:
    """A log event as one line (a traceback as more); None for what only Lambda itself cares for.

    ``at`` is in milliseconds since 1970.
    """
    text = message.rstrip()
    if not text or NOISE.match(text):
        return None
    level, rest = "", ""
    try:
        record = json.loads(text)
    except ValueError:
        record = None
    if isinstance(record, dict):
        if "_aws" in record or str(record.get("type", "")).startswith("platform."):
            return None  # metrics; the platform's own records
        level, text = str(record.get("level", "")), str(record.get("message", text))
        rest = "".join(f"  {key}={value}" for key, value in record.items() if key not in KNOWN)
        if trace := record.get("exception"):
            rest += f"\n{trace}"
    clock = datetime.fromtimestamp(at / 1000, UTC).strftime("%H:%M:%S.%f")[:-3]
    return f"{clock}  {name:14} {_harmless(f'{level:7} {text}{rest}')}"


def _harmless(text: str) -> str:
    """A text that may hold a client's words: no terminal obeys anything in it, and nothing begins like another line."""
    lines = text.expandtabs().split("\n")
    return "\n    ".join(
        "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in line)
        for line in lines
    )


if __name__ == "__main__":
    raise SystemExit(main())
