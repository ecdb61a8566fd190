"""``make soak-dead``: what dead receivers cost the others; a run without any, and one with 50 among 1,000 webhooks.

Half of them refuse connections, half take the request and never answer. TASKS (100) of WEBHOOKS (10) at RATE (30) tasks
a minute; one webhook in EVERY (20) is dead. What is told is the time from storing an entry to its arrival at the
healthy ones. The sender's bounds are those of a deployment: 15 s for an answer, 100 webhooks at the same time.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from local.environments import ROOT
from local.terminal import LocalError, say

from bench.soak import judge
from bench.soak.__main__ import SHARES, faults, of_client
from bench.soak.ground import Ground, ground, number, place, up
from bench.soak.judge import OK, Fault, Settlement
from bench.soak.load import Shape
from bench.soak.receivers import refusing

FOLDER = ".local/soak-dead"
TIMEOUT = 15  # seconds, the template's own
CONCURRENCY = 100  # the template's own
IDLE = {"LAMBDA_WARM_TTL_SECONDS": "3600"}  # none of the emulator's processes ends between the runs
WITHOUT, WITH = "without", "with"  # names of the two runs
WARM, WARMING = "warm", 10  # name and tasks of the one before them
SETTLED_WITHIN = 300.0  # seconds for the healthy ones to have everything, after the last send
DELAYED = 1.0  # seconds by which the p99 must not grow, unless it is less than double


@dataclass(frozen=True, slots=True)
class Settings:
    """What the two runs are to be."""

    tasks: int
    webhooks: int
    rate: float
    every: int
    seed: int


@dataclass
class Run:
    """What one of them gave."""

    settlement: Settlement
    latencies: list[float]  # at healthy webhooks
    beside: list[float]  # at those healthy webhooks whose task has a dead one, too
    dead: dict[str, int]  # state of the dead webhooks -> how many


def settings_from(environment: Mapping[str, str]) -> Settings:
    """The settings that the environment names."""
    made = Settings(
        tasks=int(number(environment, "TASKS", 100)),
        webhooks=int(number(environment, "WEBHOOKS", 10)),
        rate=number(environment, "RATE", 30),
        every=int(number(environment, "EVERY", 20)),
        seed=int(number(environment, "SEED", 1)),
    )
    if not made.tasks or not made.rate or not 1 <= made.webhooks <= 10 or made.every < 2:
        raise SystemExit("TASKS and RATE are above 0, WEBHOOKS from 1 to 10, EVERY from 2 on.")
    return made


def fate(settings: Settings, hook: str) -> str:
    """``refuses``, ``hangs`` or OK: what the receiver of this webhook does, from the first notification on."""
    run, task, webhook = hook.strip("/").split("/")
    place = int(task) * settings.webhooks + int(webhook)
    if run != WITH or place % settings.every != settings.seed % settings.every:
        return OK
    return "hangs" if (place // settings.every) % 2 else "refuses"


async def run(under: Ground, settings: Settings, name: str, url: Callable[[str], str]) -> Run:
    """One of the two runs, until the healthy webhooks have everything."""
    client = under.client(name, Shape(settings.webhooks, updates=5, before=1.0, pause=0.2), url)
    async with under.telling(client, f"{name:<7}"):
        await client.run(settings.tasks, settings.rate)
        result = await _settled(under, settings, name, client.told.hooks)
    result.settlement.faults += of_client(client.told)
    return result


async def _settled(under: Ground, settings: Settings, name: str, hooks: Sequence[str]) -> Run:
    """Look until nothing is missing at the healthy webhooks, or the time is over."""
    loop = asyncio.get_running_loop()
    give_up = loop.time() + SETTLED_WITHIN
    while True:
        await asyncio.sleep(5)
        stored = await under.stored()
        here = [webhook for webhook in stored.owed if webhook.hook.startswith(f"/{name}/")]
        healthy = [webhook for webhook in here if fate(settings, webhook.hook) == OK]
        at = {webhook.hook for webhook in healthy}
        arrivals = [arrival for arrival in under.receivers.arrivals if arrival.hook in at]
        left = replace(await asyncio.to_thread(under.stack.left, stored), doorbells=0)  # the dead ones have theirs
        settlement = judge.settle(healthy, arrivals, [hook for hook in hooks if fate(settings, hook) == OK], left)
        if not settlement.faults or loop.time() > give_up:
            break
    dead = [webhook for webhook in here if webhook.hook not in at]
    sick = {webhook.hook.rpartition("/")[0] for webhook in dead}
    return Run(
        settlement,
        judge.latencies(healthy, arrivals),
        judge.latencies([webhook for webhook in healthy if webhook.hook.rpartition("/")[0] in sick], arrivals),
        {
            state: sum(webhook.state == state for webhook in dead)
            for state in sorted({webhook.state for webhook in dead})
        },
    )


def compared(without: Sequence[float], with_dead: Sequence[float]) -> list[Fault]:
    """Whether the dead ones held the others up. A webhook that waits for a hanging one waits for seconds."""
    before, after = judge.quantile(without, 0.99), judge.quantile(with_dead, 0.99)
    if after > before + DELAYED and after > 2 * before:
        return [Fault("delayed", f"p99 at healthy webhooks {after:.2f} s, and {before:.2f} s without dead ones")]
    return []


def line(name: str, latencies: Sequence[float]) -> str:
    """Figures of one population."""
    shown = "".join(f"{judge.quantile(latencies, share) * 1000:>10,.0f}" for share in SHARES.values())
    return f"  {name:<52}{len(latencies):>8,}{shown}"


async def _both(settings: Settings, found: Any, addresses: Mapping[str, str]) -> dict[str, Run]:
    def choose(hook: str, number: int, before: int) -> str:
        if hook.startswith(f"/{WARM}/"):  # each holds a sender, so that as many are there as the last run needs
            return "late" if (number, before) == (0, 0) else OK
        return "late" if fate(settings, hook) == "hangs" else OK

    with refusing() as nobody:
        refused = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        async with ground(found, addresses, settings.seed, choose, TIMEOUT) as under:

            def url(hook: str) -> str:
                return refused + hook if fate(settings, hook) == "refuses" else under.url(hook)

            # The first run would pay for every cold start, and the second for none, or the other way round: on AWS a
            # process that starts takes nobody's processor.
            await run(under, replace(settings, tasks=min(WARMING, settings.tasks)), WARM, url)
            return {name: await run(under, settings, name, url) for name in (WITHOUT, WITH)}


def main() -> int:
    settings = settings_from(os.environ)
    count = settings.tasks * settings.webhooks
    say(
        f"{count:,} webhooks of {settings.tasks} tasks, twice: first all are well, then one in {settings.every} is dead"
    )
    try:
        with place(FOLDER) as found:
            parameters = {"WebhookTimeout": str(TIMEOUT), "DeliveryConcurrency": str(CONCURRENCY)}
            runs = asyncio.run(_both(settings, found, up(found, parameters, IDLE)))
            verdict = [fault for run in runs.values() for fault in run.settlement.faults]
            verdict += compared(runs[WITHOUT].latencies, runs[WITH].latencies)
            file = found.folder / "result.json"
            file.write_text(json.dumps(_result(settings, runs, verdict), indent=2) + "\n", encoding="utf-8")
    except LocalError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(
        f"\n  {'entry to arrival at healthy webhooks, ms':<52}{'count':>8}" + "".join(f"{name:>10}" for name in SHARES)
    )
    print(line("no dead webhook", runs[WITHOUT].latencies))
    print(line(f"{sum(runs[WITH].dead.values())} dead of {count:,}", runs[WITH].latencies))
    print(line("  those of tasks that have a dead one", runs[WITH].beside))
    print(f"  the dead ones in the end: {runs[WITH].dead}\n")
    print("\n".join(faults(Settlement(faults=verdict))))
    print(f"soak-dead: {'failed' if verdict else 'passed'}, all of it in {file.relative_to(ROOT)}")
    return 1 if verdict else 0


def _result(settings: Settings, runs: Mapping[str, Run], verdict: Sequence[Fault]) -> dict[str, Any]:
    def shares(values: Sequence[float]) -> dict[str, float]:
        return {"count": len(values), **{name: judge.quantile(values, share) for name, share in SHARES.items()}}

    return {
        "verdict": "failed" if verdict else "passed",
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "settings": asdict(settings),
        "faults": [asdict(fault) for fault in verdict],
        **{
            name: {
                "figures": run.settlement.figures,
                "arrivalSeconds": shares(run.latencies),
                "besideADeadOneSeconds": shares(run.beside),
                "dead": run.dead,
            }
            for name, run in runs.items()
        },
    }


if __name__ == "__main__":
    raise SystemExit(main())
