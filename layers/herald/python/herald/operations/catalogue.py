"""All operations of A2A 1.0 by name, as the bindings call them (specification section 5.3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from herald.operations.call import Call, Limits
from herald.operations.cancel_task import CancelTask
from herald.operations.follow_up import FollowUps
from herald.operations.get_extended_agent_card import ExtendedCard, GetExtendedAgentCard
from herald.operations.get_task import GetTask
from herald.operations.list_tasks import ListTasks
from herald.operations.new_task import NewTasks
from herald.operations.open_tasks import OpenTasks
from herald.operations.origins import Origins
from herald.operations.push_configs import (
    CreateTaskPushNotificationConfig,
    DeleteTaskPushNotificationConfig,
    GetTaskPushNotificationConfig,
    ListTaskPushNotificationConfigs,
)
from herald.operations.registration import CheckUrl, Registrar
from herald.operations.send_message import Reply, SendMessage
from herald.operations.unsupported import Unsupported
from herald.ports import Clock, Ids, Sealer, TaskIndex, TaskLog, Usage, Webhooks, WorkerLauncher
from herald.protocol import requests
from herald.protocol.protojson import Model

Run = Callable[[Call, Any], Awaitable[dict[str, Any] | None]]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation: what its request is parsed as (None: it isn't looked at), and what runs it."""

    request: type[Model] | None
    run: Run


Catalogue = Mapping[str, Operation]


@dataclass(frozen=True, slots=True)
class Ports:
    """What the operations need, chosen by bootstrap or by a test."""

    log: TaskLog
    index: TaskIndex
    webhooks: Webhooks
    launcher: WorkerLauncher
    sealer: Sealer
    clock: Clock
    ids: Ids
    check_url: CheckUrl
    usage: Usage
    reply: Reply | None = None
    extended_card: ExtendedCard | None = None


def catalogue(ports: Ports, limits: Limits) -> Catalogue:
    """Every operation of the specification; those that this agent doesn't offer say so."""
    log, webhooks, clock, ids = ports.log, ports.webhooks, ports.clock, ports.ids
    origins = Origins(ports.usage, clock, limits.origins_per_owner)
    registrar = Registrar(log, webhooks, ports.sealer, clock, ids, ports.check_url, origins, limits)
    push = (log, webhooks, registrar, limits)
    no_streams = "This agent doesn't stream: send with returnImmediately and a webhook, or poll with GetTask."
    open_tasks = OpenTasks(ports.usage, clock, limits.open_tasks_per_owner)
    new_tasks, follow_ups = NewTasks(log, registrar, open_tasks, clock, ids, limits), FollowUps(log, clock, ids)
    send = SendMessage(log, registrar, new_tasks, follow_ups, clock, ids, limits, ports.reply)
    return {
        "SendMessage": Operation(requests.SendMessageRequest, send),
        "SendStreamingMessage": Operation(None, Unsupported(no_streams)),
        "GetTask": Operation(requests.GetTaskRequest, GetTask(log)),
        "ListTasks": Operation(requests.ListTasksRequest, ListTasks(log, ports.index, ports.sealer)),
        "CancelTask": Operation(requests.CancelTaskRequest, CancelTask(log, ports.launcher, clock, ids)),
        "SubscribeToTask": Operation(None, Unsupported(no_streams)),
        "CreateTaskPushNotificationConfig": Operation(
            requests.CreateTaskPushNotificationConfigRequest, CreateTaskPushNotificationConfig(*push)
        ),
        "GetTaskPushNotificationConfig": Operation(
            requests.GetTaskPushNotificationConfigRequest, GetTaskPushNotificationConfig(*push)
        ),
        "ListTaskPushNotificationConfigs": Operation(
            requests.ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigs(*push)
        ),
        "DeleteTaskPushNotificationConfig": Operation(
            requests.DeleteTaskPushNotificationConfigRequest, DeleteTaskPushNotificationConfig(*push)
        ),
        "GetExtendedAgentCard": Operation(
            requests.GetExtendedAgentCardRequest,
            GetExtendedAgentCard(limits.extended_agent_card, ports.extended_card),
        ),
    }
