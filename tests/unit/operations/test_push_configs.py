"""Webhooks: inline in SendMessage and by the four operations."""

from __future__ import annotations

import base64
import logging
from typing import Any

import pytest

from builders.api import HOOK, ApiBench
from fakes.clock import START
from herald.client_secrets import Secrets
from herald.operations.call import Limits
from herald.protocol.errors import (
    A2AError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotFoundError,
)
from herald.protocol.states import TaskState
from herald.records import Webhook, WebhookState

OTHER = "https://other.example.com/in"
WHSEC = "whsec_" + base64.b64encode(b"k" * 32).decode()
INLINE = "configuration.taskPushNotificationConfig"


@pytest.fixture
def api() -> ApiBench:
    return ApiBench()


@pytest.fixture
def task_id(api: ApiBench) -> str:
    sent: str = api.send()["id"]
    return sent


def create(api: ApiBench, task_id: str, **config: Any) -> dict[str, Any]:
    made: dict[str, Any] = api.call("CreateTaskPushNotificationConfig", {"taskId": task_id, "url": HOOK, **config})
    return made


def listed(api: ApiBench, task_id: str, **params: Any) -> list[dict[str, Any]]:
    configs: list[dict[str, Any]] = api.call("ListTaskPushNotificationConfigs", {"taskId": task_id, **params}).get(
        "configs", []
    )
    return configs


def stored(api: ApiBench, task_id: str) -> list[Webhook]:
    return api.world.all(api.ref(task_id), "PUSH#", Webhook)


def send_inline(api: ApiBench, config: dict[str, Any], **members: Any) -> dict[str, Any]:
    return api.send(config={"taskPushNotificationConfig": config}, **members)


# ---- what is stored ----


def test_a_webhook_starts_at_the_logs_end_with_its_snapshot_due(api: ApiBench, task_id: str) -> None:
    ref = api.ref(task_id)
    api.put_status(ref, TaskState.WORKING)
    api.put_artifact(ref)  # beyond what the header knows of
    api.clock.advance(60)

    create(api, task_id)

    [webhook] = stored(api, task_id)
    assert (webhook.cursor, webhook.snapshot, webhook.snapshot_due) == (2, 2, True)
    assert webhook.state is WebhookState.ACTIVE
    assert webhook.created_at == START + 60_000
    assert webhook.due_at == START + 1_864_051  # the time within the hour of the key that comes second
    assert webhook.expires_second == api.header(ref).expires_second
    assert len(webhook.key) == 26


def test_a_config_without_an_id_gets_one(api: ApiBench, task_id: str) -> None:
    config = create(api, task_id)

    assert config == {"id": config["id"], "taskId": task_id, "url": HOOK}
    assert len(config["id"]) == 26


def test_a_config_with_an_id_keeps_it_and_the_tenant_is_named(api: ApiBench) -> None:
    task_id = api.send(tenant="acme")["id"]

    config = api.call("CreateTaskPushNotificationConfig", {"taskId": task_id, "url": HOOK, "id": "mine"}, tenant="acme")

    assert config == {"tenant": "acme", "id": "mine", "taskId": task_id, "url": HOOK}


def test_token_and_credentials_are_stored_sealed_and_bound_to_the_webhook(api: ApiBench, task_id: str) -> None:
    create(api, task_id, token="tok-1", authentication={"scheme": "Bearer", "credentials": "sek"})

    [webhook] = stored(api, task_id)
    assert "sek" not in webhook.sealed
    assert "tok-1" not in webhook.sealed
    assert Secrets.open(api.sealer, webhook) == Secrets("tok-1", "Bearer", "sek")


def test_a_webhook_without_secrets_asks_nothing_of_the_sealer(api: ApiBench, task_id: str) -> None:
    create(api, task_id)
    listed(api, task_id)

    assert not api.sealer.calls


def test_replacing_a_webhook_gives_it_a_new_key_and_a_snapshot(api: ApiBench, task_id: str) -> None:
    create(api, task_id, id="mine")
    [before] = stored(api, task_id)

    create(api, task_id, id="mine", url=OTHER)

    [after] = stored(api, task_id)
    assert after.key != before.key
    assert (after.url, after.snapshot_due) == (OTHER, True)


