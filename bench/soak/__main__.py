"""``make soak``: many tasks at a fixed rate, receivers that fail, and a settlement of every notification at the end.

MINUTES (15) of sending, RATE (200) tasks a minute, WEBHOOKS (2) and UPDATES (5) of each task; FAIL (10) percent of
first arrivals fail, half as many of repeated ones; DRAIN (20) minutes at most for retries to end; SEED (1) of who
fails when.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from local.environments import ROOT
from local.terminal import LocalError, say

from bench.soak import judge, resources
from bench.soak.ground import Ground, ground, number, place, up
from bench.soak.judge import Fault, Process, Settlement
from bench.soak.load import Shape, Told
from bench.soak.receivers import failing

FOLDER = ".local/soak"
TIMEOUT = 5  # seconds a receiver may take; a late one holds a process of the sender for so long
KEPT = 0.98  # of the rate, to be called kept
SHARES = {"median": 0.5, "p99": 0.99, "most": 1.0}
SHOWN = 12  # faults of one kind that are printed


@dataclass(frozen=True, slots=True)
class Settings:
    """What the run is to be."""

    minutes: float
    rate: float
    webhooks: int
    updates: int
    fail: float  # percent
    drain: float  # minutes
    seed: int

    @property
    def tasks(self) -> int:
        return max(1, round(self.minutes * self.rate))


def settings_from(environment: Mapping[str, str]) -> Settings:
    """The settings that the environment names."""
    made = Settings(
        minutes=number(environment, "MINUTES", 15),
        rate=number(environment, "RATE", 200),
        webhooks=int(number(environment, "WEBHOOKS", 2)),
        updates=int(number(environment, "UPDATES", 5)),
        fail=number(environment, "FAIL", 10),
        drain=number(environment, "DRAIN", 20),
        seed=int(number(environment, "SEED", 1)),
    )
    if not made.rate or not 1 <= made.webhooks <= 10 or made.updates < 3 or made.fail > 50:
        raise SystemExit("RATE is above 0, WEBHOOKS from 1 to 10, UPDATES from 3 on, FAIL at most 50 percent.")
    return made


@dataclass
class Run:
    """What a run gave."""

    told: Told
    settlement: Settlement
    moments: Mapping[str, Sequence[Process]]
    latencies: list[float]
    undisturbed: list[float]  # of webhooks none of whose notifications failed
    attempts: Counter[str]
    sending: float  # seconds
    draining: float  # seconds


async def run(under: Ground, settings: Settings) -> Run:
    """Send, drain, settle."""
    shape = Shape(settings.webhooks, settings.updates, before=0.5, pause=0.2)
    client = under.client("soak", shape)
    moments = {"begin": under.processes()}
    loop = asyncio.get_running_loop()
    began = loop.time()

    async def middle() -> None:
        await asyncio.sleep(settings.minutes * 30)
        moments["middle"] = under.processes()

    looking = asyncio.create_task(middle())
    async with under.telling(client, "sending"):
        await client.run(settings.tasks, settings.rate)
    await looking
    sent = loop.time()
    async with under.telling(client, "draining"):
        await under.drained(settings.drain * 60)
    drained = loop.time()
    moments["end"] = under.processes()
    stored = await under.stored()
    left = await asyncio.to_thread(under.stack.left, stored)
    arrivals = list(under.receivers.arrivals)
    settlement = judge.settle(stored.owed, arrivals, client.told.hooks, left)
    settlement.faults += judge.growth(moments["middle"], moments["end"], resources.EMULATOR)
    settlement.faults += of_client(client.told)
    found = judge.latencies(stored.owed, arrivals)
    failed = {arrival.hook for arrival in arrivals if arrival.answer != judge.OK}
    undisturbed = judge.latencies([webhook for webhook in stored.owed if webhook.hook not in failed], arrivals)
    return Run(client.told, settlement, moments, found, undisturbed, stored.attempts, sent - began, drained - sent)


def of_client(told: Told) -> list[Fault]:
    """What the client couldn't do."""
    found = [Fault("client", line) for line in told.trouble]
    if told.planned - told.late < told.planned * KEPT:
        found.append(Fault("rate not kept", f"{told.late} of {told.planned} sends began more than a second late"))
    return found


