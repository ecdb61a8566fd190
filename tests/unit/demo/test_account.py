"""Given what arrived and what the log has to send, then the account says what is missing, late, doubled or false."""

from __future__ import annotations

from typing import Any

import pytest
from demo.account import Balance, Seen, settle

GENUINE = {"v1": "", "v1a": ""}
TO_SEND = [0, 2, 3, 4]


def seen(number: int, *, key: str = "k1", faults: dict[str, str] | None = None, event: Any = None) -> Seen:
    return Seen(f"msg_{key}_{number:012d}", event or {}, GENUINE if faults is None else faults, 1_000 + number)


def balance_of(*arrivals: Seen) -> Balance:
    return settle(arrivals, TO_SEND)


def test_all_in_order_and_genuine_is_good() -> None:
    balance = balance_of(seen(0), seen(2), seen(3), seen(4))
    assert balance.good
    assert balance.line == "demo: 4 notifications, 4 verified, in order, 0 missing"


def test_one_that_never_came_is_missing_by_its_number() -> None:
    balance = balance_of(seen(0), seen(2), seen(4))
    assert (balance.good, balance.missing) == (False, [3])
    assert balance.line == "demo: 3 notifications, 3 verified, in order, 1 missing"


def test_the_last_one_is_missed_too() -> None:
    assert balance_of(seen(0), seen(2), seen(3)).missing == [4]


def test_one_that_came_after_a_later_one_is_out_of_order() -> None:
    balance = balance_of(seen(0), seen(3), seen(2), seen(4))
    assert (balance.good, balance.disordered, balance.missing) == (False, [2], [])
    assert balance.line == "demo: 4 notifications, 4 verified, out of order, 0 missing"


@pytest.mark.parametrize("faults", [{"v1": "no", "v1a": ""}, {"v1": "", "v1a": "no"}, {}])
def test_one_whose_signature_does_not_hold_is_not_verified(faults: dict[str, str]) -> None:
    balance = balance_of(seen(0), seen(2), seen(3, faults=faults), seen(4))
    assert not balance.good
    assert balance.line == "demo: 4 notifications, 3 verified, in order, 0 missing"


def test_a_repeat_right_after_the_first_is_allowed_and_counts_once() -> None:
    balance = balance_of(seen(0), seen(2), seen(2), seen(3), seen(4))
    assert balance.good
    assert (balance.notifications, balance.repeats) == (4, 1)


def test_a_repeat_after_a_later_one_is_out_of_order() -> None:
    assert balance_of(seen(0), seen(2), seen(3), seen(2), seen(4)).disordered == [2]


def test_a_false_repeat_spoils_a_genuine_first() -> None:
    balance = balance_of(seen(0), seen(2), seen(2, faults={"v1": "no", "v1a": ""}), seen(3), seen(4))
    assert (balance.notifications, balance.verified) == (4, 3)


def test_one_that_the_log_does_not_send_is_unexpected() -> None:
    balance = balance_of(seen(0), seen(1), seen(2), seen(3), seen(4))
    assert (balance.good, balance.unexpected) == (False, [1])


def test_ids_of_another_webhook_are_noticed() -> None:
    balance = balance_of(seen(0), seen(2), seen(3, key="k2"), seen(4))
    assert (balance.good, balance.webhooks) == (False, 2)


def test_nothing_at_all_is_not_good() -> None:
    balance = settle([], [])
    assert not balance.good
    assert balance.line == "demo: 0 notifications, 0 verified, in order, 0 missing"


@pytest.mark.parametrize("message_id", ["", "msg_k_1", "msg_k_0000000000001", "evt_k_000000000001"])
def test_an_id_of_another_shape_has_no_number(message_id: str) -> None:
    assert Seen(message_id, {}, GENUINE, 0).number == -1


def test_the_state_is_that_of_a_task_or_a_status() -> None:
    status = {"status": {"state": "TASK_STATE_WORKING"}}
    assert seen(0, event={"task": status}).state == "TASK_STATE_WORKING"
    assert seen(0, event={"statusUpdate": status}).state == "TASK_STATE_WORKING"
    assert seen(0, event={"artifactUpdate": {}}).state == ""
