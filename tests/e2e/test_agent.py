"""Agents that are canceled, crash, go on later or never end: the task ends once, and everybody is told."""

from __future__ import annotations

from e2e.client import Client, message, said, script
from e2e.cloud import Cloud
from e2e.loopback import ENDED, Meeting, Receiver
from e2e.waiting import wait_for


def ends(log: list[tuple[int, str, str]]) -> list[str]:
    """The terminal states in a log; the last entry must be the one that there is."""
    found = [state for _, _, state in log if state in ENDED]
    assert log[-1][2] in ENDED, log
    return found


def test_a_canceled_task_stops_its_execution_and_refuses_what_its_agent_reports_later(
    client: Client, cloud: Cloud, receiver: Receiver, meeting: Meeting
) -> None:
    ended = Meeting()
    ended.start()
    try:
        task_id = client.start(
            {"working": "begun"},
            {"meet": meeting.url},
            {"artifact": {"id": "late", "text": "too late"}},
            {"complete": "done all the same"},
            ended=ended.url,
            webhook=receiver.config,
        )
        meeting.wait_until_reached()

        canceled = client.cancel(task_id)
        assert canceled["status"]["state"] == "TASK_STATE_CANCELED"
        arrived = receiver.wait_for_end(task_id)
        wait_for("the execution to be stopped", lambda: cloud.executions(task_id) == ["ABORTED"])

        meeting.release()
        ended.wait_until_reached()  # the agent's report was refused, and it knows why
        ended.release()
    finally:
        ended.stop()
    cloud.wait_until_no_doorbell_is_left()

    log = cloud.log(task_id)
    assert ends(log) == ["TASK_STATE_CANCELED"]
    assert [kind for _, kind, _ in log] == ["message", "run", "status", "status"]
    assert [arrival.state for arrival in arrived] == [
        "TASK_STATE_SUBMITTED",
        "TASK_STATE_WORKING",
        "TASK_STATE_CANCELED",
    ]
    assert len(receiver.of(task_id)) == 3
    status, error = client.refused("POST", f"/tasks/{task_id}:cancel", {})
    assert (status, error["details"][0]["reason"]) == (400, "TASK_NOT_CANCELABLE")


def test_a_run_that_dies_is_run_again_and_completes(client: Client, cloud: Cloud, receiver: Receiver) -> None:
    task_id = client.start(
        {"artifact": {"id": "a", "text": "what the first run said"}},
        {"crash": 1},
        {"artifact": {"id": "a", "text": "what the second run said"}},
        {"complete": "done"},
        webhook=receiver.config,
    )
    arrived = receiver.wait_for_end(task_id)

    task = client.task(task_id)
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert task["artifacts"][0]["parts"] == [{"text": "what the second run said"}]
    log = cloud.log(task_id)
    assert [kind for _, kind, _ in log].count("run") == 2
    assert ends(log) == ["TASK_STATE_COMPLETED"]
    assert [arrival.number for arrival in arrived] == cloud.to_send(task_id)


def test_an_agent_that_always_dies_fails_its_task_once_with_a_safe_message(
    client: Client, cloud: Cloud, receiver: Receiver
) -> None:
    task_id = client.start({"working": "begun"}, {"crash": 99}, webhook=receiver.config)
    arrived = receiver.wait_for_end(task_id)

    task = client.task(task_id)
    assert task["status"]["state"] == "TASK_STATE_FAILED"
    assert said(task) == "The agent stopped unexpectedly."
    wait_for("the execution to end", lambda: cloud.executions(task_id) == ["FAILED"])
    log = cloud.log(task_id)
    assert [kind for _, kind, _ in log].count("run") == 3  # the local stack tries twice again
    assert ends(log) == ["TASK_STATE_FAILED"]
    assert [arrival.number for arrival in arrived] == cloud.to_send(task_id)


def test_an_agent_that_raises_fails_its_task_and_tells_the_client_nothing_of_why(client: Client, cloud: Cloud) -> None:
    task_id = client.start({"raise": "tulip-4711"})
    task = client.wait_for_end(task_id)

    assert task["status"]["state"] == "TASK_STATE_FAILED"
    assert said(task) == "The agent failed while working on this task."
    assert "tulip-4711" not in str({**task, "history": []})  # which holds the script
    wait_for(
        "the traceback in run_agent's log",
        lambda: any("RuntimeError" in line and task_id in line for line in cloud.log_lines()["RunAgentLog"]),
    )
    assert cloud.executions(task_id) == ["SUCCEEDED"]  # the task's failure is none of the machinery


