"""One task and everybody who writes to it, as a hypothesis state machine: what may happen, in any order and nested.

Scripts of the agent hold steps of others, so that a run may be overtaken in its middle and go on as a zombie. Faults
and steps of others are planted before and after single calls of the table, so that a writer may be overtaken between
its read and its write. Test modules add what must hold at every step.
"""

from __future__ import annotations

import contextlib
from typing import Any, cast

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from builders.events import LambdaContext, stream_of
from builders.turns import TURN_SECONDS, Bench, result_of
from herald.agent import Agent, Checkpoint, TaskContext, checkpoint
from herald.entrypoints.start_worker import handler_for
from herald.operations.call import Call
from herald.operations.cancel_task import CancelTask
from herald.operations.follow_up import FollowUps
from herald.operations.identity import identify
from herald.ports import Unavailable
from herald.protocol import codec
from herald.protocol.errors import A2AError
from herald.protocol.requests import CancelTaskRequest
from herald.records import Caller, TaskRef
from herald.upkeep.turns import Turns
from herald.worker.reports import RunReports
from herald.worker.turns import Outcome

TASK_ID = "mfrggzdfmztwq2lknnwg23tpoa"
MAX_ATTEMPTS = 3
SMALL = 30  # entries: enough for every interleaving, and the log stays readable

SENDS = ("message", "message", "follow-up", "same message")
OTHERS = ("cancel", "execution stopped", "deadline", "a minute later", "stream", *SENDS)
# What ends a task is drawn less often, for nothing happens after it.
other_names = st.sampled_from(SENDS * 3 + ("stream", "a minute later") * 2 + OTHERS)
reports = st.sampled_from(
    ("working", "artifact", "append", "append", "ask", "ask", "ask", "canceled?", "complete", "complete", "fail")
    + ("new messages",) * 3
)
ends = st.sampled_from(("crash", "crash", "checkpoint", "checkpoint", "raise", "return"))

FAULTS = ("lost", "before", "after")  # what becomes of a call's answer; the last two raise

Step = tuple[str, Any]
Script = list[Step]

report_steps: st.SearchStrategy[Step] = reports.map(lambda name: ("report", name))
other_steps: st.SearchStrategy[Step] = other_names.map(lambda name: ("other", name))
lost_steps: st.SearchStrategy[Step] = st.sampled_from(("commit", "put")).map(lambda call: ("lose", call))


def scripts_of(steps: st.SearchStrategy[Step], max_size: int) -> st.SearchStrategy[Script]:
    return st.builds(
        lambda middle, end: [*middle, ("end", end)],
        st.lists(steps, max_size=max_size),
        ends,
    )


plain_scripts = scripts_of(report_steps | other_steps, 3)
run_steps: st.SearchStrategy[Step] = plain_scripts.map(lambda script: ("run", script))
slip_steps: st.SearchStrategy[Step] = st.tuples(
    st.sampled_from(("commit", "put", "read", "header")), other_names | plain_scripts, st.booleans()
).map(lambda planted: ("slip in", planted))
# "And meanwhile another call runs the turn": the outer run is a zombie then.
scripts = scripts_of(report_steps | other_steps | report_steps | lost_steps | slip_steps | run_steps, 6)


class Scripted(Agent):
    """Runs the script that lies on top; what it does beyond its task's end is part of the test."""

    def __init__(self, machine: TurnMachine) -> None:
        self.machine = machine
        self.script: Script = [("report", "complete")]

    def run(self, task: TaskContext) -> Checkpoint | None:
        for kind, what in self.script:
            if kind == "report":
                self._report(task, what)
            elif kind == "other":
                self.machine.act(what)
            elif kind == "run":
                self.machine.call(what)
            elif kind == "lose":
                self.machine.bench.log.lose_answer_next(what)
            elif kind == "slip in":
                self.machine.slip_in(*what)
            elif what == "raise":
                raise ValueError("the agent's own failure")
            elif what == "crash":
                raise SystemExit(1)
            elif what == "checkpoint":
                return checkpoint(1)
        return None

    def _report(self, task: TaskContext, report: str) -> None:
        if report == "artifact":
            task.artifact("new", artifact_id="a")
        elif report == "append":
            known = {artifact.artifact_id for artifact in task.artifacts}
            task.artifact("more", artifact_id="a", append="a" in known)
        elif report == "ask":
            task.require_input("?")
        elif report == "canceled?":
            task.canceled()
        elif report == "new messages":
            run = cast("RunReports", task._reports)._run.number
            for said in task.new_messages():
                self.machine.handed_out.setdefault(run, []).append(said.message.message_id)
        elif report == "fail":
            task.fail("no")
        else:
            getattr(task, report)()


