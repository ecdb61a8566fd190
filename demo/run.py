"""The demo's road: send, listen, check, compare, and say so in one line."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from local import process, stack, terminal, token

from demo import folding
from demo.account import Balance, Seen, settle
from demo.client import Client, fetch
from demo.errors import DemoError
from demo.ledger import Ledger
from demo.receiver import Arrival, Receiver
from demo.show import Screen, console
from demo.signatures import Checks, new_secret, read

FILE = Path("examples") / "fjordlight-instruments.csv"
OWNER = "demo"  # the subject of its access token
WORDS = "How did gross margin and cash flow develop?"

FAULTY = b"entity,period,revenue,cost_of_goods_sold,operating_cash_flow\nFjordlight,2024-Q1,20115000,n/a,2390400\n"

SILENCE_SECONDS = 30  # without a notification, before the demo gives up
WHOLE_SECONDS = 120
ENDED = frozenset({"COMPLETED", "FAILED", "CANCELED", "REJECTED"})
WAITS = frozenset({"INPUT_REQUIRED", "AUTH_REQUIRED"})

NAMES = {"application/json": "figures.json", "text/markdown": "report.md", "image/svg+xml": "chart.svg"}


def main(root: Path) -> int:
    """Run the demo; the exit code: 0 when all arrived, in order, genuine, and equal to what GetTask says.

    The local stack is brought up first. If it was down before, it is down again afterwards.
    """
    screen = Screen(console())
    screen.title()
    try:
        place = stack.place_from(dict(os.environ))
        was_up = process.running(place.record) is not None
        try:
            addresses = stack.up(place)
            client = Client(addresses["baseUrl"], token.mint(place.issuer_key, addresses["issuer"], OWNER))
            balance = _show(root, screen, addresses, client, place.folder / "demo")
        finally:
            if not was_up:
                stack.down(place)
    except terminal.LocalError as trouble:
        screen.trouble(str(trouble), getattr(trouble, "way_out", ""))
        return 1
    except KeyboardInterrupt:
        return 130
    screen.last_line(balance)
    return 0


def _show(root: Path, screen: Screen, addresses: Mapping[str, str], client: Client, folder: Path) -> Balance:
    """The road from the message to the last check.

    Raises:
        DemoError: it isn't as it should be.
    """
    card = fetch(addresses["cardUrl"])
    checks = Checks(new_secret(), fetch(addresses["jwksUrl"]))
    _wake(screen, client, checks)
    with Receiver() as receiver:
        screen.opening(card["name"], FILE, receiver.url)
        started = time.time()
        sent = client.send(WORDS, (root / FILE).read_bytes(), FILE.name, receiver.url, checks.secret)
        screen.sent(sent, (time.time() - started) * 1000)
        owner = f"{addresses['issuer']}#{OWNER}"
        ledger = Ledger(addresses["endpointUrl"], addresses["region"], addresses["table"], owner, sent["id"])
        seen: list[Seen] = []
        for one in _listen(receiver.next, checks, time.monotonic):
            again = any(other.message_id == one.message_id for other in seen)
            seen.append(one)
            stored = ledger.stored_at(one.number)
            latency = None if stored is None else one.arrived_at - stored
            screen.notification(one, one.arrived_at - round(started * 1000), latency, again)
        told = client.task(sent["id"])
        seen += [_check(late, checks) for late in iter(lambda: receiver.next(0), None)]
    screen.footnotes()
    balance = settle(seen, ledger.to_send())
    _judge(screen, folder, seen, balance, told)
    return balance


def _wake(screen: Screen, client: Client, checks: Checks) -> None:
    """Call every function once, with a task that isn't counted: first calls start cold, and take seconds."""
    with Receiver() as receiver, terminal.step("Waking the functions (first calls start cold)"):
        task = client.send(WORDS, FAULTY, "faulty.csv", receiver.url, checks.secret)
        for _ in _listen(receiver.next, checks, time.monotonic):
            pass
    screen.woken(_said(client.task(task["id"])))