def test_a_webhook_may_be_registered_on_a_task_that_has_ended(api: ApiBench, task_id: str) -> None:
    api.put_status(api.ref(task_id), TaskState.COMPLETED)

    create(api, task_id)

    assert stored(api, task_id)[0].snapshot == 1


# ---- what is shown ----


def test_c12_credentials_and_tokens_are_never_given_back(api: ApiBench, task_id: str) -> None:
    made = create(api, task_id, id="c", token=WHSEC, authentication={"scheme": "Bearer", "credentials": "sek"})

    expected = {"id": "c", "taskId": task_id, "url": HOOK, "authentication": {"scheme": "Bearer"}}
    assert made == expected
    assert api.call("GetTaskPushNotificationConfig", {"taskId": task_id, "id": "c"}) == expected
    assert listed(api, task_id) == [expected]


def test_c12_nothing_secret_is_in_the_log(api: ApiBench, task_id: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    create(api, task_id, token="tok-1", authentication={"scheme": "Bearer", "credentials": "sek"})
    with pytest.raises(A2AError):
        create(api, task_id, token="tok-1 ", authentication={"scheme": "Bearer", "credentials": "sek"})

    assert "tok-1" not in caplog.text
    assert "sek" not in caplog.text


def test_c4_a_scheme_without_credentials_is_taken_as_it_is(api: ApiBench, task_id: str) -> None:
    create(api, task_id, authentication={"scheme": "Bearer"})

    [webhook] = stored(api, task_id)
    assert Secrets.open(api.sealer, webhook) == Secrets("", "Bearer", "")


def test_configs_are_listed_by_id_in_pages(api: ApiBench, task_id: str) -> None:
    for config_id in ("c", "a", "b"):
        create(api, task_id, id=config_id)

    first = api.call("ListTaskPushNotificationConfigs", {"taskId": task_id, "pageSize": 2})
    rest = api.call(
        "ListTaskPushNotificationConfigs",
        {"taskId": task_id, "pageSize": 2, "pageToken": first["nextPageToken"]},
    )

    assert [config["id"] for config in first["configs"]] == ["a", "b"]
    assert [config["id"] for config in rest["configs"]] == ["c"]
    assert "nextPageToken" not in rest


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_pages_of_any_size_lead_through_all_configs_with_tokens_fit_for_a_query(
    api: ApiBench, task_id: str, size: int
) -> None:
    for config_id in ("a", ":", "~", "{"):
        create(api, task_id, id=config_id)

    found, token = [], ""
    while True:
        page = api.call("ListTaskPushNotificationConfigs", {"taskId": task_id, "pageSize": size, "pageToken": token})
        found += [config["id"] for config in page["configs"]]
        token = page.get("nextPageToken", "")
        assert token.replace("-", "").replace("_", "").isalnum() or not token
        if not token:
            break

    assert found == [":", "a", "{", "~"]


def test_a_page_token_outlives_the_config_that_it_names(api: ApiBench, task_id: str) -> None:
    for config_id in ("a", "b", "c"):
        create(api, task_id, id=config_id)
    page = api.call("ListTaskPushNotificationConfigs", {"taskId": task_id, "pageSize": 2})
    api.call("DeleteTaskPushNotificationConfig", {"taskId": task_id, "id": "b"})

    assert [config["id"] for config in listed(api, task_id, pageToken=page["nextPageToken"])] == ["c"]


@pytest.mark.parametrize("token", ["x", "é", "bnVsbA==", "WzFd", "W1tdLFtdXQ=="])
def test_a_bad_page_token_is_refused(api: ApiBench, task_id: str, token: str) -> None:
    with pytest.raises(InvalidParamsError) as refused:
        listed(api, task_id, pageToken=token)

    assert refused.value.violations[0].field == "pageToken"


def test_a_page_token_of_another_task_is_refused(api: ApiBench, task_id: str) -> None:
    other = api.send(messageId="m2")["id"]
    for config_id in ("a", "b"):
        create(api, other, id=config_id)
    token = api.call("ListTaskPushNotificationConfigs", {"taskId": other, "pageSize": 1})["nextPageToken"]

    with pytest.raises(InvalidParamsError):
        listed(api, task_id, pageToken=token)


# ---- get and delete ----


def test_an_unknown_config_is_not_found(api: ApiBench, task_id: str) -> None:
    with pytest.raises(TaskNotFoundError) as refused:
        api.call("GetTaskPushNotificationConfig", {"taskId": task_id, "id": "nope"})

    assert refused.value.metadata == {"taskId": task_id, "id": "nope"}


def test_deleting_twice_is_deleting_once(api: ApiBench, task_id: str) -> None:
    create(api, task_id, id="c")

    for _ in range(2):
        assert api.call("DeleteTaskPushNotificationConfig", {"taskId": task_id, "id": "c"}) is None

    assert listed(api, task_id) == []


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("CreateTaskPushNotificationConfig", {"url": HOOK}),
        ("GetTaskPushNotificationConfig", {"id": "c"}),
        ("ListTaskPushNotificationConfigs", {}),
        ("DeleteTaskPushNotificationConfig", {"id": "c"}),
    ],
)
def test_each_operation_tells_an_unknown_task(api: ApiBench, name: str, params: dict[str, Any]) -> None:
    with pytest.raises(TaskNotFoundError):
        api.call(name, {"taskId": "nope", **params})


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("CreateTaskPushNotificationConfig", {"taskId": "t", "url": HOOK}),
        ("GetTaskPushNotificationConfig", {"taskId": "t", "id": "c"}),
        ("ListTaskPushNotificationConfigs", {"taskId": "t"}),
        ("DeleteTaskPushNotificationConfig", {"taskId": "t", "id": "c"}),
        (
            "SendMessage",
            {
                "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]},
                "configuration": {"taskPushNotificationConfig": {"url": HOOK}},
            },
        ),
    ],
)
def test_without_the_capability_each_operation_says_so(name: str, params: dict[str, Any]) -> None:
    api = ApiBench(limits=Limits(push_notifications=False))

    with pytest.raises(PushNotificationNotSupportedError):
        api.call(name, params)

    assert not api.world.items


