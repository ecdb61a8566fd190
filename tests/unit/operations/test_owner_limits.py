"""What one owner may have at a time: open tasks, and origins that webhooks point at."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

from builders.api import ApiBench, sending
from fakes.clock import FakeClock
from fakes.store import World
from fakes.usage import FakeUsage
from fakes.world import FakeResolver
from herald.operations.call import Limits
from herald.operations.origins import Origins, origin_of
from herald.ports import Unavailable
from herald.protocol.errors import InvalidParamsError, ResourceExhaustedError
from herald.protocol.states import TaskState
from herald.records import Caller, OriginsInUse

DAY = 86_400  # seconds
INLINE = "configuration.taskPushNotificationConfig.url"


def limited(tasks: int = 1_000, origins: int = 20) -> ApiBench:
    hosts = FakeResolver({f"h{number}.example.com": ["93.184.216.34"] for number in range(40)})
    return ApiBench(limits=Limits(open_tasks_per_owner=tasks, origins_per_owner=origins), resolver=hosts)


def hook(number: int, path: str = "/in") -> dict[str, Any]:
    return {"url": f"https://h{number}.example.com{path}"}


def with_hook(number: int, text: str, **members: Any) -> dict[str, Any]:
    return sending(config={"taskPushNotificationConfig": hook(number)}, messageId=text, **members)


# ---- open tasks ----


def test_a_task_above_the_limit_is_refused_with_the_limit_and_the_way_out() -> None:
    api = limited(tasks=2)
    api.send(messageId="a")
    api.send(messageId="b")
    with pytest.raises(ResourceExhaustedError) as caught:
        api.send(messageId="c")
    assert caught.value.message == (
        "You have 2 open tasks, the most that one owner may have: wait until some have ended, answer those that wait "
        "for you, or cancel some. Then send the same message again."
    )
    assert caught.value.metadata == {"limit": "2"}
    assert len([sk for _, sk in api.world.items if sk == "TASK"]) == 2


def test_a_task_that_ended_makes_room() -> None:
    api = limited(tasks=2)
    first = api.send(messageId="a")
    api.send(messageId="b")
    with pytest.raises(ResourceExhaustedError):
        api.send(messageId="c")
    api.call("CancelTask", {"id": first["id"]})
    api.clock.advance(1)
    assert api.send(messageId="c")["status"]["state"] == "TASK_STATE_SUBMITTED"


def test_nobody_is_limited_by_what_others_have() -> None:
    api = limited(tasks=1)
    api.send(messageId="a")
    api.send(messageId="a", owner="bob")
    api.send(messageId="a", tenant="acme")
    for owner, tenant in (("alice", ""), ("bob", ""), ("alice", "acme")):
        with pytest.raises(ResourceExhaustedError):
            api.send(messageId="b", owner=owner, tenant=tenant)


def test_a_repeated_send_is_answered_above_the_limit_too_and_isnt_counted() -> None:
    api = limited(tasks=2)
    first = api.send(messageId="a")
    for _ in range(5):
        assert api.send(messageId="a") == first
    api.send(messageId="b")
    with pytest.raises(ResourceExhaustedError):
        api.send(messageId="c")
    assert api.send(messageId="a") == first


def test_a_message_to_a_task_that_waits_for_it_isnt_limited() -> None:
    api = limited(tasks=1)
    task = api.send(messageId="a")
    api.put_status(api.ref(task["id"]), TaskState.INPUT_REQUIRED)
    assert api.send(messageId="b", taskId=task["id"])["status"]["state"] == "TASK_STATE_WORKING"


def test_an_owner_is_counted_once_for_a_twentieth_of_the_room() -> None:
    api = limited(tasks=100)
    for number in range(5):
        api.send(messageId=f"m{number}")
    assert api.usage.calls["open_tasks"] == 1
    api.send(messageId="m5")
    assert api.usage.calls["open_tasks"] == 2


def test_the_nearer_the_limit_the_more_often_an_owner_is_counted() -> None:
    api = limited(tasks=30)
    for number in range(30):
        api.send(messageId=f"m{number}")
    with pytest.raises(ResourceExhaustedError):
        api.send(messageId="m30")
    # 30 open places give 2 at a time (rounded up), the last 20 of them one at a time, and the last count finds none.
    assert api.usage.calls["open_tasks"] == 5 + 20 + 1


def test_a_count_is_good_for_ten_minutes() -> None:
    api = limited()
    api.send(messageId="a")
    api.clock.advance(599.999)
    api.send(messageId="b")
    assert api.usage.calls["open_tasks"] == 1
    api.clock.advance(0.001)
    api.send(messageId="c")
    assert api.usage.calls["open_tasks"] == 2


def test_who_asks_on_and_on_is_counted_once_a_second() -> None:
    api = limited(tasks=1)
    api.send(messageId="a")
    for number in range(10):
        with pytest.raises(ResourceExhaustedError):
            api.send(messageId=f"b{number}")
    assert api.usage.calls["open_tasks"] == 2
    api.clock.advance(1)
    with pytest.raises(ResourceExhaustedError):
        api.send(messageId="c")
    assert api.usage.calls["open_tasks"] == 3


def test_an_index_that_is_behind_lets_a_process_pass_the_limit_by_what_it_doesnt_show() -> None:
    api = limited(tasks=3)
    api.usage.lag = 1
    for text in "abcd":
        api.send(messageId=text)
    with pytest.raises(ResourceExhaustedError):
        api.send(messageId="e")


def test_both_bindings_tell_it_as_429_with_a_time_to_come_back() -> None:
    api = limited(tasks=1)
    api.send(messageId="a")
    answer = api.rest("POST", "/message:send", sending(messageId="b"))
    assert (answer.status, answer.reason) == (429, "RESOURCE_EXHAUSTED")
    assert answer.body["error"]["status"] == "RESOURCE_EXHAUSTED"
    assert answer.headers["retry-after"] == "60"
    told = api.rpc("SendMessage", sending(messageId="b"))
    assert told["error"]["code"] == -32603
    assert told["error"]["data"][0]["reason"] == "RESOURCE_EXHAUSTED"
    assert told["error"]["data"][0]["metadata"] == {"limit": "1"}


# ---- origins ----


def test_an_inline_webhook_of_one_origin_too_many_refuses_the_send_and_nothing_is_stored() -> None:
    api = limited(origins=2)
    api.call("SendMessage", with_hook(1, "a"))
    api.call("SendMessage", with_hook(2, "b"))
    stored = dict(api.world.items)
    with pytest.raises(InvalidParamsError) as caught:
        api.call("SendMessage", with_hook(3, "c"))
    assert caught.value.violations[0].field == INLINE
    assert caught.value.violations[0].description == (
        "is of another origin than the 2 that your webhooks point at, which is the most that an owner's may: use one "
        "of those, or wait until no task of one of them is left"
    )
    assert api.world.items == stored


def test_other_paths_of_a_known_origin_are_welcome_and_cost_nothing() -> None:
    api = limited(origins=1)
    for text in "abc":
        config = {"taskPushNotificationConfig": hook(1, f"/{text}?secret={text}")}
        api.call("SendMessage", sending(config=config, messageId=text))
    assert (api.usage.calls["origins"], api.usage.calls["replace_origins"]) == (1, 1)


def test_a_webhook_that_is_created_or_replaced_is_held_to_the_limit() -> None:
    api = limited(origins=1)
    task = api.call("SendMessage", with_hook(1, "a"))["task"]
    with pytest.raises(InvalidParamsError) as caught:
        api.call("CreateTaskPushNotificationConfig", {"taskId": task["id"], **hook(2)})
    assert caught.value.violations[0].field == "url"
    made = api.call("CreateTaskPushNotificationConfig", {"taskId": task["id"], "id": "mine", **hook(1, "/b")})
    with pytest.raises(InvalidParamsError):
        api.call("CreateTaskPushNotificationConfig", {"taskId": task["id"], "id": made["id"], **hook(2)})
    kept = api.call("GetTaskPushNotificationConfig", {"taskId": task["id"], "id": "mine"})
    assert kept["url"] == "https://h1.example.com/b"


def test_a_message_isnt_taken_by_a_call_whose_webhook_is_refused() -> None:
    api = limited(origins=1)
    task = api.call("SendMessage", with_hook(1, "a"))["task"]
    api.put_status(api.ref(task["id"]), TaskState.INPUT_REQUIRED)
    entries = api.world.entries(api.ref(task["id"]))
    with pytest.raises(InvalidParamsError):
        api.call("SendMessage", with_hook(2, "b", taskId=task["id"]))
    assert api.world.entries(api.ref(task["id"])) == entries


@pytest.mark.parametrize("follow_up", [False, True])
def test_a_repeated_send_isnt_refused_although_its_origin_has_no_place_any_more(follow_up: bool) -> None:
    api = limited(origins=1)
    task = api.call("SendMessage", with_hook(1, "a"))["task"]
    again = with_hook(1, "a")
    if follow_up:
        api.put_status(api.ref(task["id"]), TaskState.INPUT_REQUIRED)
        again = with_hook(1, "b", taskId=task["id"])
        api.call("SendMessage", again)
    api.clock.advance(600)  # nothing is remembered any more
    before = api.usage.origins(Caller("", "alice"))
    taken = OriginsInUse(before.owner, {"https://h2.example.com": api.clock.now()}, before.revision + 1)
    assert api.usage.replace_origins(before, taken)

    assert api.call("SendMessage", again)["task"]["id"] == task["id"]


def refused_and_taken_a_moment_later(api: ApiBench, request: dict[str, Any]) -> None:
    with pytest.raises(InvalidParamsError):
        api.call("SendMessage", request)
    api.clock.advance(1)
    api.call("SendMessage", request)


def test_an_origin_falls_away_a_week_after_the_last_task_with_it() -> None:
    api = limited(origins=1)
    api.call("SendMessage", with_hook(1, "a"))
    api.clock.advance(67 * DAY - 1)
    refused_and_taken_a_moment_later(api, with_hook(2, "b"))


def test_an_origin_falls_away_while_others_of_the_owner_stay() -> None:
    api = limited(origins=2)
    api.call("SendMessage", with_hook(1, "a"))
    api.clock.advance(30 * DAY)
    api.call("SendMessage", with_hook(2, "b"))
    api.clock.advance(37 * DAY - 1)
    refused_and_taken_a_moment_later(api, with_hook(3, "c"))


def test_an_origin_in_steady_use_is_written_once_a_week() -> None:
    api = limited(origins=1)
    for day in range(29):
        api.call("SendMessage", with_hook(1, f"m{day}"))
        api.clock.advance(DAY)
    assert api.usage.calls["replace_origins"] == 4  # on the days 0, 8, 16 and 24
    with pytest.raises(InvalidParamsError):
        api.call("SendMessage", with_hook(2, "b"))


def test_what_a_process_knows_is_good_for_ten_minutes() -> None:
    api = limited()
    api.call("SendMessage", with_hook(1, "a"))
    api.clock.advance(600)
    api.call("SendMessage", with_hook(1, "b"))
    assert (api.usage.calls["origins"], api.usage.calls["replace_origins"]) == (2, 1)


def test_nobodys_origins_are_limited_by_what_others_use() -> None:
    api = limited(origins=1)
    api.call("SendMessage", with_hook(1, "a"))
    api.call("SendMessage", with_hook(2, "a"), owner="bob")
    api.call("SendMessage", with_hook(3, "a"), tenant="acme")


def test_two_registrations_at_once_dont_both_get_the_last_place() -> None:
    api = limited(origins=1)

    def other() -> None:
        before = OriginsInUse(Caller("", "alice"))
        until = {"https://h2.example.com": api.clock.now()}
        assert api.usage.replace_origins(before, OriginsInUse(before.owner, until, 1))

    api.usage.before_next("replace_origins", other)
    with pytest.raises(InvalidParamsError):
        api.call("SendMessage", with_hook(1, "a"))
    assert list(api.usage.origins(Caller("", "alice")).until) == ["https://h2.example.com"]


def test_a_change_whose_answer_was_lost_is_found_to_stand() -> None:
    api = limited(origins=1)
    api.usage.lose_answer_next("replace_origins")
    api.call("SendMessage", with_hook(1, "a"))
    assert list(api.usage.origins(Caller("", "alice")).until) == ["https://h1.example.com"]


def test_many_registrations_at_once_get_as_many_places_as_there_are() -> None:
    clock = FakeClock()
    usage, owner, refused = FakeUsage(World(clock)), Caller("", "alice"), []

    def register(number: int) -> None:
        while True:  # a client that is told to try again does
            try:
                Origins(usage, clock, 5).reserve(owner, f"https://h{number}.example.com/", clock.now(), "")
            except InvalidParamsError:
                refused.append(number)
            except Unavailable:
                continue
            return

    threads = [Thread(target=register, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(usage.origins(owner).until) == 5
    assert len(refused) == 7


def test_an_owners_origins_that_never_stand_still_are_unavailable() -> None:
    api = limited()

    def other(number: int) -> Callable[[], None]:
        def change() -> None:
            before = api.usage.origins(Caller("", "alice"))
            until = {f"https://o{number}.example.com": api.clock.now()}
            assert api.usage.replace_origins(before, OriginsInUse(before.owner, until, before.revision + 1))

        return change

    for number in range(5):
        api.usage.after_next("origins", other(number))
        api.usage.after_next("origins", lambda: None)  # the change's own reading
    with pytest.raises(Unavailable):
        api.call("SendMessage", with_hook(1, "a"))
    assert "TASK" not in {sk for _, sk in api.world.items}


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Hooks.Example.com/in?secret=1", "https://hooks.example.com"),
        ("https://hooks.example.com:443/in", "https://hooks.example.com"),
        ("http://127.0.0.1:9000/", "http://127.0.0.1:9000"),
        ("http://127.0.0.1:80/", "http://127.0.0.1"),
        ("https://[2606:4700::1111]:8443/", "https://[2606:4700::1111]:8443"),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, origin: str) -> None:
    assert origin_of(url) == origin