def test_an_agent_that_ends_without_a_result_fails_its_task(client: Client) -> None:
    task = client.wait_for_end(client.start({"working": "begun"}))

    assert (task["status"]["state"], said(task)) == ("TASK_STATE_FAILED", "The agent ended without finishing the task.")


def test_an_agent_goes_on_from_its_checkpoint_in_a_new_run(client: Client, cloud: Cloud) -> None:
    task_id = client.start(
        {"artifact": {"id": "a", "text": "one "}},
        {"checkpoint": True},
        {"artifact": {"id": "a", "text": "two", "append": True}},
        {"complete": "done"},
    )
    task = client.wait_for_end(task_id)

    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert task["artifacts"][0]["parts"] == [{"text": "one "}, {"text": "two"}]
    kinds = [kind for _, kind, _ in cloud.log(task_id)]
    # The checkpoint ends the first run, the second one opens another.
    assert kinds == ["message", "run", "artifact", "run", "run", "artifact", "status"]
    wait_for("the execution to end", lambda: cloud.executions(task_id) == ["SUCCEEDED"])


def test_a_message_to_a_working_agent_is_its_next_turn(
    client: Client, cloud: Cloud, receiver: Receiver, meeting: Meeting
) -> None:
    task_id = client.start({"working": "begun"}, {"meet": meeting.url}, {"complete": "first"}, webhook=receiver.config)
    meeting.wait_until_reached()

    taken = client.send(message(script({"complete": "second"}), taskId=task_id))["task"]
    assert (taken["status"]["state"], len(taken["history"])) == ("TASK_STATE_WORKING", 2)
    meeting.release()
    arrived = receiver.wait_for_end(task_id)

    assert said(client.task(task_id)) == "second"
    assert [kind for _, kind, _ in cloud.log(task_id)] == [
        "message",
        "run",
        "status",
        "message",
        "status",
        "run",
        "status",
    ]
    assert [(arrival.number, arrival.state) for arrival in arrived] == [
        (0, "TASK_STATE_SUBMITTED"),
        (2, "TASK_STATE_WORKING"),
        (4, "TASK_STATE_WORKING"),
        (6, "TASK_STATE_COMPLETED"),
    ]
    wait_for("both executions to end", lambda: cloud.executions(task_id) == ["SUCCEEDED"] * 2)


def test_a_message_that_a_working_agent_reads_is_no_turn(client: Client, cloud: Cloud, meeting: Meeting) -> None:
    task_id = client.start({"meet": meeting.url}, {"read": True}, {"complete": "done"})
    meeting.wait_until_reached()
    client.send(message({"text": "the last quarter only"}, taskId=task_id))
    meeting.release()

    task = client.wait_for_end(task_id)

    assert task["history"][-1]["parts"] == [{"text": "the last quarter only"}]
    assert task["history"][-1]["role"] == "ROLE_AGENT"
    wait_for("the execution to end", lambda: cloud.executions(task_id) == ["SUCCEEDED"])


def test_an_agent_that_never_ends_is_ended_by_sweep(
    client: Client, cloud: Cloud, receiver: Receiver, meeting: Meeting
) -> None:
    task_id = client.start({"working": "begun"}, {"meet": meeting.url}, webhook=receiver.config)
    meeting.wait_until_reached()

    cloud.make_due(task_id)  # as if the turn's deadline had come
    cloud.sweep()

    receiver.wait_for_state(task_id, "TASK_STATE_FAILED")
    task = client.task(task_id)
    assert said(task) == "The agent did not finish this task in time."
    wait_for("the execution to be stopped", lambda: cloud.executions(task_id) == ["ABORTED"])
    assert ends(cloud.log(task_id)) == ["TASK_STATE_FAILED"]


def test_a_turn_whose_start_is_lost_is_started_by_sweep_and_only_once(client: Client, cloud: Cloud) -> None:
    with cloud.without_events("StartWorkerFunction"):
        task_id = client.start({"complete": "done"})
        cloud.make_due(task_id)
        cloud.sweep()
        assert client.wait_for_end(task_id)["status"]["state"] == "TASK_STATE_COMPLETED"

    later = client.start({"complete": "done"})  # the stream is read in order: what was missed comes before it
    client.wait_for_end(later)
    assert cloud.executions(task_id) == ["SUCCEEDED"]
    assert [kind for _, kind, _ in cloud.log(task_id)] == ["message", "run", "status"]
