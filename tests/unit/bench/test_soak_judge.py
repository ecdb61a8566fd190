"""The soak's settlement: whatever it is to prove is planted here the other way, and must be found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.soak.judge import (
    Arrival,
    Fault,
    Left,
    Owed,
    Process,
    Settlement,
    growth,
    latencies,
    quantile,
    settle,
)

HOOK = "/soak/7/0"
NOTHING = Left(doorbells=0, dead_letters=0, open_tasks=0, failed_tasks=0)
MB = 2**20

OWED = Owed(
    hook=HOOK,
    key="k1",
    created_at=1_000,
    snapshot=0,
    stored_at={0: 1_000, 2: 2_000, 3: 3_000},
    digests={2: "two", 3: "three"},
    state="active",
    cursor=3,
    failures=0,
    next_attempt_at=0,
    at_rest=True,
)


def arrived(number: int, answer: str = "ok", digest: str = "", **other: str) -> Arrival:
    told = digest or {0: "snapshot", 2: "two", 3: "three"}.get(number, "other")
    return replace(Arrival(HOOK, "k1", number, 10.0 + number, told, unverified="", answer=answer), **other)  # type: ignore[arg-type]


def settled(*arrivals: Arrival, owed: Owed = OWED, left: Left = NOTHING) -> Settlement:
    return settle([owed], arrivals, [HOOK], left)


def kinds(settlement: Settlement) -> list[str]:
    return [fault.kind for fault in settlement.faults]


def test_all_of_it_in_order_passes() -> None:
    found = settled(arrived(0), arrived(2), arrived(3))

    assert found.verdict == "passed"
    assert found.figures == {
        "webhooks": 1,
        "owed": 3,
        "delivered": 3,
        "posts": 3,
        "verified": 3,
        "refused": 0,
        "repeats": 0,
        "longest_row_of_failures": 0,
    }


def test_what_comes_again_after_a_fault_of_the_receivers_is_explained() -> None:
    found = settled(arrived(0, "500"), arrived(0, "reset"), arrived(0), arrived(2, "late"), arrived(2), arrived(3))

    assert found.faults == []
    assert found.repeats == {"500": 1, "reset": 1, "late": 1}
    assert (found.figures["repeats"], found.figures["refused"], found.figures["longest_row_of_failures"]) == (3, 3, 2)


def test_a_lost_notification_fails() -> None:
    assert settled(arrived(0), arrived(2)).faults == [Fault("lost", "/soak/7/0: 3 (active)")]


def test_a_notification_that_was_only_refused_is_lost_too() -> None:
    waiting = replace(OWED, state="failing", failures=5, next_attempt_at=99_000, at_rest=False)

    found = settled(arrived(0), arrived(2), arrived(3, "429"), owed=waiting)

    assert kinds(found) == ["lost", "not at rest"]
    assert "failing, 5 failures in a row, the next attempt is planned" in found.faults[0].what


def test_a_webhook_that_heard_nothing_at_all_fails() -> None:
    assert settled().faults == [Fault("lost", "/soak/7/0: 0, 2, 3 (active)")]


def test_an_earlier_notification_after_a_later_one_fails() -> None:
    assert kinds(settled(arrived(0), arrived(3), arrived(2))) == ["reordered"]


def test_a_notification_that_overtakes_a_refused_one_fails() -> None:
    found = settled(arrived(0), arrived(2, "500"), arrived(3), arrived(2))

    assert found.faults[0] == Fault("reordered", "/soak/7/0: 3 came though 2 hadn't been taken")


def test_a_repeat_of_what_was_taken_is_unexplained() -> None:
    found = settled(arrived(0), arrived(2), arrived(2), arrived(3))

    assert found.faults == [Fault("unexplained repeat", "/soak/7/0: 2: it had been answered with success")]
    assert found.repeats.total() == 0


def test_a_late_repeat_of_what_was_taken_fails() -> None:
    assert kinds(settled(arrived(0), arrived(2), arrived(3), arrived(0))) == ["reordered"]


def test_a_wrong_signature_fails() -> None:
    found = settled(arrived(0), arrived(2, unverified="v1a: no signature fits"), arrived(3))

    assert found.faults == [Fault("unverified", "/soak/7/0: 2: v1a: no signature fits")]
    assert found.figures["verified"] == 2


def test_a_body_that_differs_from_what_is_stored_fails() -> None:
    assert kinds(settled(arrived(0), arrived(2, digest="forged"), arrived(3))) == ["changed"]


def test_a_snapshot_whose_bytes_differ_from_attempt_to_attempt_fails() -> None:
    assert kinds(settled(arrived(0, "500", digest="one"), arrived(0, digest="other"), arrived(2), arrived(3))) == [
        "changed"
    ]


@pytest.mark.parametrize("stray", [arrived(1), arrived(4), arrived(3, key="k2")], ids=["message", "beyond", "key"])
def test_what_was_never_owed_fails(stray: Arrival) -> None:
    arrivals = sorted([arrived(0), arrived(2), stray], key=lambda arrival: arrival.number)
    last = [] if stray.number == 3 else [arrived(3)]

    found = settled(*sorted([*arrivals, *last], key=lambda arrival: arrival.number))

    assert "never owed" in kinds(found)


def test_a_webhook_that_nobody_knows_and_one_that_isnt_stored_fail() -> None:
    found = settle([OWED], [arrived(0), arrived(2), arrived(3), arrived(0, hook="/other")], [HOOK, "/lost"], NOTHING)

    assert found.faults == [Fault("webhook missing", "/lost"), Fault("unknown webhook", "/other")]


@pytest.mark.parametrize(
    ("left", "kind"),
    [
        (replace(NOTHING, doorbells=2), "doorbells left in the queue"),
        (replace(NOTHING, dead_letters=1), "dead letters"),
        (replace(NOTHING, open_tasks=1), "tasks that haven't ended"),
        (replace(NOTHING, failed_tasks=1), "tasks that haven't ended well"),
    ],
)
def test_what_is_left_behind_fails(left: Left, kind: str) -> None:
    assert kinds(settled(arrived(0), arrived(2), arrived(3), left=left)) == [kind]


def process(memory: int = 80 * MB, files: int = 20, sockets: int = 4, pid: int = 1) -> Process:
    return Process(pid, "SendWebhooks", memory, files, sockets, age=60)


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        (process(memory=120 * MB), "memory grew"),
        (process(files=29), "open files grew"),
        (process(sockets=13), "sockets grew"),
    ],
)
def test_a_process_that_grows_fails(end: Process, kind: str) -> None:
    assert [fault.kind for fault in growth([process()], [end], "emulator")] == [kind]


@pytest.mark.parametrize(
    "end",
    [process(), process(memory=100 * MB), process(files=28), process(memory=900 * MB, pid=2), process(memory=10 * MB)],
    ids=["as it was", "a little", "a few files", "another one", "less"],
)
def test_a_process_that_stays_about_as_it_was_passes(end: Process) -> None:
    assert list(growth([process()], [end], "emulator")) == []


def test_a_process_that_was_still_loading_its_code_isnt_judged() -> None:
    then = process(memory=42 * MB)

    assert list(growth([replace(then, age=1)], [process()], "emulator")) == []
    assert [fault.kind for fault in growth([then], [process()], "emulator")] == ["memory grew"]


def test_what_keeps_all_data_is_judged_by_its_sockets_alone() -> None:
    then = replace(process(), name="emulator")

    assert list(growth([then], [replace(then, memory=900 * MB, files=90)], "emulator")) == []
    assert [fault.kind for fault in growth([then], [replace(then, sockets=13)], "emulator")] == ["sockets grew"]


def test_latency_counts_from_the_entry_or_from_the_webhooks_making() -> None:
    owed = replace(OWED, created_at=2_500)
    arrivals = [arrived(0, at=2.6), arrived(2, at=2.75), arrived(3, "500", at=3.25), arrived(3, at=9.0)]  # type: ignore[arg-type]

    assert latencies([owed], arrivals) == [pytest.approx(0.1), 0.25, 0.25]


def test_quantiles_of_what_was_sorted() -> None:
    assert [quantile([1.0, 2.0, 3.0, 4.0], share) for share in (0.0, 0.5, 0.99, 1.0)] == [1.0, 3.0, 4.0, 4.0]
    assert quantile([], 0.5) == 0.0