# ---- what is refused ----


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"url": "not a url"}, "url"),
        ({"url": "ftp://hooks.example.com/x"}, "url"),
        ({"url": ""}, "url"),
        ({"url": "http://169.254.169.254/"}, "url"),
        ({"url": "http://127.0.0.1"}, "url"),
        ({"url": "https://[::ffff:10.0.0.1]/"}, "url"),
        ({"url": "https://100.64.0.1/"}, "url"),
        ({"url": "http://0x7f.1/"}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"url": "https://unknown.example.com/"}, "url"),
        ({"url": "https://hooks.example.com/" + "x" * 2048}, "url"),
        ({"token": "a\r\nX-Evil: 1"}, "token"),
        ({"token": "a b"}, "token"),
        ({"token": "é"}, "token"),
        ({"token": "x" * 4097}, "token"),
        ({"token": "whsec_!!!"}, "token"),
        ({"token": "whsec_" + base64.b64encode(b"k" * 23).decode()}, "token"),
        ({"token": "whsec_" + base64.b64encode(b"k" * 65).decode()}, "token"),
        ({"authentication": {"scheme": "Bearer", "credentials": "a\r\nX-Evil: 1"}}, "authentication.credentials"),
        ({"authentication": {"scheme": "Bearer", "credentials": "a\nb"}}, "authentication.credentials"),
        ({"authentication": {"scheme": "Bearer", "credentials": " a"}}, "authentication.credentials"),
        ({"authentication": {"scheme": "Bearer", "credentials": "x" * 4097}}, "authentication.credentials"),
        ({"authentication": {"scheme": "Bearer\r\nX-Evil: 1"}}, "authentication.scheme"),
        ({"authentication": {"scheme": ""}}, "authentication.scheme"),
        ({"id": "x" * 129}, "id"),
        ({"id": "a/b"}, "id"),
        ({"id": "a\nb"}, "id"),
    ],
)
@pytest.mark.parametrize("inline", [False, True])
def test_c5_c6_c20_a_config_that_must_not_be_is_refused_by_field_and_nothing_is_stored(
    api: ApiBench, config: dict[str, Any], field: str, inline: bool
) -> None:
    task_id = "" if inline else api.send()["id"]
    before = len(api.world.stream)

    def register() -> object:
        return send_inline(api, {"url": HOOK, **config}) if inline else create(api, task_id, **config)

    with pytest.raises(InvalidParamsError) as refused:
        register()

    assert refused.value.violations[0].field == (f"{INLINE}.{field}" if inline else field)
    assert len(api.world.stream) == before


