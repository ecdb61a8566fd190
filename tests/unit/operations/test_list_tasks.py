"""ListTasks: order, filters, pages, tokens, totals, and what a page costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from builders.api import ApiBench
from builders.records import DAY, a_header
from fakes.clock import START
from herald.operations import list_tasks
from herald.operations.answer import MAX_BYTES, weight
from herald.ports import Unavailable
from herald.protocol import codec
from herald.protocol.errors import InvalidParamsError
from herald.protocol.states import TaskState
from herald.records import TaskRef

Json = dict[str, Any]


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


def task(api: ApiBench, text: str, **members: Any) -> str:
    """A task that was sent a second after whatever was last; its id."""
    api.clock.advance(1)
    found: str = api.send(text=text, messageId=text, **members)["id"]
    return found


def ids(page: Json) -> list[str]:
    return [each["id"] for each in page["tasks"]]


def pages(api: ApiBench, owner: str = "alice", **params: Any) -> Iterator[Json]:
    """A walk, page by page."""
    for _ in range(200):
        page = api.call("ListTasks", params, owner)
        yield page
        if not page["nextPageToken"]:
            return
        params = {**params, "pageToken": page["nextPageToken"]}
    raise AssertionError("this walk doesn't end")


def walk(api: ApiBench, owner: str = "alice", **params: Any) -> list[str]:
    return [task_id for page in pages(api, owner, **params) for task_id in ids(page)]


def refusal(api: ApiBench, owner: str = "alice", tenant: str = "", **params: Any) -> tuple[str, str]:
    with pytest.raises(InvalidParamsError) as refused:
        api.call("ListTasks", params, owner, tenant)
    (violation,) = refused.value.violations
    return violation.field, violation.description


# ---- what a page is ----


def test_e1_w9_an_empty_list_has_all_four_fields(api: ApiBench) -> None:
    assert api.call("ListTasks", {}) == {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}


def test_e5_a_list_holds_bare_tasks_as_get_task_shows_them_without_artifacts(api: ApiBench) -> None:
    ref = api.ref(task(api, "one"))
    api.put_artifact(ref)
    api.put_status(ref, TaskState.COMPLETED, "Done")

    page = api.call("ListTasks", {})

    shown = api.call("GetTask", {"id": ref.task_id})
    del shown["artifacts"]
    assert page == {"tasks": [shown], "nextPageToken": "", "pageSize": 50, "totalSize": 1}


@pytest.mark.parametrize("state", [state for state in TaskState if state is not TaskState.SUBMITTED])
def test_a14_every_state_has_its_name_in_a_list(api: ApiBench, state: TaskState) -> None:
    api.put_status(api.ref(task(api, "one")), state)

    (shown,) = api.call("ListTasks", {"status": state.value})["tasks"]

    assert shown["status"]["state"] == state.value


def test_w9_artifacts_are_absent_unless_asked_for_and_then_always_there(api: ApiBench) -> None:
    without, with_one = task(api, "one"), task(api, "two")
    api.put_artifact(api.ref(with_one), "a", "x")

    for params in ({}, {"includeArtifacts": False}):
        assert all("artifacts" not in each for each in api.call("ListTasks", params)["tasks"])
    shown = {each["id"]: each["artifacts"] for each in api.call("ListTasks", {"includeArtifacts": True})["tasks"]}
    assert shown == {without: [], with_one: [{"artifactId": "a", "parts": [{"text": "x"}]}]}


@pytest.mark.parametrize(("length", "texts"), [(None, ["one", "two"]), (0, None), (1, ["two"]), (9, ["one", "two"])])
def test_w10_history_length_holds_in_lists_too(api: ApiBench, length: int | None, texts: list[str] | None) -> None:
    ref = api.ref(task(api, "one"))
    api.put_status(ref, TaskState.WORKING, "two")
    api.put_status(ref, TaskState.WORKING, "three")

    (shown,) = api.call("ListTasks", {"historyLength": length})["tasks"]

    assert ([said["parts"][0]["text"] for said in shown["history"]] if texts else shown.get("history")) == texts


def test_the_newest_status_comes_first_whenever_the_task_was_made(api: ApiBench) -> None:
    a, b, c = (task(api, text) for text in "abc")
    assert ids(api.call("ListTasks", {})) == [c, b, a]

    api.clock.advance(1)
    api.put_status(api.ref(a), TaskState.WORKING)

    assert ids(api.call("ListTasks", {})) == [a, c, b]


def test_of_the_same_millisecond_the_greater_id_comes_first(api: ApiBench) -> None:
    made = [api.send(messageId=f"m{number}")["id"] for number in range(7)]

    assert walk(api, pageSize=2) == sorted(made, reverse=True)


# ---- filters ----


def test_a_context_a_state_and_a_time_filter_together_and_alone(api: ApiBench) -> None:
    a, b, c, d = (task(api, text, contextId=context) for text, context in zip("abcd", "xxyx", strict=True))
    for each in (b, c, d):
        api.clock.advance(1)
        api.put_status(api.ref(each), TaskState.WORKING)
    fifth = "2026-01-01T00:00:05.000Z"  # when b got to work

    assert walk(api, contextId="x") == [d, b, a]
    assert walk(api, contextId="z") == []
    assert walk(api, status="TASK_STATE_WORKING") == [d, c, b]
    assert walk(api, status="TASK_STATE_SUBMITTED") == [a]
    assert walk(api, status="TASK_STATE_COMPLETED") == []
    assert walk(api, statusTimestampAfter=fifth) == [d, c, b]
    assert walk(api, contextId="x", status="TASK_STATE_WORKING", statusTimestampAfter=fifth) == [d, b]
    assert walk(api, contextId="x", status="TASK_STATE_SUBMITTED", statusTimestampAfter=fifth) == []


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ("2026-01-01T00:00:01Z", True),
        ("2026-01-01T01:00:01+01:00", True),
        ("2026-01-01T00:00:00.999999999Z", True),
        ("2026-01-01T00:00:01.000000001Z", False),
        ("0001-01-01T00:00:00Z", True),
        ("9999-12-31T23:59:59.999999999Z", False),
    ],
)
def test_status_timestamp_after_takes_in_its_own_moment(api: ApiBench, after: str, *, found: bool) -> None:
    made = task(api, "one")

    assert walk(api, statusTimestampAfter=after) == ([made] if found else [])


def test_an_endless_context_id_is_no_tasks(api: ApiBench) -> None:
    task(api, "one")
    page = api.call("ListTasks", {"contextId": "ö" * 129})
    assert page == {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}


@pytest.mark.parametrize("status", ["working", "", "foo", "TASK_STATE_UNSPECIFIED", 0, 9, True])
def test_a16_an_unknown_state_is_an_error_and_never_all_tasks(api: ApiBench, status: object) -> None:
    assert refusal(api, status=status)[0] == "status"


@pytest.mark.parametrize("size", [0, 101, -1])
def test_e7_a_page_size_out_of_bounds_is_refused(api: ApiBench, size: int) -> None:
    assert refusal(api, pageSize=size)[0] == "pageSize"


def test_e8_names_that_are_none_of_the_requests_are_ignored(api: ApiBench) -> None:
    made = task(api, "one")
    assert ids(api.call("ListTasks", {"limit": 5, "cursor": "x"})) == [made]


def test_a_task_past_its_time_is_not_listed(api: ApiBench) -> None:
    task(api, "one")
    api.clock.advance(60 * DAY)
    kept = task(api, "two")

    assert api.call("ListTasks", {})["totalSize"] == 1
    assert walk(api) == [kept]


# ---- pages and tokens ----


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 7, 100])
def test_pages_lead_through_the_list_once(api: ApiBench, size: int) -> None:
    made = [task(api, f"m{number}") for number in range(6)]

    found = list(pages(api, pageSize=size))

    assert [task_id for page in found for task_id in ids(page)] == made[::-1]
    assert [len(page["tasks"]) for page in found] == [size] * (6 // size) + ([6 % size] if 6 % size else [])
    assert {(page["pageSize"], page["totalSize"]) for page in found} == {(size, 6)}


def test_a_page_has_50_tasks_unless_asked_for_others(api: ApiBench) -> None:
    for number in range(51):
        task(api, f"m{number}")
    page = api.call("ListTasks", {})
    assert (len(page["tasks"]), page["pageSize"], page["totalSize"]) == (50, 50, 51)
    assert page["nextPageToken"]


def test_e3_a_cursor_whose_task_is_gone_goes_on_after_it(api: ApiBench) -> None:
    made = [task(api, f"m{number}") for number in range(5)]
    first = api.call("ListTasks", {"pageSize": 2})
    for gone in (made[3], made[2]):  # the last one shown, and the next one
        for ref, sk in list(api.world.items):
            if ref.task_id == gone:
                api.world.remove(ref, sk)

    assert ids(first) == [made[4], made[3]]
    assert walk(api, pageSize=2, pageToken=first["nextPageToken"]) == [made[1], made[0]]


def test_a_token_goes_with_another_page_size_and_another_view(api: ApiBench) -> None:
    made = [task(api, f"m{number}") for number in range(5)]
    token = api.call("ListTasks", {"pageSize": 2})["nextPageToken"]

    page = api.call("ListTasks", {"pageSize": 9, "historyLength": 0, "includeArtifacts": True, "pageToken": token})

    assert ids(page) == [made[2], made[1], made[0]]
    assert [each["artifacts"] for each in page["tasks"]] == [[], [], []]
    assert page["pageSize"] == 9


FILTERS: list[Json] = [
    {},
    {"contextId": "x"},
    {"status": "TASK_STATE_SUBMITTED"},
    {"statusTimestampAfter": "2026-01-01T00:00:00.000Z"},
]


@pytest.mark.parametrize("given", FILTERS, ids=str)
@pytest.mark.parametrize("sent", FILTERS, ids=str)
def test_w9_a_token_is_good_for_its_own_filters_only(api: ApiBench, given: Json, sent: Json) -> None:
    for number in range(3):
        task(api, f"m{number}", contextId="x")
    token = api.call("ListTasks", {**given, "pageSize": 1})["nextPageToken"]

    if given == sent:
        assert len(walk(api, **sent, pageToken=token)) == 2
    else:
        assert refusal(api, **sent, pageToken=token)[0] == "pageToken"


@pytest.mark.parametrize(("owner", "tenant"), [("bob", ""), ("alice", "acme"), ("alice#", "")])
def test_invariant_6_a_token_of_somebody_elses_is_refused_as_garbage_is(api: ApiBench, owner: str, tenant: str) -> None:
    for number in range(3):
        task(api, f"m{number}")
    token = api.call("ListTasks", {"pageSize": 1})["nextPageToken"]

    told = {
        refusal(api, owner, tenant, pageToken=each) for each in (token, "garbage", token[:-4], "v1.x.y", "ö", "a b")
    }

    assert told == {
        ("pageToken", "isn't one of this list's: begin again without it, or send the filters that it came with")
    }


def test_a_token_is_fit_for_a_query_string(api: ApiBench) -> None:
    for number in range(3):
        task(api, f"m{number}")
    token = api.call("ListTasks", {"pageSize": 1})["nextPageToken"]
    assert not set(token) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def test_an_empty_token_begins_at_the_beginning(api: ApiBench) -> None:
    made = task(api, "one")
    assert ids(api.call("ListTasks", {"pageToken": ""})) == [made]


# ---- while tasks change ----


def test_a_task_that_moves_is_not_shown_twice_and_the_others_are_not_skipped(api: ApiBench) -> None:
    a, b, c, d = (task(api, text) for text in "abcd")
    first = api.call("ListTasks", {"pageSize": 2})
    api.clock.advance(1)
    api.put_status(api.ref(d), TaskState.WORKING)
    api.put_status(api.ref(b), TaskState.WORKING)
    task(api, "e")

    rest = walk(api, pageSize=2, pageToken=first["nextPageToken"])

    assert ids(first) == [d, c]
    assert rest == [a]


@pytest.mark.parametrize("size", [1, 2])
def test_an_index_that_is_behind_shows_nothing_twice(api: ApiBench, size: int) -> None:
    a, b, c = (task(api, text) for text in "abc")
    api.clock.advance(1)
    api.put_status(api.ref(a), TaskState.WORKING)
    first = api.call("ListTasks", {"pageSize": size})
    api.index.fall_back(api.ref(a))  # another replica answers, to which a hasn't moved yet

    rest = walk(api, pageSize=size, pageToken=first["nextPageToken"])

    assert [*ids(first), *rest] == [a, c, b]


def test_a_task_that_the_index_shows_where_it_was_is_shown_where_it_is(api: ApiBench) -> None:
    a, b, c = (task(api, text) for text in "abc")
    api.index.hold(api.ref(a))
    api.clock.advance(1)
    api.put_status(api.ref(a), TaskState.WORKING)

    page = api.call("ListTasks", {})

    assert ids(page) == [a, c, b]
    assert page["tasks"][0]["status"] == {"state": "TASK_STATE_WORKING", "timestamp": "2026-01-01T00:00:04.000Z"}


def test_a_task_that_the_index_shows_twice_is_shown_once(api: ApiBench) -> None:
    a, b = task(api, "a"), task(api, "b")
    api.index.hold(api.ref(a), doubled=True)
    api.clock.advance(1)
    api.put_status(api.ref(a), TaskState.WORKING)

    for size in (1, 2, 3):
        assert walk(api, pageSize=size) == [a, b]


def test_a_task_whose_state_the_index_does_not_know_yet_is_not_shown_in_the_wrong_list(api: ApiBench) -> None:
    a = task(api, "a")
    api.index.hold(api.ref(a))
    api.put_status(api.ref(a), TaskState.COMPLETED)

    page = api.call("ListTasks", {"status": "TASK_STATE_SUBMITTED"})

    assert page == {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}


def test_a_task_that_is_gone_while_the_index_still_shows_it_is_left_out(api: ApiBench) -> None:
    a, b = task(api, "a"), task(api, "b")
    api.index.hold(api.ref(b))
    for sk in ("TASK", "LOG#000000000000"):
        api.world.remove(api.ref(b), sk)

    page = api.call("ListTasks", {})

    assert (ids(page), page["totalSize"]) == ([a], 1)


# ---- totals ----


def test_a_total_is_counted_once_and_carried(api: ApiBench) -> None:
    for number in range(5):
        task(api, f"m{number}")
    walking = pages(api, pageSize=2)
    first = next(walking)
    task(api, "another")
    api.put_status(api.ref(first["tasks"][0]["id"]), TaskState.COMPLETED)

    assert [page["totalSize"] for page in (first, *walking)] == [5, 5, 5]
    assert api.index.calls["count"] == 1


def test_a_list_of_one_page_is_not_counted(api: ApiBench) -> None:
    for number in range(3):
        task(api, f"m{number}")
    assert api.call("ListTasks", {"pageSize": 3})["totalSize"] == 3
    assert api.index.calls["count"] == 0


def headers(api: ApiBench, number: int, *, working: int = -1) -> None:
    """Headers without logs, which is all that the index looks at; one of them may be WORKING."""
    for each in range(number):
        state = TaskState.WORKING if each == working else TaskState.COMPLETED
        ref = TaskRef("", "alice", f"task{each:022d}")
        header = a_header(ref=ref, status_at=START + 10_000 + each, state=state)
        api.world.write(ref, "TASK", header, header.expires_second)


@pytest.mark.parametrize(("number", "total"), [(9_999, 9_999), (10_000, 10_000), (10_001, 10_000), (10_100, 10_000)])
def test_a_total_is_exact_up_to_10_000_and_stops_there(api: ApiBench, number: int, total: int) -> None:
    headers(api, number)

    page = api.call("ListTasks", {"pageSize": 1})

    assert page["totalSize"] == total
    assert api.index.entries_read <= 10_002


def test_a_total_of_a_rare_state_is_of_the_newest_10_000_and_a_bit(api: ApiBench) -> None:
    headers(api, 13_000, working=5_000)
    assert api.call("ListTasks", {"status": "TASK_STATE_WORKING"})["totalSize"] == 1
    assert api.index.entries_read == 2_000 + 10_000

    api = ApiBench()
    headers(api, 13_000, working=500)
    assert api.call("ListTasks", {"status": "TASK_STATE_WORKING"})["totalSize"] == 0


# ---- what a page costs ----


def test_a_rare_state_is_looked_for_in_short_pages(api: ApiBench) -> None:
    made = api.ref(task(api, "the oldest"))
    headers(api, 4_500)
    read = []

    found = []
    for page in pages(api, status="TASK_STATE_SUBMITTED"):
        found.append(ids(page))
        read.append(api.index.entries_read)
        api.index.entries_read = 0

    assert found == [[], [], [made.task_id]]
    assert read == [2_000 + 2_501, 2_000, 501]  # the first one counts, too
    assert api.log.calls["read"] == 1  # and nothing of what doesn't match


def test_a_page_reads_its_own_tasks_and_one_entry_more(api: ApiBench) -> None:
    for number in range(30):
        task(api, f"m{number}")
    api.log.calls.clear()

    api.call("ListTasks", {"pageSize": 10})

    assert api.log.calls == {"read": 10}
    assert api.index.calls == {"page": 1, "count": 1}
    assert api.index.entries_read == 11 + 19


def test_artifacts_that_nobody_asked_for_are_not_read_into_the_answer(api: ApiBench) -> None:
    ref = api.ref(task(api, "one"))
    api.put_artifact(ref, text="x" * 4_000_000)

    assert len(codec.dumps(api.call("ListTasks", {}))) < 1_000


def test_a_page_ends_before_its_answer_would_be_too_large(api: ApiBench) -> None:
    made = [task(api, f"m{number}") for number in range(7)]
    for each in made:
        for number in range(4):
            api.put_artifact(api.ref(each), f"a{number}", '"' * 200_000)  # each counts twice, and twice again

    found = list(pages(api, includeArtifacts=True))

    assert [task_id for page in found for task_id in ids(page)] == made[::-1]
    assert [len(page["tasks"]) for page in found] == [1, 1, 1, 1, 1, 1, 1]
    assert all(weight(codec.dumps(page)) < MAX_BYTES for page in found)
    assert {page["totalSize"] for page in found} == {7}


def test_a_task_beyond_what_an_answer_carries_is_told_and_may_be_passed_by_with_the_same_token(api: ApiBench) -> None:
    small, large, newest = (task(api, text) for text in "abc")
    for number in range(4):
        api.put_artifact(api.ref(large), f"a{number}", '"' * 600_000)
    first = api.rpc("ListTasks", {"includeArtifacts": True})["result"]
    params = {"pageToken": first["nextPageToken"]}

    refused = api.rpc("ListTasks", {**params, "includeArtifacts": True})["error"]
    second = api.rpc("ListTasks", params)["result"]

    assert ids(first) == [newest]
    assert refused["code"] == -32603
    assert "includeArtifacts" in refused["message"]
    assert ids(second) == [large, small]


def test_a_page_ends_when_its_logs_have_been_much_to_read(api: ApiBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_tasks, "MAX_READ", 2_000_000)
    made = [task(api, f"m{number}") for number in range(12)]
    for each in made:
        for number in range(3):
            api.put_artifact(api.ref(each), f"a{number}", "x" * 250_000)

    found = list(pages(api))

    assert [len(page["tasks"]) for page in found] == [3, 3, 3, 3]
    assert [task_id for page in found for task_id in ids(page)] == made[::-1]


def test_a_page_that_ends_early_goes_on_where_the_index_stood(api: ApiBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_tasks, "MAX_PAGE", 2_000)
    a, b, c = (task(api, text) for text in "abc")
    api.put_artifact(api.ref(a), "large", "x" * 2_000)
    api.index.hold(api.ref(b))  # the last one of the page, which has moved up since the index saw it
    api.clock.advance(1)
    api.put_status(api.ref(b), TaskState.WORKING)

    assert [ids(page) for page in pages(api, includeArtifacts=True)] == [[b, c], [a]]


def test_a_log_that_can_not_be_read_fails_the_page(api: ApiBench) -> None:
    for number in range(20):
        task(api, f"m{number}")
    api.log.fail_next("read", Unavailable("Query: Throttling"))

    with pytest.raises(Unavailable):
        api.call("ListTasks", {})

    assert len(ids(api.call("ListTasks", {}))) == 20


def test_a_count_that_fails_fails_the_page(api: ApiBench) -> None:
    for number in range(3):
        task(api, f"m{number}")
    api.index.fail_next("count", Unavailable("Query: Throttling"))

    with pytest.raises(Unavailable):
        api.call("ListTasks", {"pageSize": 1})
