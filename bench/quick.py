"""``make bench-quick``: what a call, an import, a notification and a task cost, in about a minute.

CPU is this process's own (``time.process_time``): AWS is answered by a stub in another process. Runs are taken in turn,
ours and the other one's, and each figure is the median of its rounds, so that a slow moment of the machine meets both.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, TextIO
from unittest import mock

import boto3
from botocore import client as botocore_client

from bench import PACKAGES, ROOT, task_cost
from bench.sender import per_core, world
from bench.stub import stub
from builders.events import rest_event
from builders.records import TASK_ID, a_ref
from fakes.clock import START
from herald.adapters.dynamodb import items, keys
from herald.protocol.states import TaskState
from herald.records import Entry, Kind

FUNCTIONS = ("api", "authorize", "publish_keys", "start_worker", "run_agent", "ring_webhooks", "send_webhooks", "sweep")
ARN = "arn:aws:states:eu-central-1:123456789012:stateMachine:worker"
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:bench"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_REGION": "eu-central-1",
    "HERALD_TABLE": "tasks",
    "HERALD_BUCKET": "bodies",
    "HERALD_QUEUE_URL": "http://127.0.0.1/123456789012/doorbells.fifo",
    "HERALD_STATE_MACHINE_ARN": ARN,
    "HERALD_SEALING_SECRET": SECRET,
    "HERALD_SIGNING_SECRET": SECRET,
    "HERALD_AUTH_MODE": "none",
    "HERALD_OIDC_ISSUER": "https://issuer.example.com",
    "HERALD_IDEMPOTENT_SEND": "message",
    "HERALD_WEBHOOK_ALLOW": "127.0.0.1:*",
}

Call = Callable[[], Any]


def app(function: str, lines: TextIO) -> Any:
    """A function's app module, as Lambda loads it. Its log lines are written, too: they are paid for."""
    spec = importlib.util.spec_from_file_location(f"bench_{function}", ROOT / "functions" / function / "app.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"functions/{function}/app.py is missing")
    module = importlib.util.module_from_spec(spec)
    with redirect_stdout(lines):
        spec.loader.exec_module(module)
    return module


def cpu_ms(calls: Sequence[Call], rounds: int = 9, per_round: int = 60) -> list[float]:
    """CPU milliseconds per call: for each of ``calls`` the median over the rounds, the calls taken in turn."""
    for call in calls:
        for _ in range(30):
            call()
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for figures, call in zip(taken, calls, strict=True):
            begun = time.process_time()
            for _ in range(per_round):
                call()
            figures.append((time.process_time() - begun) / per_round * 1000)
    return [statistics.median(figures) for figures in taken]


def row(what: str, figure: str, mark: str = "") -> None:
    print(f"  {what:<46}{figure:>16}  {mark}")


def log_items(count: int) -> list[dict[str, Any]]:
    """The LOG items of a task with a message, a run, artifact chunks of 500 characters, and a final status."""
    ref = a_ref("mfrggzdfmztwq2lknnwg23tpoa", tenant="", owner="anonymous")
    ids = {"taskId": ref.task_id, "contextId": "c"}
    message = {**ids, "messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}

    def body(number: int) -> tuple[Kind, dict[str, Any]]:
        if number == 0:
            return "message", {"message": message}
        if number == 1:
            return "run", {}
        if number == count - 1:
            return "status", {"statusUpdate": {**ids, "status": {"state": "TASK_STATE_COMPLETED"}}}
        artifact = {"artifactId": f"a{number}", "parts": [{"text": "x" * 500}]}
        return "artifact", {"artifactUpdate": {**ids, "artifact": artifact}}

    found = []
    for number in range(count):
        kind, content = body(number)
        state = TaskState.COMPLETED if kind == "status" else None
        entry = Entry(number, kind, json.dumps(content), START + number, f"w{number}", 0, 1, state)
        found.append(items.entry_item(keys.pk(ref), entry, 4_000_000_000))
    return found


def api_calls(url: str, entries: list[dict[str, Any]], lines: TextIO) -> None:
    """SendMessage and GetTask through the function's handler, a bare boto3 call of the same bytes, and a2a-sdk."""
    handler = app("api", lines).handler
    # Lambda makes the events, so they aren't made while the time is taken.
    sends = [rest_event(body=send_request(number), user="") for number in range(1_000)]
    asked = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": TASK_ID}}
    gets = [rest_event(body=asked, user="") for _ in sends]

    def send() -> Any:
        return handler(sends.pop(), None)

    def get() -> Any:
        return handler(gets.pop(), None)

    client = boto3.client("dynamodb", endpoint_url=url)
    written = captured_create(send)

    def bare_transact() -> Any:
        return client.transact_write_items(TransactItems=written)

    def bare_query() -> Any:
        return client.query(
            TableName="tasks",
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :from AND :to",
            ExpressionAttributeValues={":pk": {"S": "p"}, ":from": {"S": "LOG#0"}, ":to": {"S": "LOG#~"}},
        )

    for name, answer in (("SendMessage", send()), ("GetTask", get())):
        if answer["statusCode"] != 200 or "error" in json.loads(answer["body"]):
            raise SystemExit(f"{name} failed: {answer}")
    sent, bare_sent, got, bare_got = cpu_ms([send, bare_transact, get, bare_query])
    sdk_sent, sdk_got = sdk()
    print("\nCPU per call, ms (AWS answered by a local stub)")
    row("SendMessage, returnImmediately", f"{sent:.2f}", f"{sent / bare_sent:.2f} x bare (mark 1.5)")
    row("  bare TransactWriteItems, the same items", f"{bare_sent:.2f}")
    row("  a2a-sdk's server, task in memory", f"{sdk_sent:.2f}")
    row(f"GetTask of {len(entries)} entries", f"{got:.2f}", f"{got / bare_got:.2f} x bare (mark 1.5)")
    row("  bare Query of the same bytes", f"{bare_got:.2f}")
    row("  a2a-sdk's server, task in memory", f"{sdk_got:.2f}")


def send_request(number: int) -> dict[str, Any]:
    """A SendMessage of its own over JSON-RPC."""
    message = {"messageId": f"m{number}", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    params = {"message": message, "configuration": {"returnImmediately": True}}
    return {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}


def captured_create(send: Call) -> list[Any]:
    """The items of the transaction that SendMessage really makes, for the bare call to write the same."""
    client: Any = botocore_client.BaseClient
    captured: list[Any] = []
    plain = client._make_api_call

    def watch(self: Any, operation: str, parameters: Any) -> Any:
        if operation == "TransactWriteItems":
            captured[:] = parameters["TransactItems"]
        return plain(self, operation, parameters)

    with mock.patch.object(client, "_make_api_call", watch):
        send()
    return captured


def sdk() -> tuple[float, float]:
    """The same calls on a2a-sdk, in a process of its own: its background tasks and its log lines stay there."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "bench.sdk"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    return figures["send"], figures["get"]


def fresh(function: str, *, byte_code: bool) -> dict[str, float]:
    environment = {"PATH": os.environ["PATH"], **ENVIRONMENT, "PYTHONPATH": os.pathsep.join(PACKAGES)}
    with tempfile.TemporaryDirectory() as empty:
        if not byte_code:
            environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": empty}
        done = subprocess.run(
            [sys.executable, str(ROOT / "bench" / "fresh.py"), str(ROOT / "functions" / function)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"functions/{function} can't be imported:\n{done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def imports() -> None:
    print("\nImport in a fresh interpreter, ms, and resident memory after it, MB")
    print(f"  {'':<20}{'byte code':>12}{'without':>12}{'memory':>12}")
    for function in FUNCTIONS:
        fresh(function, byte_code=True)
        warm = [fresh(function, byte_code=True) for _ in range(5)]
        cold = fresh(function, byte_code=False)
        mark = 500 if function == "api" else 400
        took = statistics.median(run["ms"] for run in warm)
        memory = max(run["mb"] for run in warm)
        print(f"  {function:<20}{took:>12.0f}{cold['ms']:>12.0f}{memory:>12.0f}  (marks {mark} ms, 150 MB)")


def notifications(lines: TextIO) -> None:
    with world() as url:
        os.environ["AWS_ENDPOINT_URL"] = url
        figure = per_core(app("send_webhooks", lines).handler)
    print("\nsend_webhooks, a doorbell each, over real connections without TLS to a receiver on loopback")
    row("notifications per second and core", f"{figure:.0f}")


def costs() -> None:
    print("\nOne task with 4 updates and one webhook: the real calls, and what Lambda's poller asks of SQS")
    for what, figure in task_cost.table():
        print(f"  {what:<34}{figure}")


def main() -> None:
    entries = log_items(20)
    with Path(os.devnull).open("w", encoding="utf-8") as lines:
        with stub({"Query": {"Items": entries, "Count": len(entries)}}) as url:
            os.environ.update(ENVIRONMENT, AWS_ENDPOINT_URL=url)
            api_calls(url, entries, lines)
        notifications(lines)
        os.environ.pop("AWS_ENDPOINT_URL")
        costs()
    imports()


if __name__ == "__main__":
    main()