def test_c6_a_host_with_one_private_address_is_refused(api: ApiBench, task_id: str) -> None:
    api.resolver.set("mixed.example.com", ["93.184.216.34", "10.0.0.1"])

    with pytest.raises(InvalidParamsError) as refused:
        create(api, task_id, url="https://mixed.example.com/")

    assert "10.0.0.1" not in refused.value.message


def test_an_allowed_receiver_passes_the_guard() -> None:
    api = ApiBench(allow="127.0.0.1:*")
    task_id = api.send()["id"]

    assert create(api, task_id, url="http://127.0.0.1:9000/webhook")["url"] == "http://127.0.0.1:9000/webhook"


@pytest.mark.parametrize("credentials", ['username="a", realm="b c"', "dXNlcjpwYXNz", "~!"])
def test_credentials_of_any_scheme_are_taken(api: ApiBench, task_id: str, credentials: str) -> None:
    create(api, task_id, authentication={"scheme": "Digest", "credentials": credentials})

    [webhook] = stored(api, task_id)
    assert api.sealer.open(webhook.sealed, webhook.place)


def test_c11_a_webhook_above_the_limit_is_refused_by_number_and_one_may_be_replaced(api: ApiBench) -> None:
    api = ApiBench(limits=Limits(webhooks_per_task=2))
    task_id = api.send()["id"]
    for config_id in ("a", "b"):
        create(api, task_id, id=config_id)

    with pytest.raises(InvalidParamsError, match="2 webhooks"):
        create(api, task_id, id="c")
    create(api, task_id, id="b", url=OTHER)

    assert [webhook.url for webhook in stored(api, task_id)] == [HOOK, OTHER]


# ---- inline ----


def test_b21_an_inline_config_is_listed_with_its_task(api: ApiBench) -> None:
    task_id = send_inline(api, {"url": HOOK})["id"]

    [config] = listed(api, task_id)
    assert (config["taskId"], config["url"]) == (task_id, HOOK)


def test_an_inline_webhook_is_made_in_the_transaction_of_its_task(api: ApiBench) -> None:
    task_id = send_inline(api, {"url": HOOK, "token": "t"})["id"]

    assert [change.sk.split("#")[0] for change in api.world.changes()] == ["TASK", "LOG", "PUSH"]
    assert api.webhooks.calls["put"] == 0
    assert stored(api, task_id)[0].cursor == 0


def test_an_inline_webhook_sent_again_unchanged_changes_nothing(api: ApiBench) -> None:
    config = {"url": HOOK, "token": "t", "authentication": {"scheme": "Bearer", "credentials": "sek"}}
    send_inline(api, config)
    before = len(api.world.stream)

    send_inline(api, config)

    assert len(api.world.stream) == before


def test_the_same_webhook_with_every_message_is_one_webhook(api: ApiBench) -> None:
    config = {"url": HOOK, "token": "t"}
    task_id = send_inline(api, config)["id"]
    api.put_status(api.ref(task_id), TaskState.INPUT_REQUIRED)

    send_inline(api, config, messageId="m2", taskId=task_id)

    assert len(stored(api, task_id)) == 1
    assert stored(api, task_id)[0].cursor == 0


@pytest.mark.parametrize(
    "changed", [{"url": OTHER}, {"token": "u"}, {"token": ""}], ids=["other url", "other token", "no token"]
)
def test_another_url_or_token_is_another_inline_webhook(api: ApiBench, changed: dict[str, str]) -> None:
    config = {"url": HOOK, "token": "t"}
    task_id = send_inline(api, config)["id"]

    send_inline(api, {**config, **changed})

    assert len(stored(api, task_id)) == 2


def test_other_credentials_replace_an_inline_webhook(api: ApiBench) -> None:
    config = {"url": HOOK, "authentication": {"scheme": "Bearer", "credentials": "one"}}
    task_id = send_inline(api, config)["id"]
    [before] = stored(api, task_id)

    send_inline(api, {**config, "authentication": {"scheme": "Bearer", "credentials": "two"}})

    [after] = stored(api, task_id)
    assert after.key != before.key