class TurnMachine(RuleBasedStateMachine):
    """The rules. ``attempts`` counts the failed calls of an execution in a row, as Step Functions does."""

    def __init__(self) -> None:
        super().__init__()
        self.agent = Scripted(self)
        self.bench = Bench(self.agent, ref=TaskRef("tenant", "alice", TASK_ID))
        self.turns = Turns(self.bench.log, self.bench.launcher, self.bench.clock, self.bench.ids, TURN_SECONDS)
        self.start_worker = handler_for(self.bench.launcher)
        self.call_of = Call(Caller("tenant", "alice"))
        self.cancel = CancelTask(self.bench.log, self.bench.launcher, self.bench.clock, self.bench.ids)
        self.follow_ups = FollowUps(self.bench.log, self.bench.clock, self.bench.ids)
        self.attempts: dict[int, int] = {}
        self.sent = 0
        self.answered: list[str] = []  # messageIds of messages that were answered with the task
        self.handed_out: dict[int, list[str]] = {}  # what each run was given as new, by messageId, in order
        self.depth = 0
        self.seen = 0
        self.bench.send()

    # ---- what others do ------------------------------------------------------------------------------------------

    def act(self, name: str) -> None:
        """One step of somebody else. Its own errors are its own business."""
        if self.depth > 3:
            return
        self.depth += 1
        try:
            with contextlib.suppress(A2AError, Unavailable):
                self._act(name)
        finally:
            self.depth -= 1

    def _act(self, name: str) -> None:
        bench = self.bench
        if name == "cancel":
            result_of(self.cancel(self.call_of, CancelTaskRequest.parse({"id": TASK_ID})))
        elif name == "execution stopped":
            self.turns.stopped(bench.ref, bench.header.turn)
        elif name == "deadline":
            bench.clock.advance(TURN_SECONDS)
            self.turns.look_after(bench.ref)
        elif name == "a minute later":
            bench.clock.advance(60)
            self.turns.look_after(bench.ref)
        elif name == "stream":
            self.read_stream(self.seen)
        elif name == "same message":
            if self.sent:
                self._send(f"f{self.sent}")
        else:
            if name == "follow-up":
                self._let_it_ask()
            self.sent += 1
            self._send(f"f{self.sent}")

    def _let_it_ask(self) -> None:
        """Left to chance, a task would seldom wait for a message when one comes."""
        if not (self.bench.header.terminal or self.bench.header.interrupted):
            self.call([("report", "ask"), ("end", "return")])

    def _send(self, message_id: str) -> None:
        message = {
            "messageId": message_id,
            "taskId": TASK_ID,
            "role": "ROLE_USER",
            "parts": [{"text": "go on"}],
        }
        identity = identify(self.call_of.caller, message, "", "message", self.bench.ids)
        self.follow_ups.take(self.call_of, message, identity, lambda stored: codec.dumps({"message": stored}))
        self.answered.append(message_id)

    def read_stream(self, since: int) -> None:
        """The stream from a position on, as Lambda hands it to start_worker."""
        changes = self.bench.world.changes(since)
        event, context = stream_of(changes), cast("Any", LambdaContext())
        if not self.start_worker(event, context)["batchItemFailures"] and changes:
            self.seen = max(self.seen, changes[-1].position + 1)

    def call(self, script: Script, turn: int | None = None) -> None:
        """One call of run_agent by Step Functions, with what follows from it."""
        if self.depth > 3 or len(self.bench.entries) > SMALL:
            return
        turn = self.bench.header.turn if turn is None else turn
        before, self.agent.script = self.agent.script, script
        self.depth += 1
        try:
            if self.bench.run(turn) is not Outcome.AGAIN:
                self.attempts.pop(turn, None)
        except (Unavailable, SystemExit):
            self.attempts[turn] = self.attempts.get(turn, 0) + 1
            if self.attempts[turn] >= MAX_ATTEMPTS:
                with contextlib.suppress(Unavailable):
                    self.turns.stopped(self.bench.ref, turn)
        finally:
            self.depth -= 1
            self.agent.script = before

    def slip_in(self, call: str, what: str | Script, after: bool) -> None:
        """Let somebody else act right before or after the next call of one kind."""
        plant = self.bench.log.after_next if after else self.bench.log.before_next
        plant(call, lambda: self.act(what) if isinstance(what, str) else self.call(what))

    # ---- rules ---------------------------------------------------------------------------------------------------

    @initialize(script=scripts)
    def the_first_run(self, script: Script) -> None:
        self.call(script)

    @rule(script=scripts)
    def run_a_turn(self, script: Script) -> None:
        self.call(script)

    @rule(script=scripts, back=st.integers(0, 3))
    def run_an_older_turn(self, script: Script, back: int) -> None:
        opened = [entry.turn for entry in self.bench.entries if entry.opens_turn]
        self.call(script, opened[-1 - min(back, len(opened) - 1)])

    @rule(name=other_names)
    def others_act(self, name: str) -> None:
        self.act(name)

    @rule(since=st.integers(0, 20))
    def the_stream_is_read_again(self, since: int) -> None:
        self.read_stream(min(since, self.seen))

    @rule(step=slip_steps)
    def others_slip_in(self, step: Step) -> None:
        self.slip_in(*step[1])

    @rule(call=st.sampled_from(("commit", "put", "read", "header", "defer")), how=st.sampled_from(FAULTS))
    def the_table_fails(self, call: str, how: str) -> None:
        if how != "lost":
            self.bench.log.fail_next(call, Unavailable("throttled"), after_effect=how == "after")
        elif call not in ("read", "header"):
            self.bench.log.lose_answer_next(call)

    @rule(back=st.integers(0, 3), pages=st.integers(1, 3))
    def a_reader_is_served_a_gap(self, back: int, pages: int) -> None:
        self.bench.log.hide_next(self.bench.ref, max(1, self.bench.entries[-1].number - back), pages)

    @rule(how=st.sampled_from(FAULTS[1:]))
    def step_functions_throttles(self, how: str) -> None:
        self.bench.launcher.fail_next("start", Unavailable("throttled"), after_effect=how == "after")

    # ---- the end -------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """No more faults: executions run to their end, sweep comes by until nothing is due."""
        self.bench.log.forget_faults()
        self.bench.launcher.forget_faults()
        self.agent.script = [("report", "working")]
        for turn in [turn for _, turn in self.bench.launcher.started]:
            self.bench.run(turn)
        while (due_at := self.bench.header.due_at) is not None:
            self.bench.clock.set(max(due_at, self.bench.clock.now()))
            self.turns.look_after(self.bench.ref)


__all__ = ["TurnMachine"]