def table(settings: Settings, run: Run) -> list[str]:
    """The run for a person."""
    figures, told, seconds = run.settlement.figures, run.told, sorted(run.told.seconds)
    explained = ", ".join(f"{count} after {answer}" for answer, count in sorted(run.settlement.repeats.items()))
    attempts = ", ".join(f"{outcome} {count}" for outcome, count in sorted(run.attempts.items())) or "none"

    def milliseconds(values: Sequence[float]) -> str:
        return ", ".join(f"{name} {judge.quantile(values, share) * 1000:,.0f}" for name, share in SHARES.items())

    rows = [
        ("tasks sent", f"{told.begun:,} in {run.sending:.0f} s, {told.late} of them more than a second late"),
        ("SendMessage, ms", f"{milliseconds(seconds)}; {told.again} repeated, {len(told.trouble)} failed for good"),
        ("webhooks", f"{figures['webhooks']:,}"),
        ("notifications owed", f"{figures['owed']:,}"),
        ("  taken by their receiver", f"{figures['delivered']:,}"),
        ("POSTs that arrived", f"{figures['posts']:,}, {figures['verified']:,} with both signatures"),
        ("  made to fail", f"{figures['refused']:,} ({figures['refused'] / max(1, figures['posts']):.1%})"),
        ("  repeats, explained", f"{figures['repeats']:,}" + (f": {explained}" if explained else "")),
        ("longest row of failures", f"{figures['longest_row_of_failures']} of one webhook"),
        ("failed attempts on record", attempts),
        ("entry to first arrival, ms", milliseconds(run.latencies)),
        ("  webhooks that didn't fail", milliseconds(run.undisturbed)),
        ("drained after", f"{run.draining:.0f} s of {settings.drain * 60:.0f}"),
    ]
    return [f"  {what:<28}{figure}" for what, figure in rows]


def faults(settlement: Settlement) -> list[str]:
    """The faults for a person, a few of each kind."""
    of: dict[str, list[str]] = {}
    for fault in settlement.faults:
        of.setdefault(fault.kind, []).append(fault.what)
    found = []
    for kind, those in sorted(of.items()):
        if len(those) == 1:
            found.append(f"  ✗ {kind}: {those[0]}")
            continue
        found.append(f"  ✗ {kind}, {len(those)} times")
        found += [f"      {what}" for what in those[:SHOWN]]
    return found


def write(file: Path, settings: Settings, run: Run) -> None:
    """The whole result as JSON."""
    result: dict[str, Any] = {
        "verdict": run.settlement.verdict,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "settings": asdict(settings),
        "figures": run.settlement.figures,
        "explainedRepeats": dict(run.settlement.repeats),
        "failedAttempts": dict(run.attempts),
        "faults": [asdict(fault) for fault in run.settlement.faults],
        "client": {
            **{name: getattr(run.told, name) for name in ("planned", "begun", "answered", "late", "again", "trouble")},
            "sendSeconds": {name: judge.quantile(sorted(run.told.seconds), share) for name, share in SHARES.items()},
        },
        "arrivalSeconds": {name: judge.quantile(run.latencies, share) for name, share in SHARES.items()},
        "undisturbedSeconds": {name: judge.quantile(run.undisturbed, share) for name, share in SHARES.items()},
        "sendingSeconds": run.sending,
        "drainingSeconds": run.draining,
        "processes": {moment: [asdict(process) for process in those] for moment, those in run.moments.items()},
    }
    file.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


async def _whole(settings: Settings, found: Any, addresses: Mapping[str, str]) -> Run:
    async with ground(found, addresses, settings.seed, failing(settings.seed, settings.fail / 100), TIMEOUT) as under:
        say(f"  {settings.tasks:,} tasks at {settings.rate:g} a minute; then {settings.drain:g} minutes at most")
        return await run(under, settings)


def main() -> int:
    settings = settings_from(os.environ)
    say(f"Soak: {settings.minutes:g} minutes, {settings.webhooks} webhooks and {settings.updates} updates a task")
    try:
        with place(FOLDER) as found:
            addresses = up(found, {"WebhookTimeout": str(TIMEOUT)})
            run = asyncio.run(_whole(settings, found, addresses))
            file = found.folder / "result.json"
            write(file, settings, run)
    except LocalError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print()
    print("\n".join([*table(settings, run), "", *resources.table(run.moments)]))
    print("\n".join(["", *faults(run.settlement)]))
    print(f"soak: {run.settlement.verdict}, all of it in {file.relative_to(ROOT)}")
    return 1 if run.settlement.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