def test_a_new_inline_webhook_is_registered_by_a_repeated_send_and_by_a_follow_up(api: ApiBench) -> None:
    task_id = api.send()["id"]
    api.put_status(api.ref(task_id), TaskState.INPUT_REQUIRED)

    send_inline(api, {"url": HOOK, "id": "again"})
    send_inline(api, {"url": HOOK, "id": "follow"}, messageId="m2", taskId=task_id)

    again, follow = stored(api, task_id)
    assert (again.config_id, again.cursor) == ("again", 1)
    assert (follow.config_id, follow.cursor) == ("follow", 3)


def test_a_follow_up_that_is_refused_registers_nothing(api: ApiBench, task_id: str) -> None:
    api.put_status(api.ref(task_id), TaskState.COMPLETED)

    with pytest.raises(A2AError):
        send_inline(api, {"url": HOOK}, messageId="m2", taskId=task_id)

    assert stored(api, task_id) == []


def test_an_inline_config_that_names_another_task_is_refused(api: ApiBench) -> None:
    with pytest.raises(InvalidParamsError) as refused:
        send_inline(api, {"url": HOOK, "taskId": "another"})

    assert refused.value.violations[0].field == f"{INLINE}.taskId"


def test_a_follow_up_whose_webhook_has_no_room_is_not_taken(api: ApiBench) -> None:
    api = ApiBench(limits=Limits(webhooks_per_task=1))
    task_id = send_inline(api, {"url": HOOK})["id"]
    api.put_status(api.ref(task_id), TaskState.INPUT_REQUIRED)
    before = len(api.world.stream)

    with pytest.raises(InvalidParamsError, match="1 webhooks"):
        send_inline(api, {"url": OTHER}, messageId="m2", taskId=task_id)

    assert len(api.world.stream) == before


def test_c11_many_registrations_at_once_leave_no_more_than_the_limit(api: ApiBench) -> None:
    api = ApiBench(limits=Limits(webhooks_per_task=2))
    task_id = api.send()["id"]
    create(api, task_id, id="a")
    # Both have looked, and found room for one, before either writes.
    api.webhooks.after_next("list", lambda: create(api, task_id, id="b"))

    with pytest.raises(InvalidParamsError, match="2 webhooks"):
        create(api, task_id, id="c")

    assert [webhook.config_id for webhook in stored(api, task_id)] == ["a", "b"]


def test_a_webhook_that_was_replaced_by_another_is_not_taken_back_for_the_limit(api: ApiBench) -> None:
    api = ApiBench(limits=Limits(webhooks_per_task=1))
    task_id = api.send()["id"]
    api.webhooks.after_next("list", lambda: create(api, task_id, id="a", url=OTHER))

    create(api, task_id, id="a")

    assert [webhook.url for webhook in stored(api, task_id)] == [HOOK]


def test_an_inline_webhook_whose_secrets_cannot_be_opened_any_more_is_registered_anew(api: ApiBench) -> None:
    config = {"url": HOOK, "token": "t"}
    task_id = send_inline(api, config)["id"]
    [before] = stored(api, task_id)
    api.sealer.fail_next("open", ValueError("version v-1 of the sealing secret is gone"))

    send_inline(api, config)

    [after] = stored(api, task_id)
    assert after.key != before.key


def test_a_webhook_whose_secrets_cannot_be_opened_any_more_is_shown_all_the_same(api: ApiBench, task_id: str) -> None:
    create(api, task_id, id="a", token="t", authentication={"scheme": "Bearer", "credentials": "sek"})
    gone = ValueError("version v-1 of the sealing secret is gone")
    api.sealer.fail_next("open", gone, times=2)

    shown = {"id": "a", "taskId": task_id, "url": HOOK}
    assert listed(api, task_id) == [shown]
    assert api.call("GetTaskPushNotificationConfig", {"taskId": task_id, "id": "a"}) == shown


@pytest.mark.parametrize(
    "config_id", ["x" * 129, "é" * 400, "\x01", "a b"], ids=["long", "unicode", "control", "space"]
)
def test_an_id_that_no_webhook_can_have_never_gets_as_far_as_a_key(api: ApiBench, task_id: str, config_id: str) -> None:
    named = {"taskId": task_id, "id": config_id}
    before = dict(api.webhooks.calls)

    with pytest.raises(TaskNotFoundError, match="no webhook with this id"):
        api.call("GetTaskPushNotificationConfig", named)
    assert api.call("DeleteTaskPushNotificationConfig", named) is None

    assert dict(api.webhooks.calls) == before