def _listen(
    arrivals: Callable[[float], Arrival | None], checks: Checks, monotonic: Callable[[], float]
) -> Iterator[Seen]:
    """Notifications as they come, to the one that tells that the task has ended, waits, or went silent."""
    give_up = monotonic() + WHOLE_SECONDS
    while (left := give_up - monotonic()) > 0:
        arrival = arrivals(min(left, SILENCE_SECONDS))
        if arrival is None:
            return
        seen = _check(arrival, checks)
        yield seen
        if seen.state.removeprefix("TASK_STATE_") in ENDED | WAITS:
            return


def _check(arrival: Arrival, checks: Checks) -> Seen:
    headers = {name.lower(): value for name, value in arrival.headers.items()}
    faults = checks.faults(arrival.body, headers)
    return Seen(headers.get("webhook-id", ""), read(arrival.body), faults, arrival.at)


def _judge(screen: Screen, folder: Path, seen: list[Seen], balance: Balance, told: dict[str, Any]) -> None:
    state = told["status"]["state"].removeprefix("TASK_STATE_")
    for artifact in told.get("artifacts", []):
        markdown = "".join(part["text"] for part in artifact["parts"] if part.get("mediaType") == "text/markdown")
        screen.artifact(artifact.get("name", "Artifact"), markdown, save(artifact, folder))
    try:
        differing = list(folding.differences(folding.amount_to(one.event for one in _once(seen)), told))
    except (ValueError, KeyError, TypeError) as error:
        differing = [f"task ({error})"]
    screen.faults(seen)
    screen.checks(_facts(balance, state, differing, told))
    if state not in ENDED | WAITS:
        raise DemoError(f"the task is still {state} after {SILENCE_SECONDS} s without a notification")
    if state != "COMPLETED":
        raise DemoError(f"the task is {state}: {_said(told)}")
    if not balance.good:
        raise DemoError(f"what arrived isn't what was stored ({balance.line})")
    if differing:
        raise DemoError(f"the notifications and GetTask differ at {', '.join(differing[:5])}")


def _facts(balance: Balance, state: str, differing: list[str], told: dict[str, Any]) -> Iterator[tuple[bool, str]]:
    expected = balance.notifications - len(balance.unexpected) + len(balance.missing)
    numbers = {"missing": balance.missing, "out of order": balance.disordered, "not in the log": balance.unexpected}
    wrong = "".join(f"; {what}: {', '.join(map(str, found))}" for what, found in numbers.items() if found)
    repeats = f", {balance.repeats} sent again" if balance.repeats else ""
    yield (
        not wrong,
        f"the log has {expected} notifications to send; {balance.notifications} arrived{repeats}"
        + (wrong or ", in the log's order"),
    )
    yield (
        balance.verified == balance.notifications > 0,
        f"{balance.verified} of {balance.notifications} hold both signatures, over the bytes that arrived",
    )
    artifacts = told.get("artifacts", [])
    parts = sum(len(artifact["parts"]) for artifact in artifacts)
    several = "artifact" if len(artifacts) == 1 else "artifacts"
    amount = f"{state}, {len(artifacts)} {several} of {parts} parts, {len(told.get('history', []))} messages"
    yield (
        not differing,
        f"GetTask and the notifications amount to one task: {amount}"
        if not differing
        else f"GetTask and the notifications differ at {', '.join(differing[:5])}",
    )


def _once(seen: list[Seen]) -> Iterator[Seen]:
    """Each notification once, at its first arrival: what a receiver acts on."""
    known = set()
    for one in seen:
        if one.message_id not in known:
            known.add(one.message_id)
            yield one


def _said(task: dict[str, Any]) -> str:
    parts = task["status"].get("message", {}).get("parts", [])
    return " ".join(part["text"] for part in parts if "text" in part) or "it doesn't say why"


def save(artifact: dict[str, Any], folder: Path) -> list[Path]:
    """Write an artifact's parts as files, those of one media type together; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    contents: dict[str, bytes] = {}
    for part in artifact["parts"]:
        name = NAMES.get(part.get("mediaType", ""))
        if name is not None:
            contents[name] = contents.get(name, b"") + _content(part)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]


def _content(part: dict[str, Any]) -> bytes:
    if "text" in part:
        return str(part["text"]).encode()
    if "raw" in part:
        return base64.b64decode(part["raw"])
    return (json.dumps(part["data"], indent=2, ensure_ascii=False, default=_number) + "\n").encode()


def _number(value: object) -> float:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(type(value).__name__)
