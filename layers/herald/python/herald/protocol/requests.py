"""The requests of the A2A operations, and the responses that are lists (sections 3.1 and 4.3, a2a.proto)."""

from typing import Annotated, Any, Self

from pydantic import Field

from herald.protocol.errors import FieldViolation, InvalidParamsError
from herald.protocol.media_types import essence
from herald.protocol.model import Message, Role, State, Task, TaskPushNotificationConfig
from herald.protocol.protojson import FilledText, Flag, Int32, Many, Model, MomentRoundedUp, Struct, Text

MAX_PAGE = 100
MAX_FAULTS = 10  # of one kind that are told at once

HistoryLength = Annotated[Int32, Field(ge=0)]


class SendMessageConfiguration(Model):
    """How a client wants its answer. ``history_length`` None means all of the history."""

    accepted_output_modes: Many[Text] = Field(default_factory=list)
    task_push_notification_config: TaskPushNotificationConfig | None = None
    history_length: HistoryLength | None = None
    return_immediately: Flag = False


class SendMessageRequest(Model):
    """SendMessage and SendStreamingMessage."""

    tenant: Text = ""
    message: Message
    configuration: SendMessageConfiguration | None = None
    metadata: Struct | None = None

    @classmethod
    def parse(cls, obj: Any, at: str = "") -> Self:
        """As ``Model.parse``, and with the rules for a message from a client (section 4.1.4).

        Its role is ROLE_USER; a contextId or taskId that it names isn't empty; the media types of its parts are such.
        """
        request = super().parse(obj, at)
        path = f"{at}.message" if at else "message"
        wrong = [FieldViolation(f"{path}.{field}", description) for field, description in _faults(request.message)]
        if wrong:
            raise InvalidParamsError("; ".join(f"{each.field}: {each.description}" for each in wrong), violations=wrong)
        return request


def _faults(message: Message) -> list[tuple[str, str]]:
    faults = []
    if message.role is not Role.USER:
        faults.append(("role", "must be ROLE_USER in a message from a client"))
    faults += [
        (name, "must not be empty; leave it out to let the agent choose")
        for attribute, name in (("context_id", "contextId"), ("task_id", "taskId"))
        if attribute in message.model_fields_set and not getattr(message, attribute)
    ]
    faults += [
        (f"parts[{number}].mediaType", "must be a media type like text/plain or image/png")
        for number, part in enumerate(message.parts)
        if part.media_type and essence(part.media_type) is None
    ][:MAX_FAULTS]
    return faults


class GetTaskRequest(Model):
    """GetTask. ``history_length`` None means all of the history."""

    tenant: Text = ""
    id: FilledText
    history_length: HistoryLength | None = None


class ListTasksRequest(Model):
    """ListTasks. ``status_timestamp_after`` is in milliseconds since 1970, rounded up."""

    tenant: Text = ""
    context_id: Text = ""
    status: State | None = None
    page_size: Annotated[Int32, Field(ge=1, le=MAX_PAGE)] | None = None
    page_token: Text = ""
    history_length: HistoryLength | None = None
    status_timestamp_after: MomentRoundedUp | None = None
    include_artifacts: Flag | None = None


class ListTasksResponse(Model):
    """A page of tasks. All four fields are always written; ``next_page_token`` is empty on the last page."""

    tasks: Many[Task]
    next_page_token: Text
    page_size: Int32
    total_size: Int32


class CancelTaskRequest(Model):
    """CancelTask."""

    tenant: Text = ""
    id: FilledText
    metadata: Struct | None = None


class SubscribeToTaskRequest(Model):
    """SubscribeToTask."""

    tenant: Text = ""
    id: FilledText


class CreateTaskPushNotificationConfigRequest(TaskPushNotificationConfig):
    """CreateTaskPushNotificationConfig: the config itself, which names its task."""

    task_id: FilledText


class GetTaskPushNotificationConfigRequest(Model):
    """GetTaskPushNotificationConfig."""

    tenant: Text = ""
    task_id: FilledText
    id: FilledText


class ListTaskPushNotificationConfigsRequest(Model):
    """ListTaskPushNotificationConfigs. A ``page_size`` of 0 leaves it to the agent."""

    tenant: Text = ""
    task_id: FilledText
    page_size: Annotated[Int32, Field(ge=0)] = 0
    page_token: Text = ""


class ListTaskPushNotificationConfigsResponse(Model):
    """A page of push notification configs; ``next_page_token`` is empty on the last page."""

    configs: Many[TaskPushNotificationConfig] = Field(default_factory=list)
    next_page_token: Text = ""


class DeleteTaskPushNotificationConfigRequest(Model):
    """DeleteTaskPushNotificationConfig."""

    tenant: Text = ""
    task_id: FilledText
    id: FilledText


class GetExtendedAgentCardRequest(Model):
    """GetExtendedAgentCard."""

    tenant: Text = ""


def task_named_by(request: Model) -> str:
    """The task that a request is about; "" for one about all of a tenant."""
    if isinstance(request, SendMessageRequest):
        return request.message.task_id or ""
    if isinstance(request, GetTaskRequest | CancelTaskRequest | SubscribeToTaskRequest):
        return request.id
    return str(getattr(request, "task_id", ""))
